"""Where work on many pictures is done: in this process or in others.

On many machines: :mod:`dga.lab.evaluation.cluster`.
"""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

import torch

AHEAD = 32
"""Tasks that wait for each process at most."""

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskMap = Callable[[Callable[[Task], Result], Iterable[Task]], Iterator[Result]]
"""Calls a function for each task, here or elsewhere; results come as they are ready."""


@contextmanager
def start_here(jobs: int) -> Iterator[TaskMap[Any, Any]]:
    """Work in this process, or in ``jobs`` others, which share the cores.

    Raises ``OSError`` where one is lost.
    """
    if jobs == 1:
        yield map
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin_process, (threads,)) as pool:

        def run(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
            rest = iter(tasks)
            first = itertools.islice(rest, AHEAD * jobs)  # few are given out ahead
            running = {pool.submit(function, task) for task in first}
            while running:
                ready, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield future.result()
                following = itertools.islice(rest, len(ready))
                running |= {pool.submit(function, task) for task in following}

        try:
            yield run
        except BrokenProcessPool:
            raise OSError(
                "A process was lost, perhaps for want of memory. What is done is kept: the same "
                "command goes on, perhaps with fewer --jobs."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _begin_process(threads: int) -> None:
    """Let this process end with the one that started it, however that ends, and ignore Ctrl-C."""
    torch.set_num_threads(threads)

    def end_with_parent() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
