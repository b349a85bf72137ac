"""The one door: known addresses, own origins, bounded bodies, our sentences, headers for all."""

from __future__ import annotations

import asyncio
import contextlib
import html
import logging
import os
import re
import time
from contextlib import ExitStack
from pathlib import Path
from string import Template
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.server import contents
from app.server.contents import SESSION
from app.server.visitors import (
    REFUSALS,
    RefusedError,
    VisitorError,
    Visitors,
    count_blocks,
    find_address,
)
from dga.data.uploads import MAX_BYTES, UploadError

API = "/gradio_api"
FILE, UPLOAD = f"{API}/file=", f"{API}/upload"
MCP = {f"{API}/mcp{end}" for end in ("", "/", "/http", "/http/")}
GET_PATHS = re.compile(
    r"/(all-15|results|learn|plotly\.js|card\.png|favicon\.ico|robots\.txt|config)?"
    r"|/(files|recorded|results-files|photo|brushes|thumbnails)/.+|/static/fonts/[\w/.-]{1,99}"
    rf"|{API}/(info|openapi\.json|startup-events|app_id|mcp/schema|queue/data|call/.+)"
    rf"|{API}/(heartbeat/{SESSION.pattern}|file=(?!.*:/).+)"  # no other server's files
)
POST_PATHS = re.compile(
    rf"/photo|/watch|/reading|/frame(/repair)?|{API}/(upload|queue/join|cancel|reset|call/.+|mcp(/http)?/?)"
)
PATHS_BY_METHOD = {"GET": GET_PATHS, "HEAD": GET_PATHS, "POST": POST_PATHS}
CACHE_LIFETIMES = {
    "/files/": "public, max-age=31536000, immutable",
    **dict.fromkeys(("/static/fonts/", "/plotly.js"), "public, max-age=86400"),
    **dict.fromkeys(("/recorded/", "/results-files/"), "public, max-age=3600"),
}
"""How long browsers keep what is below an address; all else they do not keep."""
JSON_BYTES = 2**16
FRAMES = {"/frame", "/frame/repair"}
BODY_LIMITS = (  # bytes
    {"/photo": MAX_BYTES, UPLOAD: MAX_BYTES + 2**20}
    | dict.fromkeys(MCP, 2**22)
    | dict.fromkeys(FRAMES, 2**18)
)
BODY_SECONDS, WHOLE_SECONDS = 30.0, 300.0  # for the next piece of a body, and for all of them
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


class Gate:
    """Stands in front of ``app``. ``is_local``: this machine alone is served, by its own names."""

    def __init__(
        self, app: ASGIApp, is_local: bool = False, visitors: Visitors | None = None
    ) -> None:
        self.app = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.is_local, self.visitors = is_local, visitors or Visitors()
        self.proxies: Any = ProxyHeadersMiddleware(cast(Any, self.answer), self.visitors.proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Named proxies alone say for whom, and under which name, they ask."""
        peer = (scope.get("client") or ("",))[0]
        if peer not in self.proxies.trusted_hosts and "SPACE_ID" not in os.environ:
            headers = scope.get("headers", [])
            headers = [pair for pair in headers if not pair[0].startswith(b"x-forwarded-")]
            scope = {**scope, "headers": headers}
        await self.proxies(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is answered, or refused; what was lent for it comes back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer, address = _Answer(request, send), find_address(scope)
        with contextlib.ExitStack() as loans:
            try:
                self.check(request, answer.path)
                self.visitors.admit(request, address, loans)
                if request.method == "POST":
                    body = await self.read_body(request, answer.path, address, loans)
                    receive = _repeat(body, receive)
                await self.app(self.clean_scope(request), receive, answer.pass_on)
                if not answer.has_begun:
                    word = "failed" if answer.status >= 500 else "misunderstood"
                    raise RefusedError(_BY_STATUS.get(answer.status, word))
            except Exception as error:
                if not answer.has_begun:
                    await answer.refuse(*explain(error, answer.path))
                elif isinstance(error.__cause__ or error, HTTPException):
                    await send({"type": "http.response.body"})  # which has said so already
                else:
                    raise

    def check(self, request: Request, path: str) -> None:
        """Raise :class:`RefusedError` for what need not even be counted."""
        method = request.method
        methods = {name for name, addresses in PATHS_BY_METHOD.items() if addresses.fullmatch(path)}
        if method not in methods:
            raise RefusedError("method" if methods else "closed")
        if int(request.headers.get("content-length", 0)) > BODY_LIMITS.get(path, JSON_BYTES):
            raise RefusedError("long")
        if self.is_foreign(request):
            raise RefusedError("foreign")
        if not all(map(SESSION.fullmatch, request.query_params.getlist("session_hash"))):
            raise RefusedError("misunderstood")

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
        names = {host, *re.split(r", *", headers.get("x-forwarded-host", ""))}
        return "origin" in headers and headers["origin"].partition("://")[2] not in names - {""}

    def clean_scope(self, request: Request) -> Scope:
        """The request without what Gradio would believe, or write into its answer."""
        dropped = {b"x-forwarded-for", b"x-gradio-server", b"x-gradio-user", b"range"}
        host, scheme = (request.headers.get(f"x-forwarded-{n}", "") for n in ("host", "proto"))
        if not (_HOST.fullmatch(host) and _SCHEME.fullmatch(scheme)):
            dropped |= {b"x-forwarded-host", b"x-forwarded-proto"}
        headers = [pair for pair in request.headers.raw if pair[0] not in dropped]
        return {**request.scope, "headers": headers}

    async def read_body(self, request: Request, path: str, address: str, loans: ExitStack) -> bytes:
        """A whole body; of JSON what was understood of it. Raises :class:`RefusedError`."""
        body, end = bytearray(), time.monotonic() + WHOLE_SECONDS
        try:
            async with asyncio.timeout(BODY_SECONDS) as clock:
                async for piece in request.stream():
                    self.visitors.bodies.lend(address, loans, len(piece))
                    body += piece
                    if len(body) > BODY_LIMITS.get(path, JSON_BYTES):
                        raise RefusedError("long")
                    left = min(BODY_SECONDS, end - time.monotonic())
                    clock.reschedule(asyncio.get_running_loop().time() + left)
            if path == UPLOAD and body.lower().count(b"content-disposition") > 1:
                raise RefusedError("several")
            if path == UPLOAD or path in MCP:
                self.visitors.files.take(address, count_blocks(len(body)))
            if path in (UPLOAD, "/photo", *FRAMES):
                return bytes(body)
            return contents.check_json(bytes(body), path in MCP)
        except TimeoutError:
            raise RefusedError("slow") from None
        except (ValueError, RecursionError, ClientDisconnect):
            raise RefusedError("misunderstood") from None


def explain(error: Exception, path: str = "") -> tuple[int, str]:
    """The status and the sentence of what went wrong, for visitors."""
    if isinstance(error, VisitorError | UploadError):
        return getattr(error, "status", 400), str(error)
    if isinstance(error, ValueError) and path.startswith(API):
        _log.info("A request was not understood", exc_info=error)
        return REFUSALS["misunderstood"]
    _log.error("A request failed", exc_info=error)
    return REFUSALS["memory" if isinstance(error, MemoryError) else "failed"]


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
            "permissions-policy": "camera=(self), microphone=(), geolocation=()",
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


def _repeat(body: bytes, receive: Receive) -> Receive:
    """What was read already, once; then whatever else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
