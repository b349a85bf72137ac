"""Work on many machines, by Ray: whoever is free takes the next task."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from dga.folders.workers import TaskMap

AHEAD = 32
"""Tasks that wait for each process at most."""
TRIES = 10
"""How often one task may lose its machine before the run stops."""


def check_precision(precision: str) -> None:
    """Raise ``ValueError`` where each machine would choose a precision of its own."""
    if precision == "auto":
        raise ValueError("Many machines need one precision: name it with --precision.")


@contextmanager
def start_on_cluster(address: str) -> Iterator[TaskMap[Any, Any]]:
    """A function that runs tasks on a Ray cluster whose machines see the same files.

    There is one process for each GPU or, where there is none, for each CPU; it works in the folder
    in which this one does. The error of a worker is raised here as it was raised there. Raises
    ``ValueError`` where Ray is not installed, and ``ConnectionError`` for a cluster that cannot be
    joined or has no CPU, and for a worker that was lost too often.
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
            folder = Path.cwd()

            def work(task: Any) -> Any:
                os.chdir(folder)  # Ray starts a process elsewhere
                return function(task)

            start = remote(work).remote
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


def _join(address: str) -> Any:
    """The module ``ray``, connected to the cluster. Raises as :func:`start_on_cluster` does."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    try:
        import ray
    except ImportError as error:
        raise ValueError(
            "A cluster needs Ray, which is not installed here: "
            "pip install -r requirements-cluster.txt"
        ) from error
    host, _, port = address.rpartition(":")
    try:
        if port.isdigit() and "/" not in host:  # at once: Ray itself tries for 20 minutes
            socket.create_connection((host, int(port)), timeout=10.0).close()
        ray.init(address, log_to_driver=False, logging_level="error")
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise ConnectionError(
            f"The Ray cluster at {address} cannot be joined ({error}). On its first machine runs "
            "ray start --head --port=6379; it takes the same Ray, the same Python and its token "
            "(dga/lab/evaluation/README.md, Many machines)."
        ) from error
    return ray
