"""Where work on many pictures is done: in this process or in others.

On many machines: :mod:`dga.lab.evaluation.cluster`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

IDLE_SECONDS = 10
"""A process without tasks ends after so long; within a minute where its parent was killed."""

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskMap = Callable[[Callable[[Task], Result], Iterable[Task]], Iterator[Result]]
"""Calls a function for each task, here or elsewhere; results come as they are ready."""


def make_task_map(jobs: int) -> TaskMap[Any, Any]:
    """Make what works in this process, or in ``jobs`` others, which share the cores.

    It raises ``OSError`` where one of them is lost.
    """
    if jobs == 1:
        return map

    def run(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        work = Parallel(
            jobs,
            return_as="generator_unordered",
            batch_size=1,
            idle_worker_timeout=IDLE_SECONDS,
        )
        try:
            yield from work(delayed(function)(task) for task in tasks)
        except TerminatedWorkerError:
            raise OSError(
                "A process was lost, perhaps for want of memory. What is done is kept: the same "
                "command goes on, perhaps with fewer --jobs."
            ) from None

    return run
