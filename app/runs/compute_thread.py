"""All work of the networks on one thread.

OpenMP keeps helpers for each thread that ever computed. Once all of them together are more than
the cores, they sleep between two parallel regions instead of waiting actively, and one repair
wakes them thousands of times.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Done = TypeVar("Done")

NAME = "networks"
_thread = ThreadPoolExecutor(1, NAME)
_short = set[object]()  # generators of short steps that go on
_ended = threading.Condition()
_END = object()


def computed(call: Callable[Asked, Done], *args: Asked.args, **options: Asked.kwargs) -> Done:
    """What ``call`` returns or raises, there; at once where this is that thread."""
    if threading.current_thread().name.startswith(NAME):
        return call(*args, **options)
    context = contextvars.copy_context()
    return _thread.submit(context.run, lambda: call(*args, **options)).result()


def computed_steps(steps: Generator[Done], long: bool = False) -> Generator[Done]:
    """The same of a generator, step by step: those of several take turns.

    ``long``: a step of it may take as long as a whole run of others, which therefore go first, but
    never longer than for twice the time of its last step.
    """
    run, took = object(), 0.0
    if not long:
        _short.add(run)
    try:
        while True:
            if long:
                with _ended:
                    _ended.wait_for(lambda: not _short, 2 * took)
            begun = time.monotonic()
            step = computed(next, steps, _END)
            if step is _END:
                return
            took = time.monotonic() - begun
            yield step  # type: ignore[misc]
    finally:
        computed(steps.close)
        with _ended:
            _short.discard(run)
            _ended.notify_all()
