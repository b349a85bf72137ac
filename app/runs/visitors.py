"""What each visitor did last."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from app.runs.run_state import RunState
from app.server.turns import caller

MAX_VISITORS = 64
MAX_SHARED = 1000
KEPT_SECONDS = 3600.0  # after an hour a run is nobody's any more
Value = TypeVar("Value")


class Visitors(Generic[Value]):
    """One value a visitor, for an hour; of more than ``most`` the oldest is forgotten first.

    ``busy``: values that are kept all the same, because something still works on them.
    ``shared``: values that many visitors have in common, which cost next to nothing: of them
    1000 are kept, and none of the others is forgotten for one of them.
    Of too many the oldest of the address that has most goes first.
    """

    def __init__(
        self,
        busy: Callable[[Value], bool] = lambda value: False,
        shared: Callable[[Value], bool] = lambda value: False,
        most: int = MAX_VISITORS,
    ) -> None:
        self._busy, self._shared, self._most = busy, shared, most
        self._last: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        self._from: dict[str, str] = {}
        self._lock = threading.Lock()

    def put(self, visitor: str, value: Value) -> Value:
        """Remember ``value``, which is returned, in place of the visitor's last one."""
        with self._lock:
            self._last[visitor] = time.monotonic(), value
            self._from[visitor] = caller.get()
            self._last.move_to_end(visitor)
            self._forget()
        return value

    def last(self, visitor: str) -> Value | None:
        """The visitor's value, if it is still remembered."""
        with self._lock:
            self._forget()
            return self._last[visitor][1] if visitor in self._last else None

    def find(self, wanted: Callable[[Value], bool]) -> Value | None:
        """Anybody's value that is still remembered."""
        with self._lock:
            self._forget()
            return next((value for _, value in self._last.values() if wanted(value)), None)

    def _forget(self) -> None:
        """Drop what is too old, then what is too much; the oldest stand first."""
        until = time.monotonic() - KEPT_SECONDS
        for visitor, (since, value) in list(self._last.items()):
            if since < until and not self._busy(value):
                del self._last[visitor]
        for shared, most in ((True, MAX_SHARED), (False, self._most)):
            kept = [name for name, (_, v) in self._last.items() if self._shared(v) == shared]
            for _ in range(len(kept) - most):
                idle = [name for name in kept if not self._busy(self._last[name][1])]
                if not idle:
                    break
                left = Counter(self._from[name] for name in kept)
                gone = max(idle, key=lambda name: left[self._from[name]])
                kept.remove(gone)
                del self._last[gone]
        self._from = {name: self._from[name] for name in self._last}


@dataclass
class Run:
    """A run that a visitor started last, or a recorded one that she looks at."""

    state: RunState
    cancel: threading.Event = field(default_factory=threading.Event)
