"""Long work in steps: a generator yields an event after each of them, and returns the result.

Who shows progress, or lets others have their turn between two steps, writes
``result = yield from work(...)``; who does neither calls :func:`take_result`.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

Event = TypeVar("Event")
Changed = TypeVar("Changed")
Result = TypeVar("Result")


def take_result(work: Generator[object, None, Result]) -> Result:
    """Do all the work at once, and return what it returns; its events are dropped."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def map_steps(
    work: Generator[Event, None, Result], change: Callable[[Event], Changed]
) -> Generator[Changed, None, Result]:
    """Do the work, and yield what ``change`` makes of each event."""
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            return end.value
        yield change(event)
