"""Bytes that one address may upload in an hour: nobody fills the folder for everybody."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from app.server.limits import KEPT_MINUTES, UPLOADED_PER_HOUR


class Quota:
    """Bytes of every address in the last hour, by the minute. ``clock`` gives seconds."""

    def __init__(
        self, most: int = UPLOADED_PER_HOUR, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self._clock = most, clock
        self._minutes: dict[str, Counter[int]] = {}
        self._tidied = 0

    def add(self, address: str, length: int) -> bool:
        """Count ``length`` bytes; False, and nothing counted, if they are too many for an hour."""
        minute = int(self._clock() // 60)
        if minute != self._tidied:
            self._tidied = minute
            self._forget(minute - KEPT_MINUTES)
        taken = self._minutes.setdefault(address, Counter())
        if taken.total() + length > self.most:
            return False
        taken[minute] += length
        return True

    def _forget(self, oldest: int) -> None:
        for address, taken in list(self._minutes.items()):
            kept = Counter({minute: n for minute, n in taken.items() if minute > oldest})
            if kept:
                self._minutes[address] = kept
            else:
                del self._minutes[address]
