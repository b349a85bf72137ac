"""Whom a request counts for: its client's address, or the network that one customer has."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

IPV6_PREFIX_BITS = 64  # whoever has one such address has all that share them


@lru_cache(4096)
def address_prefix(host: str) -> str:
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
    bits = int(address) >> IPV6_PREFIX_BITS << IPV6_PREFIX_BITS
    return f"{ipaddress.IPv6Address(bits)}/{IPV6_PREFIX_BITS}"


def address_of(request: Any) -> str:
    """Where a request came from; one for all where the server does not know it."""
    client = getattr(request, "client", None)
    return address_prefix(str(client.host)) if client else ""
