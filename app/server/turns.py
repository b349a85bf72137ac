"""Work outside the queue, one piece at a time: next is whoever has taken least of late."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.server.limits import MOST_TAKEN, PATIENCE, REPAID
from app.words.errors import REFUSED
from dga.data.uploads import UploadError

# The address that a function of the page works for, set where Gradio calls it.
caller: ContextVar[str] = ContextVar("caller", default="")


class Turns:
    """One at a time. ``clock`` gives seconds.

    What a turn took is its address's debt, of which ``REPAID`` of every second is forgotten: a
    large picture lets everybody else's go first, whatever their order.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._turn = clock, threading.Condition()
        self._waiting: list[tuple[str, object]] = []
        self._owed: dict[str, tuple[float, float]] = {}  # seconds, as of when
        self._taken = False

    def owed(self, address: str) -> float:
        """Seconds that an address took of late."""
        owed, since = self._owed.get(address, (0.0, 0.0))
        return max(0.0, owed - REPAID * (self._clock() - since))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The caller's turn. Raises ``UploadError`` where it does not come, or too much is owed."""
        mine = (caller.get(), object())
        with self._turn:
            self._waiting.append(mine)
            try:
                came = self.owed(mine[0]) <= MOST_TAKEN
                if not (came and self._turn.wait_for(lambda: self._is_next(mine), PATIENCE)):
                    raise UploadError(REFUSED)
                self._taken = True
            finally:
                self._waiting.remove(mine)
        begun = self._clock()
        try:
            yield
        finally:
            with self._turn:
                self._owed = {name: since for name, since in self._owed.items() if self.owed(name)}
                owed = self.owed(mine[0]) + self._clock() - begun
                self._owed[mine[0]], self._taken = (owed, self._clock()), False
                self._turn.notify_all()

    def _is_next(self, mine: tuple[str, object]) -> bool:
        return not self._taken and mine is min(self._waiting, key=lambda who: self.owed(who[0]))


TURNS = Turns()
