"""Evaluation on many machines: Ray's actors hold the models and take batches in turn."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dga.data.image_sets import ImageFiles
from dga.evaluation.plan import ResolvedPlan, choose_images
from dga.evaluation.results_file import ResultRow, ResultsFile, find_differences
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
    """Loads the models when it is first asked, so that errors of loading are its answer.

    ``expected``: the setup of the first worker, which every other one must have, too.
    """

    def __init__(self, recipe: Recipe, expected: Setup | None = None) -> None:
        self.recipe, self.expected = recipe, expected

    @cached_property
    def loaded(self) -> LoadedSystems:
        """Models and systems. Raises ``ValueError`` for other weights or packages than expected."""
        models = self.recipe.load()
        systems = predictors_of(models, parse_all(models.profile, self.recipe.methods))
        loaded = LoadedSystems(models, systems, self.recipe.resolved.plan)
        if self.expected is not None:
            first, here = (
                {**asdict(setup), "methods": dict(setup.settings)}
                for setup in (self.expected, loaded.setup)
            )
            if changes := find_differences(first, here):
                raise ValueError(
                    f"The worker on {socket.gethostname()} differs from the first one "
                    f"({changes[0]})."
                )
        return loaded

    def inspect(self) -> tuple[Setup, str]:
        """What results depend on, and how long a picture takes."""
        return self.loaded.setup, describe_wait(self.loaded.models)

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
        config = describe(recipe.resolved.original, setup, len(images), command)
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
    """Actors, each on a GPU or, without any, on a CPU; Ray replaces one that is lost."""

    def __init__(self, ray: Any, cluster: Cluster, recipe: Recipe) -> None:
        self.ray, self.patience, self.alive_at = ray, cluster.patience, time.monotonic()
        resources = ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
        if cpus < 1:
            raise ClusterError("The cluster has no CPU for a worker: ray start --address=HEAD:6379")
        self.count = min(cluster.workers or cpus, gpus or cpus, cpus)
        self.need = "GPU" if gpus else "CPU"
        actor = ray.remote(
            num_cpus=1, num_gpus=min(1, gpus), max_restarts=-1, max_task_retries=cluster.tries - 1
        )(Worker)
        self.first = actor.remote(recipe)
        answer = self.first.inspect.remote()
        while not self.wait([answer]):
            pass
        self.setup, notice = self.get(answer)
        self.start = lambda: actor.remote(recipe, self.setup)
        if notice:
            tqdm.write(notice, file=sys.stderr)

    def run(
        self, tasks: Mapping[int, Round], images: ImageFiles
    ) -> Iterator[tuple[int, list[ResultRow], list[str]]]:
        """Number, lines and unreadable pictures of each task, in any order."""
        # Streams whose order matters take longest.
        waiting = deque(sorted(tasks, key=lambda number: not tasks[number].ordered))
        shared = self.ray.put(images)
        running: dict[Any, tuple[Any, int]] = {}

        def assign(worker: Any) -> None:
            number = waiting.popleft()
            running[worker.measure.remote(tasks[number], shared)] = worker, number

        count = min(self.count, len(tasks))
        for worker in [self.first, *(self.start() for _ in range(1, count))][:count]:
            assign(worker)
        while running:
            for answer in self.wait(list(running)):
                worker, number = running.pop(answer)
                yield number, *self.get(answer)
                if waiting:
                    assign(worker)
                else:
                    self.ray.kill(worker)  # leaves its place to one that was lost

    def wait(self, answers: Sequence[Any]) -> list[Any]:
        """Those that are there within a moment.

        Raises :class:`ClusterError` once no machine could hold a worker for too long.
        """
        ready: list[Any] = self.ray.wait(list(answers), timeout=POLL_SECONDS)[0]
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        if ready or any(resources.get(self.need, 0) >= 1 for resources in nodes):
            self.alive_at = time.monotonic()
        elif time.monotonic() - self.alive_at > self.patience:
            raise ClusterError("The cluster has lost all its workers.")
        return ready

    def get(self, answer: Any) -> Any:
        """A worker's answer, or its own error; :class:`ClusterError` where the worker is lost."""
        try:
            return self.ray.get(answer)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self.ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1].strip()
            raise ClusterError(f"A worker was lost: {last.rstrip('.')}.") from error


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
    try:
        _reach(cluster.address)
        ray.init(cluster.address or "local", log_to_driver=False, logging_level="error")
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"The Ray cluster at {cluster.address} cannot be joined ({error}). On its first "
            "machine runs ray start --head --port=6379; it takes the same Ray, the same Python and "
            "its token (dga/evaluation/README.md, Many machines)."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str | None) -> None:
    """Raise ``OSError`` at once where nothing answers; Ray itself tries for 20 minutes."""
    host, _, port = (address or "").rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10.0).close()
