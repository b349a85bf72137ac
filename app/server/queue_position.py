"""Places in the queue in front of the models, which serve one visitor at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from app.words.common import ORDINALS, WAITING_PLACE

CONCURRENCY_ID = "models"  # of every event that wants them
PATIENCE = 10.0  # seconds after which a visitor who no longer asks has left the line
LOOK_INTERVAL = 2.0  # seconds between two looks at the place in the line


class QueuePositions:
    """Who waits and who is served, on all pages together.

    ``queued``: says who is served and who waits in the queue, which also holds programs' requests,
    in the order of their turns; ``address``: where such a visitor came from, else empty.
    """

    def __init__(
        self,
        queued: Callable[[], tuple[Sequence[str], Sequence[str]]] = lambda: ((), ()),
        address: Callable[[str], str] = lambda visitor: "",
    ) -> None:
        self.queued, self.address = queued, address
        self._waiting: dict[str, float] = {}
        self._served: set[str] = set()
        self._lock = threading.Lock()
        self.beside = threading.Lock()  # held by the one run that goes on beside the queue

    def wait(self, visitor: str) -> int:
        """Join the line or say that one still waits; returns the place in it.

        0 is at once; 1 is next, after the run that is going on.
        """
        now = time.monotonic()
        served, queued = self.queued()
        with self._lock:
            self._waiting[visitor] = now
            for name in [name for name, seen in self._waiting.items() if now - seen > PATIENCE]:
                del self._waiting[name]
            # Who has pressed but has not reached the queue yet comes after it. Others of that
            # kind do not count: anybody can say so under a thousand names.
            order = list(dict.fromkeys([*queued, visitor]))
            return order.index(visitor) + len({*served, *self._served} - {visitor})

    def place(self, visitor: str) -> int:
        """:meth:`wait` for a visitor who is in the line already; 0 for any other."""
        return self.wait(visitor) if visitor in self._waiting else 0

    def has(self, visitor: str) -> bool:
        """Whether the visitor waits or is served."""
        return visitor in self._waiting or visitor in self._served

    def busy(self) -> bool:
        """Whether anybody is served, or waits in the queue."""
        return any(self.queued()) or bool(self._served)

    def leave(self, visitor: str) -> bool:
        """Leave the line; whether the visitor was in it."""
        with self._lock:
            return self._waiting.pop(visitor, None) is not None

    @contextmanager
    def served(self, visitor: str) -> Iterator[None]:
        """The time in which the models work for a visitor."""
        with self._lock:
            self._waiting.pop(visitor, None)
            self._served.add(visitor)
        try:
            yield
        finally:
            with self._lock:
                self._served.discard(visitor)


def place_words(place: int) -> str:
    """``Waiting, 2nd in line``."""
    return WAITING_PLACE.format(place=ORDINALS.get(place, f"{place}th"))
