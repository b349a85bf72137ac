"""Evaluation on many machines: Ray's actors hold the models and take batches in turn."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dga.data.image_sets import ImageFiles
from dga.evaluation.plan import ResolvedPlan, choose_images
from dga.evaluation.results_file import ResultRow, ResultsFile, differences
from dga.evaluation.run import (
    LoadedSystems,
    Results,
    Round,
    Setup,
    describe,
    finish,
    forget_replaced,
    pending_rounds,
)
from dga.networks.models import Models
from dga.readers import predictors_of
from dga.speed.pace import describe_wait
from dga.systems import parse_all

POLL_SECONDS = 1.0
REACH_SECONDS = 10.0


class ClusterError(ConnectionError):
    """The cluster cannot do the work (any more); the message says how to go on."""


@dataclass(frozen=True)
class Cluster:
    """``address`` of a running Ray cluster, or this machine alone; ``workers`` hold the models.

    ``patience``: seconds to wait for a machine when none is left; ``tries``: how often one
    batch may lose its worker before the run stops.
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


class Worker:
    """Loads the models when it is first asked, so that errors of loading are its answer."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    @cached_property
    def loaded(self) -> LoadedSystems:
        """Models and systems."""
        models = self.recipe.load()
        systems = predictors_of(models, parse_all(models.profile, self.recipe.methods))
        return LoadedSystems(models, systems, self.recipe.resolved.plan)

    def inspect(self) -> tuple[str, Setup, str]:
        """The machine's name, what results depend on, and how long a picture takes."""
        return socket.gethostname(), self.loaded.setup, describe_wait(self.loaded.models)

    def measure(self, task: Round, images: ImageFiles) -> tuple[list[ResultRow], list[str]]:
        """Lines and unreadable pictures of one batch, or of a stream whose order matters."""
        batches = list(self.loaded.measure(task, images))
        lines = [line for batch, _ in batches for line in batch]
        return lines, [name for _, names in batches for name in names]


def make_tasks(rounds: Sequence[Round]) -> dict[int, Round]:
    """Pieces of work by number, in the order of a single machine."""
    tasks: list[Round] = []
    for part in rounds:
        pieces = [part.rows] if part.ordered else part.batches()
        tasks += [replace(part, rows=tuple(rows)) for rows in pieces]
    return dict(enumerate(tasks))


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
    at the end, or when the run stops. Raises ``ValueError`` without Ray or for an output
    folder with other results, and :class:`ClusterError` if no worker is left.
    """
    plan, unreadable = recipe.resolved.plan, list[str]()
    with connect(cluster) as ray:
        workers = Workers(ray, cluster, recipe)
        setup = workers.setup
        images = choose_images(recipe.resolved, setup.profile)
        config = describe(recipe.resolved.asked, setup, len(images), command)
        results = ResultsFile(out, config, resume)
        forget_replaced(plan, images, results)
        tasks = make_tasks(pending_rounds(plan, setup, images, results, batch))
        total = sum(len(task.rows) for task in tasks.values())
        try:
            with tqdm(total=total, unit="image", mininterval=1.0) as bar:
                for number, lines, names in workers.run(tasks, images):
                    results.add_shard(number, lines)
                    unreadable += names
                    bar.update(len(tasks[number].rows))
        except ClusterError as error:
            again = command if "--resume" in command.split() else f"{command} --resume"
            raise ClusterError(
                f"{error} What is finished is kept in {out}. Start workers again and go on "
                f"with: {again}"
            ) from error
        finally:
            results.merge()
    return finish(results, unreadable)


class Workers:
    """Actors, each on a GPU or, without any, on a CPU; one that is lost is replaced."""

    def __init__(self, ray: Any, cluster: Cluster, recipe: Recipe) -> None:
        self.ray, self.cluster, self.alive_at = ray, cluster, time.monotonic()
        resources = ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
        if cpus < 1:
            raise ClusterError("The cluster has no CPU for a worker: ray start --address=HEAD:6379")
        self.count = min(cluster.workers or cpus, gpus or cpus, cpus)
        self.need = "GPU" if gpus else "CPU"
        actor = ray.remote(num_cpus=1, num_gpus=min(1, gpus))(Worker)
        self.start = lambda: actor.remote(recipe)
        self.first = self.start()
        answer = self.first.inspect.remote()
        while not ray.wait([answer], timeout=POLL_SECONDS)[0]:
            self.check_alive()
        _, self.setup, notice = self.get(answer)
        if notice:
            tqdm.write(notice, file=sys.stderr)

    def run(
        self, tasks: Mapping[int, Round], images: ImageFiles
    ) -> Iterator[tuple[int, list[ResultRow], list[str]]]:
        """Number, lines and unreadable pictures of each task, in any order."""
        # Streams whose order matters take longest.
        waiting = deque(sorted(tasks, key=lambda number: not tasks[number].ordered))
        shared = self.ray.put(images)
        losses, missing = Counter[int | None](), len(tasks)
        count = min(self.count, len(tasks))
        workers = [self.first, *(self.start() for _ in range(1, count))]
        running: dict[Any, tuple[Any, int | None]] = {
            worker.inspect.remote(): (worker, None) for worker in workers
        }
        while missing:
            answers, _ = self.ray.wait(list(running), timeout=POLL_SECONDS)
            if not answers:
                self.check_alive()
            for answer in answers:
                worker, number = running.pop(answer)
                try:
                    result = self.get(answer)
                except ClusterError:
                    losses[number] += 1
                    if losses[number] >= self.cluster.tries:
                        raise
                    if number is not None:
                        waiting.appendleft(number)
                    worker = self.start()
                    running[worker.inspect.remote()] = worker, None
                    continue
                if number is None:
                    self.compare(*result[:2])
                else:
                    missing -= 1
                    yield number, *result
                if waiting:
                    number = waiting.popleft()
                    running[worker.measure.remote(tasks[number], shared)] = worker, number

    def compare(self, host: str, setup: Setup) -> None:
        """Raise ``ValueError`` for a worker with other weights or packages than the first."""
        expected, there = (
            {**asdict(one), "methods": dict(one.settings)} for one in (self.setup, setup)
        )
        if changes := differences(expected, there):
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")

    def get(self, answer: Any) -> Any:
        """A worker's answer, or its own error; :class:`ClusterError` where the worker is lost."""
        try:
            return self.ray.get(answer)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self.ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1].strip()
            raise ClusterError(f"A worker was lost: {last.rstrip('.')}.") from error

    def check_alive(self) -> None:
        """Raise :class:`ClusterError` once no machine could hold a worker for too long."""
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        if any(resources.get(self.need, 0) >= 1 for resources in nodes):
            self.alive_at = time.monotonic()
        elif time.monotonic() - self.alive_at > self.cluster.patience:
            raise ClusterError("The cluster has lost all its workers.")


def check_reachable(address: str | None) -> None:
    """Raise :class:`ClusterError` if nothing answers there; Ray itself tries for 20 minutes."""
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
def connect(cluster: Cluster) -> Iterator[Any]:
    """Ray, connected. Raises ``ValueError`` where it is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    try:
        import ray
    except ImportError as error:
        raise ValueError(
            "--engine ray needs Ray, which is not installed here: "
            "pip install -r requirements-cluster.txt"
        ) from error
    check_reachable(cluster.address)
    try:
        ray.init(cluster.address or "local", log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"The Ray cluster at {cluster.address} cannot be joined ({error}). It takes the same "
            "Ray, the same Python and its token (dga/evaluation/README.md, Many machines)."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()
