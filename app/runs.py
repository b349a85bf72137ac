"""Who is running what: one board and one cancel flag a visitor."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from app.board import Board

MAX_VISITORS = 64


@dataclass
class Run:
    """A run that a visitor started last."""

    board: Board
    cancel: threading.Event = field(default_factory=threading.Event)


class Runs:
    """Last run of each visitor; the oldest visitor is forgotten first."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
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
