"""Who is running what, who waits, and what each visitor ran last."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.board import Board

MAX_VISITORS = 64
PATIENCE = 10.0  # seconds after which a visitor who no longer asks has left the line


@dataclass
class Run:
    """A run that a visitor started last."""

    board: Board
    cancel: threading.Event = field(default_factory=threading.Event)


class Runs:
    """Last run of each visitor; the oldest visitor is forgotten first."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._waiting: OrderedDict[str, float] = OrderedDict()
        self._served: set[str] = set()
        self._lock = threading.Lock()

    def start(self, visitor: str, board: Board) -> Run:
        """Remember ``board`` as the visitor's run."""
        run = Run(board)
        with self._lock:
            self._runs[visitor] = run
            self._runs.move_to_end(visitor)
            while len(self._runs) > MAX_VISITORS:
                self._runs.popitem(last=False)
        return run

    def last(self, visitor: str) -> Run | None:
        """The visitor's last run, if it is still remembered."""
        with self._lock:
            return self._runs.get(visitor)

    def wait(self, visitor: str) -> int:
        """Join the line or say that one still waits; returns the place in it.

        0 is at once; 1 is next, after the run that is going on.
        """
        now = time.monotonic()
        with self._lock:
            self._waiting[visitor] = now
            for name, seen in list(self._waiting.items()):
                if now - seen > PATIENCE:
                    del self._waiting[name]
            return list(self._waiting).index(visitor) + len(self._served - {visitor})

    def place(self, visitor: str) -> int:
        """:meth:`wait` for a visitor who is in the line already; 0 for any other."""
        with self._lock:
            waits = visitor in self._waiting
        return self.wait(visitor) if waits else 0

    def leave(self, visitor: str) -> bool:
        """Leave the line; whether the visitor was in it."""
        with self._lock:
            return self._waiting.pop(visitor, None) is not None

    @contextmanager
    def served(self, visitor: str) -> Iterator[None]:
        """The time in which the models work for a visitor."""
        self.leave(visitor)
        with self._lock:
            self._served.add(visitor)
        try:
            yield
        finally:
            with self._lock:
                self._served.discard(visitor)
