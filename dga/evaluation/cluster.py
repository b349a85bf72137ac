"""Evaluation on many machines: pictures stream through Ray Data to workers with the models."""

from __future__ import annotations

import logging
import os
import pickle
import queue
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet
from dga.evaluation.plan import Plan, ResolvedPlan, choose_images, read_batch
from dga.evaluation.results_file import ResultRow, ResultsFile, differences
from dga.evaluation.run import (
    LoadedSystems,
    Results,
    Round,
    Setup,
    describe,
    finished,
    forget_replaced,
    pending_rounds,
)
from dga.networks.models import Models
from dga.readers import predictors_of
from dga.speed.pace import slow_pace, warning
from dga.systems import parse_all
from dga.weights.checkpoints import WeightsError

READER_CPUS = 0.25
"""Fractions: workers that held every CPU would starve the readers, and wait for them for ever."""
WORKER_CPUS = 0.75
"""So much that no two of them share a CPU."""
BLOCKS = 20_000
"""Pieces that Ray Data deals out; below this number every batch is one."""
POLL_SECONDS = 1.0
REACH_SECONDS = 10.0
SENTENCES = (ValueError, FloatingPointError, MemoryError, OSError, WeightsError)
"""Errors whose message is meant for people."""


class ClusterError(ConnectionError):
    """The cluster cannot do the work (any more); the message says how to go on."""


@dataclass(frozen=True)
class Cluster:
    """Where to run: ``address`` of a running Ray cluster, or this machine alone.

    ``workers``: how many hold the models; default: one a GPU or, without any, one a CPU.
    ``patience``: seconds to wait for a machine when none is left; ``tries``: how often one
    batch may lose its worker before the run stops. A machine that falls silent uses up
    several, until the cluster knows that it is gone.
    """

    address: str | None = None
    workers: int | None = None
    patience: float = 120.0
    tries: int = 10

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise ValueError("A cluster needs at least one worker.")


@dataclass(frozen=True)
class Recipe:
    """What every worker makes for itself: models, by calling ``load``, and named methods."""

    load: Callable[[], Models]
    methods: tuple[str, ...]
    resolved: ResolvedPlan

    def load_systems(self) -> LoadedSystems:
        """Load the models and open the systems."""
        models = self.load()
        chosen = parse_all(models.profile, self.methods)
        return LoadedSystems(models, predictors_of(models, chosen), self.resolved.plan)


@dataclass(frozen=True)
class Task:
    """A piece of work: one batch, or all batches of a stream whose order matters.

    ``part``: the pictures, already read and corrupted unless it is a stream.
    """

    number: int
    round: Round
    part: ImageSet | None = None
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """What a worker hands back."""

    number: int
    lines: list[ResultRow]
    unreadable: list[str]


def make_tasks(rounds: Sequence[Round]) -> list[Task]:
    """Pieces of work, numbered in the order of a single machine; streams come first."""
    tasks: list[Task] = []
    for part in rounds:
        pieces = [part.rows] if part.ordered else part.batches()
        for rows in pieces:
            tasks.append(Task(len(tasks), replace(part, rows=tuple(rows))))
    return sorted(tasks, key=lambda task: not task.round.ordered)


def read_task(
    row: Mapping[str, bytes], images: ImageFiles, plan: Plan, view: View
) -> dict[str, bytes]:
    """A reader's work: decode and corrupt a batch. A stream is left to its worker."""
    task: Task = pickle.loads(row["task"])
    if not task.round.ordered:
        chosen = images.take(task.round.rows)
        part, unreadable = read_batch(plan, view, chosen, task.round.stream)
        task = Task(task.number, task.round, part, tuple(unreadable))
    return {"task": pickle.dumps(task)}


class Worker:
    """Holds the models and measures one task after the other."""

    def __init__(self, recipe: Recipe, images: ImageFiles, expected: Setup) -> None:
        """Load everything once. Other weights or packages than expected fail every task."""
        self.loaded, self.images = recipe.load_systems(), images
        setups = expected, self.loaded.setup
        found = differences(*({**asdict(s), "methods": dict(s.settings)} for s in setups))
        where = os.uname().nodename
        self.problem = found and f"The worker on {where} differs from the first one ({found[0]})."

    def __call__(self, row: Mapping[str, bytes]) -> dict[str, bytes]:
        """One task's lines. Raises ``ValueError`` on a machine that is not like the others."""
        if self.problem:
            raise ValueError(self.problem)
        task: Task = pickle.loads(row["task"])
        done, part = Done(task.number, [], list(task.unreadable)), task.round
        if task.part is not None:
            self.loaded.reset(part.methods)
            done.lines.extend(self.loaded.judge(part.methods, task.part, part.stream))
        else:
            for lines, unreadable in self.loaded.measure(part, self.images):
                done.lines.extend(lines)
                done.unreadable.extend(unreadable)
        return {"done": pickle.dumps(done)}


def evaluate_on_cluster(
    recipe: Recipe,
    out: Path,
    batch: int = 16,
    resume: bool = False,
    command: str = "",
    cluster: Cluster = Cluster(),
) -> Results:
    """:func:`dga.evaluation.evaluate` on a Ray cluster: the same lines but for the seconds.

    Every batch's lines are a shard in ``out`` as soon as they are there; shards are merged
    at the end, or when the run stops. Pictures are read from the same paths on every
    machine. Raises ``ValueError`` without Ray or for an output folder with other results,
    and :class:`ClusterError` if no worker is left.
    """
    ray = import_ray()
    with _connected(ray, cluster):
        pool = WorkerPool.of(ray, cluster)
        plan = recipe.resolved.plan
        setup, notice = pool.inspect(recipe)
        if notice:
            tqdm.write(notice, file=sys.stderr)
        images = choose_images(recipe.resolved, setup.profile)
        results_file = ResultsFile(
            out, describe(recipe.resolved.asked, setup, len(images), command), resume
        )
        forget_replaced(plan, images, results_file)
        tasks = make_tasks(pending_rounds(plan, setup, images, results_file, batch))
        results = pool.results(tasks, images, recipe, setup) if tasks else ()
        skipped = _collect(results, tasks, results_file, command)
    return finished(results_file, skipped)


def import_ray() -> Any:
    """The package. Raises ``ValueError`` with the command that installs it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A thread that outlives a lost cluster must not start one of its own.
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ValueError(
            "--engine ray needs Ray, which is not installed here: "
            "pip install -r requirements-cluster.txt"
        ) from error
    return ray


def check_reachable(address: str | None) -> None:
    """Raise :class:`ClusterError` if nothing answers there; Ray itself tries for 20 minutes.

    ``address``: ``HOST:PORT``; anything else is left to Ray.
    """
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"No Ray cluster answers at {address} ({error}). On the first machine run: "
            "ray start --head --port=6379"
        ) from error


@contextmanager
def _connected(ray: Any, cluster: Cluster) -> Iterator[None]:
    check_reachable(cluster.address)
    try:
        ray.init(
            address=cluster.address or "local",
            include_dashboard=None if cluster.address else False,
            log_to_driver=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"The Ray cluster at {cluster.address} cannot be joined ({error}). It takes the same "
            "Ray, the same Python and its token (dga/evaluation/README.md, Many machines)."
        ) from error
    # How often a task is tried again has no other name in the versions that are asked for.
    warnings.filterwarnings("ignore", message=".*ray_remote_args.* is deprecated")
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()


@dataclass
class WorkerPool:
    """The cluster as seen from the command that gives out the work.

    ``gpus``: of one worker, 0 or 1; ``workers``: how many there can be.
    """

    ray: Any
    cluster: Cluster
    gpus: int
    workers: int
    idle_since: float | None = None

    @classmethod
    def of(cls, ray: Any, cluster: Cluster) -> WorkerPool:
        """Count what there is. Raises :class:`ClusterError` if it cannot hold one worker."""
        there = ray.cluster_resources()
        cpus, gpus = there.get("CPU", 0.0), int(there.get("GPU", 0))
        if cpus < WORKER_CPUS + READER_CPUS:
            raise ClusterError(
                f"The cluster has {cpus:g} CPUs, too few for a worker and a reader. Add "
                "machines (ray start --address=HEAD:6379) and run the command again."
            )
        count = cluster.workers or gpus or int(cpus)
        most = int((cpus - READER_CPUS) / WORKER_CPUS)
        return cls(ray, cluster, min(1, gpus), min(count, gpus or count, most))

    @property
    def share(self) -> dict[str, float]:
        """What one worker takes of a machine."""
        return {"num_cpus": WORKER_CPUS, "num_gpus": self.gpus}

    def inspect(self, recipe: Recipe) -> tuple[Setup, str]:
        """What a worker of this cluster finds: profile, precision, weights, packages.

        With a sentence on how long a picture will take, where that is long.
        """
        ask = self.ray.remote(**self.share, max_retries=self.cluster.tries - 1)(_inspect).remote(
            recipe
        )
        while not self.ray.wait([ask], timeout=POLL_SECONDS)[0]:
            self.check_alive()
        try:
            found: tuple[Setup, str] = self.ray.get(ask)
        except self.ray.exceptions.RayError as error:
            raise _reason(error) from error
        return found

    def results(
        self, tasks: Sequence[Task], images: ImageFiles, recipe: Recipe, setup: Setup
    ) -> Iterator[Done]:
        """Tasks as they are done, in any order. Raises :class:`ClusterError` if all is lost."""
        rows: queue.Queue[Any] = queue.Queue()

        def pull() -> None:
            """Runs beside the main thread, which watches over the cluster meanwhile."""
            try:
                for row in self._dataset(tasks, images, recipe, setup).iter_rows():
                    rows.put(row)
                rows.put(None)
            except BaseException as error:
                rows.put(error)

        threading.Thread(target=pull, daemon=True).start()
        while True:
            try:
                item = rows.get(timeout=POLL_SECONDS)
            except queue.Empty:
                self.check_alive()
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise _reason(item) from item
            self.idle_since = None
            yield pickle.loads(item["done"])

    def _dataset(
        self, tasks: Sequence[Task], images: ImageFiles, recipe: Recipe, setup: Setup
    ) -> Any:
        data, plan = self.ray.data, recipe.resolved.plan
        items = [{"task": pickle.dumps(task)} for task in tasks]
        view = View.of(setup.profile, plan.frame)
        read = partial(read_task, images=images, plan=plan, view=view)
        return (
            data.from_items(items, override_num_blocks=min(len(items), BLOCKS))
            .map(read, num_cpus=READER_CPUS)
            .map(
                Worker,
                fn_constructor_args=(recipe, images, setup),
                compute=data.ActorPoolStrategy(
                    min_size=1,
                    max_size=self.workers,
                    initial_size=self.workers,
                    max_tasks_in_flight_per_actor=2,
                ),
                max_task_retries=self.cluster.tries - 1,
                **self.share,
            )
        )

    def check_alive(self) -> None:
        """Raise :class:`ClusterError` once no machine could hold a worker for too long."""
        need = "GPU" if self.gpus else "CPU"
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        if any(node["Resources"].get(need, 0) >= (self.gpus or WORKER_CPUS) for node in nodes):
            self.idle_since = None
            return
        self.idle_since = self.idle_since or time.monotonic()
        if time.monotonic() - self.idle_since > self.cluster.patience:
            raise ClusterError("The cluster has lost all its workers.")


def _inspect(recipe: Recipe) -> tuple[Setup, str]:
    loaded = recipe.load_systems()
    pace = slow_pace(loaded.models)
    return loaded.setup, warning(loaded.models, pace) if pace else ""


def _collect(
    results: Iterable[Done], tasks: Sequence[Task], results_file: ResultsFile, command: str
) -> list[str]:
    """Keep every result as a shard; merge them whatever happens. Returns unreadable names."""
    skipped, left = list[str](), {task.number: len(task.round.rows) for task in tasks}
    try:
        with tqdm(total=sum(left.values()), unit="image", mininterval=1.0) as bar:
            for done in results:
                if done.number not in left:
                    continue  # a worker that was given up for lost did it too
                results_file.add_shard(done.number, done.lines)
                skipped += done.unreadable
                bar.update(left.pop(done.number))
    except ClusterError as error:
        again = command if "--resume" in command.split() else f"{command} --resume"
        raise ClusterError(
            f"{error} {len(tasks) - len(left)} of {len(tasks)} pieces are finished and kept in "
            f"{results_file.path.parent}. Start workers again and go on with: {again}"
        ) from error
    finally:
        results_file.merge()
    return skipped


def _reason(error: BaseException) -> Exception:
    """What really went wrong: a worker's own sentence, or a cluster's failure."""
    seen: BaseException | None = error
    while seen is not None:
        for cause in (seen, getattr(seen, "cause", None)):
            if isinstance(cause, SENTENCES) and not isinstance(cause, ConnectionError):
                return cause
        seen = seen.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = lines[-1] if lines else type(error).__name__
    return ClusterError(f"A worker was lost: {last.rstrip('.')}.")
