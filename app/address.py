"""Where a request comes from, as far as limits go."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

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
