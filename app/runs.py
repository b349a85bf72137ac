"""What each visitor ran last on the page Adapt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from app.board import Board
from app.visitors import Visitors


@dataclass
class Run:
    """A run that a visitor started last, or a recorded one that she looks at."""

    board: Board
    cancel: threading.Event = field(default_factory=threading.Event)
    recorded: bool = False


class Runs(Visitors[Run]):
    """The last run of each visitor."""

    def __init__(self, address: Callable[[str], str] = lambda visitor: "") -> None:
        super().__init__(lambda run: run.board.running, lambda run: run.recorded, address)
