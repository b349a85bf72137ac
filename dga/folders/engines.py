"""Where work on many pictures is done: in this process, in others, or on a Ray cluster."""

from __future__ import annotations

import functools
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

TRIES = 10
"""How often one task may lose its machine before the run stops."""
AHEAD = 4
"""Tasks a process that are given out before the first of them is done."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Run = Callable[[Callable[[Task], Result], Iterable[Task]], Iterator[Result]]
"""Calls a function for each task, here or elsewhere; results come as they are ready."""


@contextmanager
def start_here(jobs: int) -> Iterator[Run[Any, Any]]:
    """Work in this process, or in ``jobs`` others. Raises ``OSError`` where one is lost."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin_process) as pool:

        def wait_for_some(pending: list[Future[Any]]) -> tuple[list[Any], list[Future[Any]]]:
            done, others = wait(pending, return_when=FIRST_COMPLETED)
            return [one.result() for one in done], [*others]

        try:
            yield functools.partial(_run_ahead, pool.submit, wait_for_some, AHEAD * jobs)
        except BrokenProcessPool:
            raise OSError(
                "A process was lost, perhaps for want of memory. What is done is kept: the same "
                "command goes on, perhaps with fewer --jobs."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _begin_process() -> None:
    """A process ends with the one that started it, however that ends, and leaves Ctrl-C to it."""

    def end_with_parent() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


@contextmanager
def start_on_cluster(address: str | None) -> Iterator[Run[Any, Any]]:
    """Work on a Ray cluster whose machines see the same files."""
    with connect(address) as ray:
        resources = ray.cluster_resources()
        needs = {"num_cpus": 1, "num_gpus": min(1, resources.get("GPU", 0))}
        remote = ray.remote(max_retries=TRIES - 1, **needs)(lambda function, task: function(task))

        def wait_for_some(pending: list[Any]) -> tuple[list[Any], list[Any]]:
            done, others = ray.wait(pending)
            return ray.get(done), others

        most = AHEAD * int(resources.get("CPU", 1))
        yield functools.partial(_run_ahead, remote.remote, wait_for_some, most)


def _run_ahead(
    submit: Callable[..., Any],
    wait_for_some: Callable[[list[Any]], tuple[list[Any], list[Any]]],
    most: int,
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
) -> Iterator[Any]:
    """Results as they come, of tasks of which at most ``most`` are given out at a time."""
    pending = list[Any]()
    for task in tasks:
        pending.append(submit(function, task))
        if len(pending) >= most:
            done, pending = wait_for_some(pending)
            yield from done
    while pending:
        done, pending = wait_for_some(pending)
        yield from done


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
