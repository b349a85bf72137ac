"""How much one address may leave on the server: nobody fills the folder for everybody."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache


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


CUSTOMER_BITS = 64  # of an IPv6 address: whoever has one has all that share them


@lru_cache(4096)  # a queue asks a thousand times a second
def neighbourhood(host: str) -> str:
    """The address itself; of IPv6 the network that one customer has.

    IPv4 within IPv6 is IPv4; what is no address stays as it is.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    bits = int(address) >> CUSTOMER_BITS << CUSTOMER_BITS
    return f"{ipaddress.IPv6Address(bits)}/{CUSTOMER_BITS}"


MAX_BYTES = 2**29  # half of the folder
KEPT_MINUTES = 60  # by then the files are gone


class Quota:
    """Bytes of every address in the last hour, by the minute. ``clock`` gives seconds."""

    def __init__(self, most: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._minutes: dict[str, Counter[int]] = {}
        self._tidied = 0

    def take(self, address: str, length: int) -> int | None:
        """Count ``length`` bytes; the minute, or None if with the last hour's they are too many."""
        minute = self._minute()
        taken = self._minutes.setdefault(address, Counter())
        if taken.total() + length > self.most:
            return None
        taken[minute] += length
        return minute

    def give_back(self, address: str, minute: int, length: int) -> None:
        """What was counted in that minute and then did not come."""
        self._minute()
        taken = self._minutes.get(address, Counter())
        if minute in taken:
            taken[minute] -= length

    def _minute(self) -> int:
        """The present one; when it is new what is older than an hour is forgotten."""
        minute = int(self._clock() // 60)
        if minute != self._tidied:
            self._tidied, oldest = minute, minute - KEPT_MINUTES
            for address, taken in list(self._minutes.items()):
                self._minutes[address] = Counter({m: n for m, n in taken.items() if m > oldest})
                if not any(self._minutes[address].values()):
                    del self._minutes[address]
        return minute
