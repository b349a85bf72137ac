"""Headers that are not passed on to Gradio, and those that every answer gets."""

from __future__ import annotations

import re

from starlette.types import Scope

LOOPBACK = re.compile(rb"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?")
_HOST = re.compile(rb"[\w.:\[\], -]*")
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_PRIVATE = (b"cache-control", b"private, no-store")


def cleaned(scope: Scope, is_file: bool) -> Scope:
    """The request without what would come back in the answer.

    Gradio writes the forwarded host into a page as it is, and answers a request for a part of a
    file with all of the request's own headers, those of a proxy among them.
    """
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if not (is_file and name == b"range")
        and (name != b"x-forwarded-host" or _HOST.fullmatch(value))
    ]
    return {**scope, "headers": headers}


def added(is_file: bool) -> list[tuple[bytes, bytes]]:
    """Files are a visitor's own: no cache on the way keeps them."""
    return [_NOSNIFF, _PRIVATE] if is_file else [_NOSNIFF]


def is_foreign(scope: Scope) -> bool:
    """Whether another site's page sends this to a server that somebody runs for herself."""
    headers = dict(scope["headers"])
    cross = headers.get(b"sec-fetch-site") == b"cross-site"
    return cross and LOOPBACK.fullmatch(headers.get(b"host", b"")) is not None
