"""Work on many machines, by Ray: its actors hold the models and take batches in turn, or its tasks
pictures of a folder."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dga.folders.processes import AHEAD, Result, Run, split_tasks
from dga.folders.processes import Task as AnyTask
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
from dga.networks.models import Models
from dga.systems import parse_all

TRIES = 10
"""How often one task may lose its machine before the run stops."""


@dataclass(frozen=True)
class EvaluationWorker:
    """Methods by name, and how a machine loads their models, in the ``folder`` of the command.

    They are loaded at the first call, so that an error of loading is that call's answer.
    """

    load: Callable[[], Models]
    methods: tuple[str, ...]
    plan: Plan
    folder: str = field(default_factory=os.getcwd)

    @cached_property
    def loaded(self) -> LoadedSystems:
        os.chdir(self.folder)  # Ray starts a worker elsewhere
        models = self.load()
        systems = create_runners(models, parse_all(models.profile, self.methods))
        return LoadedSystems(models, systems, self.plan)

    def inspect(self) -> Setup:
        """What results depend on."""
        return self.loaded.setup

    def measure(self, task: Task, images: ImageSet, expected: Setup) -> list[BatchResult]:
        """The task's results.

        Raises ``ValueError`` for other weights, settings or packages than ``expected``.
        """
        if changes := find_differences(asdict(expected), asdict(self.loaded.setup)):
            host = socket.gethostname()
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")
        return list(self.loaded.measure(task, images))


def evaluate_on_cluster(
    worker: EvaluationWorker,
    out: Path,
    batch: int = 16,
    command: str = "",
    address: str | None = None,
) -> EvaluationResults:
    """:func:`dga.lab.evaluation.run.evaluate` on a Ray cluster: the same lines but for the seconds.

    ``worker``: as each machine makes one; ``address``: of a running cluster, else this machine
    alone. Lines come in the order in which workers are done. Raises ``ValueError`` for a folder
    with other results, and what :func:`connect` does.
    """
    with connect(address) as ray:
        pool = create_workers(ray, worker)
        (setup,) = pool.map_unordered(lambda actor, _: actor.inspect.remote(), [None])

        def measure(tasks: Sequence[Task], images: ImageSet) -> Iterator[BatchResult]:
            shared = ray.put(images)
            # Whole streams, whose order matters, take longest.
            for task in sorted(tasks, key=lambda task: -len(task.batches)):
                pool.submit(lambda actor, task: actor.measure.remote(task, shared, setup), task)
            while pool.has_next():
                while pool.has_free():
                    ray.kill(pool.pop_idle())  # leaves its place to one that is lost
                yield from pool.get_next_unordered()

        return run_tasks(worker.plan, setup, measure, out, batch, command)


def create_workers(ray: Any, worker: EvaluationWorker) -> Any:
    """A pool of actors, one a GPU or, without any, one a CPU; Ray replaces one that is lost."""
    resources = ray.cluster_resources()
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    if cpus < 1:
        raise ConnectionError("The cluster has no CPU for a worker: ray start --address=HEAD:6379")
    actor = ray.remote(
        num_cpus=1, num_gpus=min(1, gpus), max_restarts=-1, max_task_retries=TRIES - 1
    )(EvaluationWorker)
    count = min(gpus or cpus, cpus)
    actors = [
        actor.remote(worker.load, worker.methods, worker.plan, worker.folder) for _ in range(count)
    ]
    return ray.util.ActorPool(actors)


@contextmanager
def start_on_cluster(address: str | None) -> Iterator[Run[Any, Any]]:
    """Work on a Ray cluster whose machines see the same files."""
    with connect(address) as ray:
        resources = ray.cluster_resources()
        needs = {"num_cpus": 1, "num_gpus": min(1, resources.get("GPU", 0))}
        remote = ray.remote(max_retries=TRIES - 1, **needs)(lambda function, task: function(task))

        def run(
            function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask]
        ) -> Iterator[Result]:
            for some in split_tasks(tasks, AHEAD * int(resources.get("CPU", 1))):
                yield from map(ray.get, [remote.remote(function, task) for task in some])

        yield run


@contextmanager
def connect(address: str | None) -> Iterator[Any]:
    """Ray, connected; a worker's error is raised as it was there.

    Raises ``ValueError`` where Ray is not installed, and ``ConnectionError`` for a cluster that
    cannot be joined and for a worker that was lost too often.
    """
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
    try:
        yield ray
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
