"""Work on many machines, by Ray: whoever is free takes the next task."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dga.folders.picture_folder import ModelSource
from dga.folders.processes import AHEAD, TaskMap
from dga.folders.records import find_differences
from dga.lab.data.image_sets import ImageSet
from dga.lab.evaluation.plan import Plan
from dga.lab.evaluation.run import (
    BatchResult,
    EvaluationResults,
    LoadedSystems,
    Setup,
    Task,
    run_tasks,
)
from dga.lab.readers.runner import create_runners
from dga.lab.readers.systems import parse_all

TRIES = 10
"""How often one task may lose its machine before the run stops."""


@dataclass(frozen=True)
class EvaluationWorker:
    """What a process on another machine needs to measure methods.

    A copy of it comes with every task. The models are loaded once in a process all the same,
    because equal workers share them.
    """

    source: ModelSource
    """Loads the models."""
    methods: tuple[str, ...]
    plan: Plan
    folder: str = field(default_factory=os.getcwd)
    """The working folder in which relative paths of ``source`` are looked up."""

    def inspect(self) -> Setup:
        """Load the models, and return what results depend on."""
        return _load_systems(self).setup

    def measure(self, expected: Setup, images: ImageSet, task: Task) -> list[BatchResult]:
        """Run a task, and return the result of each of its batches.

        Raises ``ValueError`` where the weights, settings or packages of this machine are not the
        ``expected`` ones.
        """
        loaded = _load_systems(self)
        if changes := find_differences(asdict(expected), asdict(loaded.setup)):
            host = socket.gethostname()
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")
        return list(loaded.measure(task, images))


@cache
def _load_systems(worker: EvaluationWorker) -> LoadedSystems:
    os.chdir(worker.folder)  # Ray starts a process elsewhere
    models = worker.source.load()
    systems = create_runners(models, parse_all(models.profile, worker.methods))
    return LoadedSystems(models, systems, worker.plan)


def evaluate_on_cluster(
    worker: EvaluationWorker,
    out: Path,
    batch: int = 16,
    command: str = "",
    address: str | None = None,
) -> EvaluationResults:
    """Evaluate as :func:`dga.lab.evaluation.run.evaluate` does, on a Ray cluster.

    The lines are the same but for the seconds, in the order in which tasks are done. ``address``:
    that of a running cluster; None: this machine alone. Raises ``ValueError`` for a folder with
    other results, and what :func:`start_on_cluster` does.
    """
    with start_on_cluster(address) as run:
        (setup,) = run(EvaluationWorker.inspect, [worker])

        def measure(tasks: Sequence[Task], images: ImageSet) -> Iterator[BatchResult]:
            # Whole streams, whose order matters, take longest.
            longest_first = sorted(tasks, key=lambda task: -len(task.batches))
            return chain.from_iterable(run(partial(worker.measure, setup, images), longest_first))

        return run_tasks(worker.plan, setup, measure, out, batch, command)


@contextmanager
def start_on_cluster(address: str | None) -> Iterator[TaskMap[Any, Any]]:
    """A function that runs tasks on a Ray cluster whose machines see the same files.

    There is one process for each GPU or, where there is none, for each CPU. The error of a worker
    is raised here as it was raised there. Raises ``ValueError`` where Ray is not installed, and
    ``ConnectionError`` for a cluster that cannot be joined or has no CPU, and for a worker that
    was lost too often.
    """
    ray = _join(address)
    try:
        resources = ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), min(1, int(resources.get("GPU", 0)))
        if cpus < 1:
            raise ConnectionError(
                "The cluster has no CPU for a worker: ray start --address=HEAD:6379"
            )
        # Without max_calls a process that used a GPU would end, with its models, after each task.
        remote = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=TRIES - 1, max_calls=0)

        def run(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
            start = remote(lambda task: function(task)).remote
            to_start = iter(tasks)
            running = [start(task) for task in islice(to_start, AHEAD * cpus)]
            while running:
                ready, running = ray.wait(running)
                yield from ray.get(ready)
                running += [start(task) for task in islice(to_start, len(ready))]

        yield run
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        last = str(error).strip().splitlines()[-1].strip()
        raise ConnectionError(
            f"A worker was lost: {last.rstrip('.')}. What is done is kept: start workers again; "
            "the same command goes on."
        ) from error
    finally:
        ray.shutdown()


def _join(address: str | None) -> Any:
    """The module ``ray``, connected to the cluster. Raises as :func:`start_on_cluster` does."""
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
        raise ConnectionError(
            f"The Ray cluster at {address} cannot be joined ({error}). On its first machine runs "
            "ray start --head --port=6379; it takes the same Ray, the same Python and its token "
            "(dga/lab/evaluation/README.md, Many machines)."
        ) from error
    return ray
