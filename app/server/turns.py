"""Whom work counts for, by address, and turns outside the queue: next is who took least of late."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from app.server.limits import MOST_TAKEN, PATIENCE, REPAID
from app.words.errors import REFUSED
from dga.data.uploads import UploadError

# The address that a function of the page works for, set where Gradio calls it.
caller: ContextVar[str] = ContextVar("caller", default="")
IPV6_PREFIX_BITS = 64  # whoever has one such address has all that share them


def address_of(request: Any) -> str:
    """Where a request came from; one for all where the server does not know it."""
    client = getattr(request, "client", None)
    return address_prefix(str(client.host)) if client else ""


@lru_cache(4096)
def address_prefix(host: str) -> str:
    """The address itself; of IPv6 the network that one customer has.

    IPv4 within IPv6 is IPv4; what is no address stays as it is.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.IPv6Network((int(address), IPV6_PREFIX_BITS), strict=False))
    return str(getattr(address, "ipv4_mapped", address))


class Debts:
    """What every address took of late; of each, ``forgotten`` of every second goes by."""

    def __init__(self, forgotten: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._forgotten, self.clock = forgotten, clock
        self._owed: dict[str, tuple[float, float]] = {}  # how much, as of when

    def of(self, address: str) -> float:
        owed, since = self._owed.get(address, (0.0, 0.0))
        return max(0.0, owed - self._forgotten * (self.clock() - since))

    def add(self, address: str, taken: float) -> None:
        if address not in self._owed:
            self._owed = {name: owed for name, owed in self._owed.items() if self.of(name)}
        self._owed[address] = self.of(address) + taken, self.clock()


class Turns:
    """One at a time; what a turn took is its address's debt, in seconds of ``clock``."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.debts, self._turn = Debts(REPAID, clock), threading.Condition()
        self._waiting: list[tuple[str, object]] = []
        self._taken = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The caller's turn. Raises ``UploadError`` where it does not come, or too much is owed."""
        mine = (caller.get(), object())
        with self._turn:
            self._waiting.append(mine)
            try:
                came = self.debts.of(mine[0]) <= MOST_TAKEN
                if not (came and self._turn.wait_for(lambda: self._is_next(mine), PATIENCE)):
                    raise UploadError(REFUSED)
                self._taken = True
            finally:
                self._waiting.remove(mine)
        begun = self.debts.clock()
        try:
            yield
        finally:
            with self._turn:
                self.debts.add(mine[0], self.debts.clock() - begun)
                self._taken = False
                self._turn.notify_all()

    def _is_next(self, mine: tuple[str, object]) -> bool:
        first = min(self._waiting, key=lambda who: self.debts.of(who[0]))
        return not self._taken and mine is first


TURNS = Turns()
