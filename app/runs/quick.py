"""Quick runs while a visitor chooses: one at a time, and none while a full run goes on or waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.server.queue_position import QueuePositions
from app.words.try_it import NOTICES

PATIENCE = 1.0  # seconds for the models to be free
MOST_ASKED = 2  # by all together: more direct calls would crowd out others of an address
SLOW_SECONDS = 6.0  # a quick run that takes longer turns them off
REST_SECONDS = 60.0  # for so long
LOOK = 0.02


class DroppedError(RuntimeError):
    """A quick run that does not take place; the message, if any, is for the visitor."""


class QuickLane:
    """Beside the queue, never before it: a full run that comes ends the quick one."""

    def __init__(self, line: QueuePositions) -> None:
        self._line = line
        self._lock, self._place = threading.Lock(), threading.Lock()
        self._asked: dict[str, threading.Event] = {}
        self._rests_until = 0.0

    @contextmanager
    def served(self, visitor: str) -> Iterator[threading.Event]:
        """Once the models are free. The event: end now, because something else has come.

        Raises :class:`DroppedError`: with a sentence where others are served or the machine is
        slow, without where the visitor herself asked anew meanwhile.
        """
        asked = self._ask(visitor)
        try:
            self._wait(asked)
            begun = time.monotonic()
            try:
                yield asked
            finally:
                self._place.release()
                if time.monotonic() - begun > SLOW_SECONDS:
                    self._rests_until = time.monotonic() + REST_SECONDS
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

    def _ask(self, visitor: str) -> threading.Event:
        with self._lock:
            before = self._asked.pop(visitor, None)
            if before is not None:
                before.set()
            if time.monotonic() < self._rests_until:
                raise DroppedError(NOTICES["slow"])
            if len(self._asked) >= MOST_ASKED:
                raise DroppedError(NOTICES["busy"])
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
