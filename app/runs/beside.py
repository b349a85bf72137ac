"""Runs while a visitor chooses: one at a time, and none while one of the queue goes on or waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.server.queue_position import QueuePositions
from app.server.turns import Debts, caller
from app.words.try_it import NOTICES

PATIENCE = 1.0  # seconds for the models to be free
BESIDE = 8  # that may ask at once, one of which is served
MOST_ASKED = 2  # of an address: more direct calls would crowd out its others
SLOW_SECONDS = 15.0  # a run that takes longer ends, and turns them off for its address
REST_SECONDS = 60.0  # for so long
LOOK = 0.02


class DroppedError(RuntimeError):
    """A run that does not take place, or ends; the message, if any, is for the visitor."""


class SideLane:
    """Beside the queue, never before it: a run of the queue ends the one in here."""

    def __init__(self, line: QueuePositions) -> None:
        self._line = line
        self._lock, self._place = threading.Lock(), line.beside
        self._asked: dict[str, threading.Event] = {}
        self._from: dict[str, str] = {}  # addresses of those who ask
        self._rests = Debts(1.0)  # seconds for which an address does: others may ask for less
        self._ends = 0.0  # of the one that has its turn

    @contextmanager
    def served(self, visitor: str) -> Iterator[threading.Event]:
        """Once the models are free. The event: end now, because something else has come.

        Raises :class:`DroppedError`: with a sentence where others are served or the machine is
        slow, without where the visitor herself asked anew meanwhile.
        """
        asked = self._ask(visitor)
        try:
            self._wait(asked)
            self._ends = ends = time.monotonic() + SLOW_SECONDS
            try:
                yield asked
            finally:
                self._place.release()
                with self._lock:
                    if time.monotonic() > ends:
                        self._rests.add(caller.get(), REST_SECONDS)
        finally:
            with self._lock:
                if self._asked.get(visitor) is asked:
                    del self._asked[visitor]

    def stop(self, visitor: str) -> None:
        """End the visitor's own, if there is one."""
        with self._lock:
            if visitor in self._asked:
                self._asked.pop(visitor).set()

    def check(self, asked: threading.Event) -> None:
        """Between two steps. Raises :class:`DroppedError` where the run is to end."""
        if asked.is_set():
            raise DroppedError
        if self._line.busy():
            raise DroppedError(NOTICES["busy"])
        if time.monotonic() > self._ends:
            raise DroppedError(NOTICES["slow"])

    def _ask(self, visitor: str) -> threading.Event:
        with self._lock:
            before = self._asked.pop(visitor, None)
            if before is not None:
                before.set()
            if self._rests.of(caller.get()):
                raise DroppedError(NOTICES["slow"])
            self._from = {name: self._from.get(name, "") for name in self._asked}
            if list(self._from.values()).count(caller.get()) >= MOST_ASKED:
                raise DroppedError(NOTICES["busy"])
            self._from[visitor] = caller.get()
            asked = self._asked[visitor] = threading.Event()
            return asked

    def _wait(self, asked: threading.Event) -> None:
        until = time.monotonic() + PATIENCE
        while self._line.busy() or not self._place.acquire(blocking=False):
            if asked.is_set():
                raise DroppedError
            if time.monotonic() > until:
                raise DroppedError(NOTICES["busy"])
            time.sleep(LOOK)
