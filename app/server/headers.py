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
YEAR = 31_536_000  # seconds
_PAGE = (  # Gradio makes functions of strings and writes styles and scripts into its page
    b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    b"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    b"media-src 'self' data: blob:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    b"object-src 'none'; base-uri 'self'; form-action 'self'; "
    b"frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)
_FILE = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


def cleaned(scope: Scope, is_file: bool, is_mcp: bool, proxied: bool) -> Scope:
    """The request without what would come back in the answer.

    Gradio writes the forwarded host and protocol into a page as they are, and another server's
    address as its own; it answers a request for a part of a file with all of the request's own
    headers, those of a proxy among them. Its MCP server asks the page with the caller's headers,
    and with them the caller's address. ``proxied``: a proxy was named, whose word counts.
    """
    known = {b"host": _HOST}
    dropped = {b"x-gradio-server", b"x-gradio-user"}
    dropped |= {name for name, drop in ((b"range", is_file), (b"x-forwarded-for", is_mcp)) if drop}
    if proxied:
        known |= {b"x-forwarded-host": _HOST, b"x-forwarded-proto": _PROTO}
    else:
        dropped |= {b"x-forwarded-host", b"x-forwarded-proto"}
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name not in dropped and (name not in known or known[name].fullmatch(value))
    ]
    return {**scope, "headers": headers}


def added(
    headers: list[tuple[bytes, bytes]], is_file: bool, life: int = 0
) -> list[tuple[bytes, bytes]]:
    """An answer's headers with ours: no cache keeps it but what is everybody's, ``life`` s."""
    kept = b", immutable" if life >= YEAR else b""
    ours = {
        b"cache-control": b"public, max-age=%d" % life + kept if life else b"private, no-store",
        b"content-security-policy": _FILE if is_file else _PAGE,
        b"referrer-policy": b"same-origin",
        b"x-content-type-options": b"nosniff",
    }
    return [*(pair for pair in headers if pair[0] not in ours), *ours.items()]


_FORWARDED = (b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-for", b"forwarded")


def is_forwarded(scope: Scope) -> bool:
    """Whether a proxy says that it passes this request on for somebody."""
    return any(name in _FORWARDED for name, _ in scope["headers"])


def is_foreign(scope: Scope, local: bool, proxied: bool = False) -> bool:
    """Whether another origin's page asks a server that somebody runs for herself; links may.

    ``local``: served to this machine alone, which then answers to no other name: whoever owns
    one may let it point here. ``proxied``: behind a proxy that was named; what it passes on comes
    by another name than the one that arrives here. No page can add such a header by itself.
    """
    if proxied and is_forwarded(scope):
        return False
    headers = dict(scope["headers"])
    host, site = headers.get(b"host", b""), headers.get(b"sec-fetch-site")
    if LOOPBACK.fullmatch(host) is None:
        return local
    reads = scope["method"] in ("GET", "HEAD")
    if reads and headers.get(b"sec-fetch-mode", b"navigate") == b"navigate":
        # Without that header and without HTTPS nothing the page sends will be taken: said at once.
        by_browser = (
            b"text/html" in headers.get(b"accept", b"") and b"sec-fetch-mode" not in headers
        )
        name = headers.get(b"x-forwarded-host", b"localhost")
        return by_browser and not proxied and LOOPBACK.fullmatch(name) is None
    elsewhere = headers.get(b"origin") not in (None, b"http://" + host, b"https://" + host)
    return site in (b"cross-site", b"same-site") or (elsewhere and site != b"same-origin")
