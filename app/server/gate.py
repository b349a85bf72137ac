"""The one door: known addresses, own origins, bounded bodies, our sentences, headers for all."""

from __future__ import annotations

import asyncio
import contextlib
import html
import ipaddress
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server import contents
from app.server.contents import REQUEST_FAILED, SESSION, ForeignFileError
from dga.data.uploads import MAX_BYTES

API = "/gradio_api"
FILE, UPLOAD = f"{API}/file=", f"{API}/upload"
MCP = {f"{API}/mcp{end}" for end in ("", "/", "/http", "/http/")}
OLD_ADDRESSES = {"photo": "", "board": "all-15", "findings": "results", "adapt": ""}
"""Old addresses of pages, and where they lead."""
GET_PATHS = re.compile(
    rf"/(all-15|results|learn|{'|'.join(OLD_ADDRESSES)}|plotly\.js|card\.png|favicon\.ico|robots\.txt|config)?"
    r"|/(files|recorded|results-files|photo|thumbnails|brushes)/.+|/static/fonts/[\w/.-]{1,99}"
    rf"|{API}/(info|openapi\.json|startup-events|app_id|mcp/schema|queue/data|call/.+)"
    rf"|{API}/(heartbeat/{SESSION.pattern}|file=(?!.*:/).+)"  # no other server's files
)
POST_PATHS = re.compile(
    rf"/photo|/reading|{API}/(upload|queue/join|cancel|reset|call/.+|mcp(/http)?/?)"
)
PATHS_BY_METHOD = {"GET": GET_PATHS, "HEAD": GET_PATHS, "POST": POST_PATHS}
CACHE_LIFETIMES = {
    "/files/": "public, max-age=31536000, immutable",
    **dict.fromkeys(("/static/fonts/", "/plotly.js"), "public, max-age=86400"),
    **dict.fromkeys(("/recorded/", "/results-files/"), "public, max-age=3600"),
}
"""How long browsers keep what is below an address; all else they do not keep."""
JSON_BYTES = 2**16
BODY_LIMITS = {"/photo": MAX_BYTES, UPLOAD: MAX_BYTES + 2**20} | dict.fromkeys(MCP, 2**22)  # bytes
BODY_SECONDS, WHOLE_SECONDS = 30.0, 300.0  # for the next piece of a body, and for all of them
CONCURRENT_LIMITS = {"GET": 512, "HEAD": 64, "POST": 64}  # of one address; an open page has two
REFUSALS = {
    "closed": (404, "There is nothing at this address."),
    "method": (405, "This address does not answer such requests."),
    "long": (413, f"The request is too long: a picture may have {MAX_BYTES // 2**20} MB."),
    "slow": (408, "The request did not arrive in time. Please try again."),
    "foreign": (403, "Another site's page cannot use this server. A proxy has to pass on Host, or "
                     "X-Forwarded-Host and be named in FORWARDED_ALLOW_IPS."),
    "crowded": (429, "Too many requests at once from your network. Please try again in a moment."),
    "quota": (429, "As many pictures as fit have come within an hour. Please try again later."),
    "full": (503, "The server is busy. Please try again in a minute."),
    "misunderstood": (400, "The request could not be understood."),
    "file": (400, "Only uploads are opened, neither addresses nor the server's own files."),
    "failed": (500, REQUEST_FAILED),
}  # fmt: skip
_BY_STATUS = {403: "closed", 404: "closed", 405: "method", 413: "long", 429: "full", 503: "full"}
_PAGE = Template((Path(__file__).parents[1] / "templates" / "refusal.html").read_text("utf-8"))
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)
_SEALED = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
_LOOPBACK = re.compile(r"(?i)((.+\.)?localhost\.?|127(\.\d+){1,3}|0(\.0+){0,3}|\[::1?\])(:\d+)?")
_SCHEME = re.compile(r"(https?(, *https?)*)?")
_HOST = re.compile(r"[\w.:\[\], -]*", re.ASCII)
_log = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request is not answered; the message is a key of :data:`REFUSALS`."""


class Allowance:
    """What each address may take: at most ``most`` in a period of ``seconds``.

    When a period ends, it ends for all addresses, and each may take as much again.
    """

    def __init__(self, most: float, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._taken, self._period = Counter[str](), 0.0

    def take(self, address: str, amount: float = 1) -> bool:
        """Take an amount, and return True; take nothing and return False where it is too much."""
        period = time.monotonic() // self.seconds
        if period != self._period:
            self._taken, self._period = Counter(), period
        while len(self._taken) > 4096:  # the oldest is forgotten
            del self._taken[next(iter(self._taken))]
        has_room = self._taken[address] + amount <= self.most
        self._taken[address] += int(amount * has_room)
        return has_room


class Gate:
    """Stands in front of ``app``. ``is_local``: this machine alone is served, by its own names.

    ``statuses``: of exceptions whose message is a sentence for visitors.
    """

    def __init__(
        self, app: ASGIApp, is_local: bool = False,
        statuses: Mapping[type[Exception], int] | None = None,
    ) -> None:  # fmt: skip
        self.app = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.is_local, self.statuses = is_local, statuses or {}
        self.is_proxied = any(map(os.environ.get, ("FORWARDED_ALLOW_IPS", "SPACE_ID")))
        self.open_requests: Counter[tuple[str, str]] = Counter()
        self.posts = Allowance(600, 10.0)
        self.uploads = Allowance(2**28, 3600.0)  # bytes that stay in Gradio's folder for a while
        self.space = Allowance(2**30, 3600.0)  # of all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer, key = _Answer(request, send), (address_of(scope), request.method)
        self.open_requests[key] += 1
        try:
            self.check(request, answer.path, key)
            if request.method == "POST":
                receive = _repeat(await read_body(request, answer.path), receive)
            await self.app(self.clean_scope(request), receive, answer.pass_on)
        except Exception as error:
            if answer.has_begun:
                raise
            await answer.refuse(*self.explain(error, answer.path))
        else:
            if not answer.has_begun:
                word = "failed" if answer.status >= 500 else "misunderstood"
                await answer.refuse(*REFUSALS[_BY_STATUS.get(answer.status, word)])
        finally:
            self.open_requests -= Counter([key])  # without those that are none

    def check(self, request: Request, path: str, key: tuple[str, str]) -> None:
        """Raise :class:`RefusedError` for what need not even be read."""
        address, method = key
        methods = {name for name, addresses in PATHS_BY_METHOD.items() if addresses.fullmatch(path)}
        if method not in methods:
            raise RefusedError("method" if methods else "closed")
        size = int(request.headers.get("content-length", 0))
        if size > BODY_LIMITS.get(path, JSON_BYTES):
            raise RefusedError("long")
        if self.is_foreign(request):
            raise RefusedError("foreign")
        if not all(map(SESSION.fullmatch, request.query_params.getlist("session_hash"))):
            raise RefusedError("misunderstood")
        if self.open_requests[key] > CONCURRENT_LIMITS[method]:
            raise RefusedError("crowded")
        if method == "POST" and not self.posts.take(address):
            raise RefusedError("crowded")
        if path == UPLOAD or path in MCP:
            size = max(size or BODY_LIMITS[path], 2**16)
            if not self.uploads.take(address, size):
                raise RefusedError("quota")
            if not self.space.take("all", size):
                raise RefusedError("full")

    def is_foreign(self, request: Request) -> bool:
        """Whether another origin's page asks, or by a name that may point here from elsewhere."""
        headers, host = request.headers, request.headers.get("host", "")
        is_loopback = _LOOPBACK.fullmatch(host) is not None
        if _HOST.fullmatch(host) is None or (self.is_local and not is_loopback):
            return True
        may_be_read = headers.get("sec-fetch-mode") == "navigate" or not is_loopback
        if request.method != "POST" and may_be_read:
            return False
        if "sec-fetch-site" in headers:
            return headers["sec-fetch-site"] not in ("same-origin", "none")
        names = {host}
        if self.is_proxied:
            names.update(re.split(r", *", headers.get("x-forwarded-host", "")))
        return "origin" in headers and headers["origin"].partition("://")[2] not in names - {""}

    def clean_scope(self, request: Request) -> Scope:
        """The request without what Gradio would believe, or write into its answer."""
        dropped = {b"x-forwarded-for", b"x-gradio-server", b"x-gradio-user", b"range"}
        host, scheme = (request.headers.get(f"x-forwarded-{n}", "") for n in ("host", "proto"))
        if not (self.is_proxied and _HOST.fullmatch(host) and _SCHEME.fullmatch(scheme)):
            dropped |= {b"x-forwarded-host", b"x-forwarded-proto"}
        headers = [pair for pair in request.headers.raw if pair[0] not in dropped]
        return {**request.scope, "headers": headers}

    def explain(self, error: Exception, path: str) -> tuple[int, str]:
        """The status and the sentence of what went wrong."""
        if isinstance(error, RefusedError):
            return REFUSALS[str(error)]
        if status := self.statuses.get(type(error)):
            return status, str(error)
        if isinstance(error, ValueError) and path.startswith(API):
            return REFUSALS["misunderstood"]
        _log.error("A request failed", exc_info=error)
        return REFUSALS["failed"]


class _Answer:
    """The answer to one request, with the headers of all; a refusal gets a sentence of ours.

    ``path``: what is asked for, below the prefix at which this server is reached.
    """

    def __init__(self, request: Request, send: Send) -> None:
        self.request, self.send, self.status, self.has_events = request, send, 0, False
        self.root = urlsplit(str(request.scope.get("root_path", ""))).path.rstrip("/")
        path = str(request.scope["path"])
        is_below = f"{path}/".startswith(f"{self.root}/")
        self.path = (path.removeprefix(self.root) if is_below else path) or "/"
        lives = (life for start, life in CACHE_LIFETIMES.items() if self.path.startswith(start))
        self.headers = {
            "cache-control": next(lives, "private, no-store"),
            "content-security-policy": _POLICY,
            "referrer-policy": "same-origin",
            "x-content-type-options": "nosniff",
        }
        if self.path.startswith((FILE, "/photo/")):
            self.headers["content-security-policy"] = _SEALED

    @property
    def has_begun(self) -> bool:
        """Whether anything was sent."""
        return 0 < self.status < 400

    async def pass_on(self, message: Message) -> None:
        """Send a part of an answer; nothing of a refusal."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.update(self.headers)
            self.has_events = "event-stream" in headers.get("content-type", "")
        elif self.has_events:
            message["body"] = contents.clean_events(message.get("body", b""))
        if self.has_begun:
            await self.send(message)

    async def refuse(self, status: int, sentence: str) -> None:
        """Answer with one sentence: as a page where a person looks, else as JSON."""
        answer: Response = JSONResponse({"detail": sentence}, status)
        is_page = "text/html" in self.request.headers.get("accept", "")
        if is_page and self.request.method != "POST":
            page = _PAGE.substitute(sentence=html.escape(sentence), root=self.root)
            answer = HTMLResponse(page, status)
        answer.headers.update(self.headers | {"cache-control": "private, no-store"})
        await answer(self.request.scope, self.request.receive, self.send)


async def read_body(request: Request, path: str) -> bytes:
    """A whole body; of JSON what was understood of it. Raises :class:`RefusedError`."""
    body, end = bytearray(), time.monotonic() + WHOLE_SECONDS
    try:
        async with asyncio.timeout(BODY_SECONDS) as clock:
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_LIMITS.get(path, JSON_BYTES):
                    raise RefusedError("long")
                left = min(BODY_SECONDS, end - time.monotonic())
                clock.reschedule(asyncio.get_running_loop().time() + left)
        if path == UPLOAD or not path.startswith(API):
            return bytes(body)
        return contents.check_json(bytes(body), path in MCP)
    except TimeoutError:
        raise RefusedError("slow") from None
    except ForeignFileError:
        raise RefusedError("file") from None
    except LookupError:
        raise RefusedError("closed") from None
    except (ValueError, RecursionError, ClientDisconnect):
        raise RefusedError("misunderstood") from None


def _repeat(body: bytes, receive: Receive) -> Receive:
    """What was read already, once; then whatever else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def address_of(scope: Scope) -> str:
    """Whom a request counts for: its address, of IPv6 the network that one customer has."""
    host = str((scope.get("client") or ("",))[0])
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if isinstance(address, ipaddress.IPv6Address):
            return str(address.ipv4_mapped or ipaddress.ip_network((int(address), 64), False))
    return host
