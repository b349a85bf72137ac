"""Headers that are not passed on to Gradio, and those that every answer gets."""

from __future__ import annotations

import re

from starlette.types import Scope

# Every name of this machine that a browser may send.
LOOPBACK = re.compile(
    rb"(([\w-]+\.)*localhost\.?|127(\.\d+){1,3}\.?|0(\.0+){0,3}\.?"
    rb"|\[::1?\]|\[::ffff:(127|7f|0)[.:\da-f]*\])(:\d+)?",
    re.IGNORECASE,
)
_PROTO = re.compile(rb"https?(, *https?)*")
_HOST = re.compile(rb"[\w.:\[\], -]*")
_YEAR = 31_536_000  # seconds
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_PRIVATE = (b"cache-control", b"private, no-store")


def cleaned(scope: Scope, is_file: bool, is_mcp: bool) -> Scope:
    """The request without what would come back in the answer.

    Gradio writes the forwarded host and protocol into a page as they are, and answers a request
    for a part of a file with all of the request's own headers, those of a proxy among them. Its
    MCP server asks the page with the caller's headers, and with them the caller's address.
    """
    checked = {b"x-forwarded-host": _HOST, b"x-forwarded-proto": _PROTO}
    dropped = {name for name, drop in ((b"range", is_file), (b"x-forwarded-for", is_mcp)) if drop}
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name not in dropped and (name not in checked or checked[name].fullmatch(value))
    ]
    return {**scope, "headers": headers}


def added(is_file: bool, life: int = 0) -> list[tuple[bytes, bytes]]:
    """Files are a visitor's own: no cache keeps them. What is everybody's it may: ``life`` s."""
    if is_file:
        return [_NOSNIFF, _PRIVATE]
    kept = b", immutable" if life >= _YEAR else b""
    lasting = (b"cache-control", b"public, max-age=%d" % life + kept)
    return [_NOSNIFF, lasting] if life else [_NOSNIFF]


def is_foreign(scope: Scope) -> bool:
    """Whether another site's page sends this to a server that somebody runs for herself."""
    headers = dict(scope["headers"])
    cross = headers.get(b"sec-fetch-site") == b"cross-site"
    return cross and LOOPBACK.fullmatch(headers.get(b"host", b"")) is not None
