"""What each visitor did last."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

MAX_VISITORS = 64
KEPT_SECONDS = 3600.0  # after an hour a run is nobody's any more
Value = TypeVar("Value")


class Visitors(Generic[Value]):
    """One value a visitor, for an hour; of more than 64 the oldest is forgotten first.

    ``busy``: values that are kept all the same, because something still works on them.
    """

    def __init__(self, busy: Callable[[Value], bool] = lambda value: False) -> None:
        self._busy = busy
        self._last: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, visitor: str, value: Value) -> Value:
        """Remember ``value``, which is returned, in place of the visitor's last one."""
        with self._lock:
            self._last[visitor] = time.monotonic(), value
            self._last.move_to_end(visitor)
            self._forget()
        return value

    def last(self, visitor: str) -> Value | None:
        """The visitor's value, if it is still remembered."""
        with self._lock:
            self._forget()
            return self._last[visitor][1] if visitor in self._last else None

    def count(self) -> int:
        """How many visitors are remembered."""
        with self._lock:
            self._forget()
            return len(self._last)

    def _forget(self) -> None:
        """Drop what is too old or too much; the oldest stand first."""
        until = time.monotonic() - KEPT_SECONDS
        for visitor, (since, value) in list(self._last.items()):
            if (since < until or len(self._last) > MAX_VISITORS) and not self._busy(value):
                del self._last[visitor]
