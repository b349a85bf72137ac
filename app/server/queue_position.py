"""Places in the queues in front of the models: one of runs, one of photographs.

Each serves one visitor at a time, so that a large photograph takes half of the machine from the
others and never their turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from app.words.common import ORDINALS, WAITING_PLACE

CONCURRENCY_ID = "models"  # of every event that wants them
PHOTOGRAPHS_ID = "photographs"  # and of those that may want them for many times as long
PATIENCE = 10.0  # seconds after which a visitor who no longer asks has left the line
LOOK_INTERVAL = 2.0  # seconds between two looks at the place in the line


class QueuePositions:
    """Who waits and who is served in one queue, on all pages together.

    ``queued``: says who is served and who waits in the queue, which also holds programs' requests,
    in the order of their turns; ``name``: the queue's concurrency id; ``first``: those whose runs
    end what goes on beside.
    """

    def __init__(
        self,
        queued: Callable[[], tuple[Sequence[str], Sequence[str]]] = lambda: ((), ()),
        name: str = CONCURRENCY_ID,
        first: QueuePositions | None = None,
    ) -> None:
        self.queued, self.name, self.first = queued, name, first
        self._waiting: dict[str, float] = {}
        self._served: set[str] = set()
        self._lock = threading.Lock()
        # Held by the one run that goes on beside the queues.
        self.beside: threading.Lock = first.beside if first else threading.Lock()

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
        before = self.first is not None and self.first.busy()
        return before or any(self.queued()) or bool(self._served)

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
