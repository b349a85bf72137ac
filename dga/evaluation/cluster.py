"""Evaluation on many machines: Ray's actors hold the models and take batches in turn."""

from __future__ import annotations

import os
import socket
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
from dga.evaluation.plan import Plan
from dga.evaluation.results_file import ResultRow, find_differences
from dga.evaluation.run import LoadedSystems, Results, Round, Setup, finish, prepare
from dga.networks.models import Models
from dga.readers import predictors_of
from dga.systems import parse_all

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 120.0
"""Waited for a machine when none is left."""
TRIES = 10
"""How often one batch may lose its worker before the run stops."""


class ClusterError(ConnectionError):
    """The cluster cannot do the work (any more); the message says how to go on."""


@dataclass(frozen=True)
class Recipe:
    """What every worker makes for itself: models, by calling ``load``, and named methods."""

    load: Callable[[], Models]
    methods: tuple[str, ...]
    plan: Plan


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
        loaded = LoadedSystems(models, systems, self.recipe.plan)
        first, here = (
            {**asdict(setup), "methods": dict(setup.settings)}
            for setup in (self.expected or loaded.setup, loaded.setup)
        )
        if changes := find_differences(first, here):
            host = socket.gethostname()
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")
        return loaded

    def inspect(self) -> Setup:
        """What results depend on."""
        return self.loaded.setup

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
    address: str | None = None,
    workers: int | None = None,
) -> Results:
    """:func:`dga.evaluation.evaluate` on a Ray cluster: the same lines but for the seconds.

    ``address``: of a running cluster, else this machine alone; ``workers``: how many hold the
    models, by default one a GPU or, without any, one a CPU. Every batch's lines are a shard in
    ``out`` as soon as they are there; shards are merged at the end, or when the run stops. Raises
    ``ValueError`` without Ray or for an output folder with other results, and
    :class:`ClusterError` if no worker is left.
    """
    if workers is not None and workers < 1:
        raise ValueError("A cluster needs at least one worker.")
    unreadable = list[str]()
    with connect(address) as ray:
        team = Workers(ray, workers, recipe)
        images, results_file, rounds = prepare(recipe.plan, team.setup, out, batch, resume, command)
        tasks = make_tasks(rounds)
        total = sum(len(task.rows) for task in tasks.values())
        try:
            with tqdm(total=total, unit="image", mininterval=1.0) as bar:
                for number, lines, names in team.run(tasks, images):
                    results_file.add_shard(number, lines)
                    unreadable += names
                    bar.update(len(tasks[number].rows))
        except ClusterError as error:
            again = command if "--resume" in command.split() else f"{command} --resume"
            raise ClusterError(
                f"{error} What is finished is kept in {out}. Start workers again and go on "
                f"with: {again}"
            ) from error
        finally:
            results_file.merge()
    return finish(results_file, unreadable)


class Workers:
    """Actors, each on a GPU or, without any, on a CPU; Ray replaces one that is lost."""

    def __init__(self, ray: Any, most: int | None, recipe: Recipe) -> None:
        self.ray, self.alive_at = ray, time.monotonic()
        resources = ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
        if cpus < 1:
            raise ClusterError("The cluster has no CPU for a worker: ray start --address=HEAD:6379")
        self.count = min(most or cpus, gpus or cpus, cpus)
        self.need = "GPU" if gpus else "CPU"
        actor = ray.remote(
            num_cpus=1, num_gpus=min(1, gpus), max_restarts=-1, max_task_retries=TRIES - 1
        )(Worker)
        self.first = actor.remote(recipe)
        answer = self.first.inspect.remote()
        while not self.wait([answer]):
            pass
        self.setup: Setup = self.get(answer)
        self.start = lambda: actor.remote(recipe, self.setup)

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
        elif time.monotonic() - self.alive_at > PATIENCE_SECONDS:
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
def connect(address: str | None) -> Iterator[Any]:
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
    host, _, port = (address or "").rpartition(":")
    try:
        if port.isdigit() and "/" not in host:  # at once: Ray itself tries for 20 minutes
            socket.create_connection((host, int(port)), timeout=10.0).close()
        ray.init(address or "local", log_to_driver=False, logging_level="error")
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"The Ray cluster at {address} cannot be joined ({error}). On its first machine runs "
            "ray start --head --port=6379; it takes the same Ray, the same Python and its token "
            "(dga/evaluation/README.md, Many machines)."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()
