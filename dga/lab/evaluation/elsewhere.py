"""Evaluation by processes of other machines: each loads the models once and takes tasks in turn."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dga.folders.diagnoses import ModelSource
from dga.folders.engines import Run
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
from dga.systems import parse_all


@dataclass(frozen=True)
class Worker:
    """How a process works: ``source`` loads the models of ``methods``.

    It comes anew with every task, and the models are loaded once. ``folder``: where paths of the
    command begin.
    """

    source: ModelSource
    methods: tuple[str, ...]
    plan: Plan
    folder: str = field(default_factory=os.getcwd)

    def describe(self) -> Setup:
        """What results depend on."""
        return load_once(self).setup

    def measure(self, expected: Setup, job: tuple[Task, list[ImageSet]]) -> list[BatchResult]:
        """The results of a task and its batches.

        Raises ``ValueError`` for other weights, settings or packages than ``expected``.
        """
        loaded = load_once(self)
        if changes := find_differences(asdict(expected), asdict(loaded.setup)):
            host = socket.gethostname()
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")
        return list(loaded.measure(*job))


@functools.cache
def load_once(worker: Worker) -> LoadedSystems:
    """The models and systems of this process."""
    os.chdir(worker.folder)  # Ray starts a process elsewhere
    models = worker.source.load()
    systems = create_runners(models, parse_all(models.profile, worker.methods))
    return LoadedSystems(models, systems, worker.plan)


def evaluate_elsewhere(
    worker: Worker, run: Run, out: Path, batch: int = 16, command: str = ""
) -> EvaluationResults:
    """:func:`dga.lab.evaluation.evaluate` by ``run``: the same lines but for the seconds.

    Lines come in the order in which tasks are done. Raises ``ValueError`` for a folder with other
    results, and what ``run`` does.
    """
    (setup,) = run(Worker.describe, [worker])

    def measure(tasks: Sequence[Task], images: ImageSet) -> Iterator[BatchResult]:
        # Whole streams, whose order matters, take longest.
        longest_first = sorted(tasks, key=lambda task: -len(task.batches))
        jobs = ((task, task.take_batches(images)) for task in longest_first)
        for results in run(functools.partial(worker.measure, setup), jobs):
            yield from results

    return run_tasks(worker.plan, setup, measure, out, batch, command)
