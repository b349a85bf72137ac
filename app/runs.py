"""What each visitor ran last on the page Adapt."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from app.board import Board
from app.visitors import Visitors


@dataclass
class Run:
    """A run that a visitor started last."""

    board: Board
    cancel: threading.Event = field(default_factory=threading.Event)


Runs = Visitors[Run]
