"""A few at a time of each address; the others wait, without holding one of the server's threads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """``most``: of one address at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._doors: dict[str, asyncio.Semaphore] = {}
        self._there: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for one's turn, in the order of arrival, and have it."""
        door = self._doors.setdefault(address, asyncio.Semaphore(self.most))
        self._there[address] += 1
        try:
            async with door:
                yield
        finally:
            self._there[address] -= 1
            if not self._there[address]:
                del self._there[address], self._doors[address]
