"""Places in the queue in front of the models, which serve one visitor at a time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from app.words.common import ORDINALS, WAITING_PLACE

CONCURRENCY_ID = "models"  # of every event that wants them
PATIENCE = 10.0  # seconds after which a visitor who no longer asks has left the line
LOOK_INTERVAL = 2.0  # seconds between two looks at the place in the line
Queued = Callable[[], tuple[Sequence[str], Sequence[str]]]


class QueuePositions:
    """Who waits and who is served, on all pages together.

    ``queued``: says who is served and who waits in the queue, which also holds programs' requests,
    in the order of their turns; ``came_from``: where such a visitor did, else empty.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, float] = OrderedDict()
        self._served: set[str] = set()
        self.queued: Queued = lambda: ((), ())
        self.came_from: Callable[[str], str] = lambda visitor: ""
        self._lock = threading.Lock()
        self.beside = threading.Lock()  # held by the one run that goes on beside the queue

    def address(self, visitor: str) -> str:
        """Where a visitor who is served or waits came from; empty for any other."""
        return self.came_from(visitor)

    def wait(self, visitor: str) -> int:
        """Join the line or say that one still waits; returns the place in it.

        0 is at once; 1 is next, after the run that is going on.
        """
        now = time.monotonic()
        served, queued = self.queued()
        with self._lock:
            self._waiting[visitor] = now
            for name, seen in list(self._waiting.items()):
                if now - seen > PATIENCE:
                    del self._waiting[name]
            # Who has pressed but has not reached the queue yet comes after it. Others of that
            # kind do not count: anybody can say so under a thousand names.
            order = list(dict.fromkeys([*queued, visitor]))
            return order.index(visitor) + len({*served, *self._served} - {visitor})

    def place(self, visitor: str) -> int:
        """:meth:`wait` for a visitor who is in the line already; 0 for any other."""
        with self._lock:
            waits = visitor in self._waiting
        return self.wait(visitor) if waits else 0

    def has(self, visitor: str) -> bool:
        """Whether the visitor waits or is served."""
        with self._lock:
            return visitor in self._waiting or visitor in self._served

    def busy(self) -> bool:
        """Whether anybody is served, or waits in the queue."""
        served, queued = self.queued()
        with self._lock:
            return bool(served or queued or self._served)

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


def place_words(place: int) -> str:
    """``Waiting, 2nd in line``."""
    return WAITING_PLACE.format(place=ORDINALS.get(place, f"{place}th"))
