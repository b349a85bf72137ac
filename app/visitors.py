"""What each visitor did last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

MAX_VISITORS = 64
Value = TypeVar("Value")


class Visitors(Generic[Value]):
    """One value a visitor; of more than 64 the oldest is forgotten first."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, visitor: str, value: Value) -> Value:
        """Remember ``value``, which is returned, in place of the visitor's last one."""
        with self._lock:
            self._last[visitor] = value
            self._last.move_to_end(visitor)
            while len(self._last) > MAX_VISITORS:
                self._last.popitem(last=False)
        return value

    def last(self, visitor: str) -> Value | None:
        """The visitor's value, if it is still remembered."""
        with self._lock:
            return self._last.get(visitor)
