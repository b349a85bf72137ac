"""Evaluation on many machines: Ray's actors hold the models and take batches in turn."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dga.folders.engines import TRIES, connect
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


@dataclass(frozen=True)
class Worker:
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
    worker: Worker, out: Path, batch: int = 16, command: str = "", address: str | None = None
) -> EvaluationResults:
    """:func:`dga.lab.evaluation.evaluate` on a Ray cluster: the same lines but for the seconds.

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


def create_workers(ray: Any, worker: Worker) -> Any:
    """A pool of actors, one a GPU or, without any, one a CPU; Ray replaces one that is lost."""
    resources = ray.cluster_resources()
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    if cpus < 1:
        raise ConnectionError("The cluster has no CPU for a worker: ray start --address=HEAD:6379")
    actor = ray.remote(
        num_cpus=1, num_gpus=min(1, gpus), max_restarts=-1, max_task_retries=TRIES - 1
    )(Worker)
    count = min(gpus or cpus, cpus)
    actors = [
        actor.remote(worker.load, worker.methods, worker.plan, worker.folder) for _ in range(count)
    ]
    return ray.util.ActorPool(actors)
