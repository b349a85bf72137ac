"""How much one address may leave on the server: nobody fills the folder for everybody."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

CUSTOMER_BITS = 64  # of an IPv6 address: whoever has one has all that share them
MAX_BYTES = 2**29  # half of the folder
KEPT_MINUTES = 60  # by then the files are gone


@lru_cache(4096)
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


class Quota:
    """Bytes of every address in the last hour, by the minute. ``clock`` gives seconds."""

    def __init__(self, most: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
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
