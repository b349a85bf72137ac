"""The one door: known addresses, own origins, bounded bodies, our sentences, headers for all."""

from __future__ import annotations

import asyncio
import html
import ipaddress
import json
import logging
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server import contents
from app.server.contents import FAILED, SESSION, ForeignFileError

API = "/gradio_api"
CALL, FILE, HEARTBEAT, UPLOAD = (f"{API}/{n}" for n in ("call/", "file=", "heartbeat/", "upload"))
MCP = {f"{API}/mcp{end}" for end in ("", "/", "/http", "/http/")}
POSTED = {"/photo", UPLOAD, f"{API}/queue/join", f"{API}/cancel", f"{API}/reset", *MCP}
READ = {"/", "/all-15", "/results", "/learn", "/photo", "/board", "/findings", "/adapt"}
READ |= {"/favicon.ico", "/robots.txt", "/config", f"{API}/mcp/schema", f"{API}/queue/data"}
READ |= {f"{API}/{name}" for name in ("info", "openapi.json", "startup-events", "app_id")}
YEAR = 31_536_000
LIVES = {"/files/": YEAR, "/static/fonts/": 86_400, "/plotly.js": 86_400}  # seconds, in browsers
LIVES |= {"/recorded/": 3_600, "/results-files/": 3_600}
OURS = ("/photo", "/thumbnails/")  # whose refusals are our own sentences
READ_BELOW = (*LIVES, "/photo/", "/thumbnails/", CALL, FILE, HEARTBEAT)
JSON_BYTES, NAME_BYTES, QUERY_BYTES = 2**16, 255, 2**10
LONGEST = {"/photo": 20 * 2**20, UPLOAD: 21 * 2**20} | dict.fromkeys(MCP, 2**22)  # bytes
BODY_SECONDS = 30.0  # for the next piece of a body, and for the whole of one in JSON
WHOLE_SECONDS = 300.0  # for all pieces of another
MOST_PRESENT = {False: 512, True: 64}  # requests of one address, posts; an open page has two
SAYS = {
    "closed": (404, "There is nothing at this address."),
    "method": (405, "This address does not answer such requests."),
    "long": (413, "The request is too long: a picture may have 20 MB."),
    "slow": (408, "The request did not arrive in time. Please try again."),
    "foreign": (403, "Another site's page cannot use this server. A proxy has to pass on Host, or "
                     "X-Forwarded-Host and be named in FORWARDED_ALLOW_IPS."),
    "crowded": (429, "Too many requests at once from your network. Please try again in a moment."),
    "quota": (429, "As many pictures as fit have come within an hour. Please try again later."),
    "full": (503, "The server is busy. Please try again in a minute."),
    "misunderstood": (400, "The request could not be understood."),
    "file": (400, "Only uploads are opened, neither addresses nor the server's own files."),
    "failed": (500, FAILED),
}  # fmt: skip
_WORDS = {403: "closed", 404: "closed", 405: "method", 413: "long", 429: "full", 503: "full"}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{0}</title>
<style>body {{font: 20px/1.5 sans-serif; color-scheme: light dark; margin: 20vh 10vw}}</style>
<h1>{0}</h1><p><a href="{1}/">Go to the first page</a></p></html>"""
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
    """What is not taken; the message is a key of ``SAYS``."""


class Bucket:
    """What each address took of late: at most ``most``, which is forgotten within ``seconds``."""

    def __init__(self, most: float, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._levels: dict[str, tuple[float, float]] = {}  # how much, as of when; oldest first

    def take(self, address: str, amount: float = 1) -> bool:
        """Take so much more, if there is room for it."""
        now = time.monotonic()
        level, since = self._levels.pop(address, (0.0, now))
        level = max(0.0, level - (now - since) * self.most / self.seconds)
        has_room = level + amount <= self.most
        self._levels[address] = level + amount * has_room, now
        while len(self._levels) > 4096:
            del self._levels[next(iter(self._levels))]
        return has_room


class Gate:
    """Stands in front of ``app``. ``is_local``: this machine alone is served, by its own names."""

    def __init__(self, app: ASGIApp, is_local: bool = False) -> None:
        self.app = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.is_local = is_local
        self.is_proxied = any(map(os.environ.get, ("FORWARDED_ALLOW_IPS", "SPACE_ID")))
        self.present: Counter[tuple[str, bool]] = Counter()
        self.posts = Bucket(600, 10.0)
        self.uploads = Bucket(2**28, 3600.0)  # bytes that stay in Gradio's folder for a while

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(self, scope, receive, send) if scope["type"] == "http" else None
        await (exchange.run() if exchange else self.app(scope, receive, send))


def stand_in_front(is_local: bool) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """A lifespan with which the gate is outside of all middleware, Gradio's own included."""

    @asynccontextmanager
    async def lifespan(server: Starlette) -> AsyncIterator[None]:
        assert server.middleware_stack is not None
        server.middleware_stack = Gate(server.middleware_stack, is_local)
        yield

    return lifespan


def address_of(scope: Scope) -> str:
    """Whom a request counts for: its address, of IPv6 the network that one customer has."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.IPv6Network((int(address), 64), strict=False))
    return str(getattr(address, "ipv4_mapped", address))


class _Exchange:
    """One request and its answer."""

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self.gate, self.scope, self.receive, self.send = gate, scope, receive, send
        self.headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in scope["headers"]}
        self.root = urlsplit(str(scope.get("root_path", ""))).path.rstrip("/")
        path = str(scope["path"])
        is_below = f"{path}/".startswith(f"{self.root}/")
        self.path = (path.removeprefix(self.root) if is_below else path) or "/"
        self.is_post, self.address = scope["method"] == "POST", address_of(scope)
        self.longest = LONGEST.get(self.path, JSON_BYTES)
        length = self.headers.get("content-length", "")
        self.length = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else 0
        self.begun, self.received, self.is_whole = time.monotonic(), 0, False  # of the body
        self.refusal, self.status, self.reason = "", 0, b""  # ours; that of the server behind
        self.has_begun = self.has_events = False  # the answer

    async def run(self) -> None:
        keys = {(self.address, False), (self.address, self.is_post)}
        try:
            self.look()
            self.gate.present.update(keys)
            try:
                is_json = self.is_post and self.path.startswith(API) and self.path != UPLOAD
                receive = await self.read_json() if is_json else self.read
                await self.gate.app(self.clean_scope(), receive, self.pass_on)
            finally:
                self.gate.present -= Counter(keys)  # without those that are none
        except Exception as error:
            if self.has_begun:
                raise
            is_odd = isinstance(error, ClientDisconnect | ValueError) and self.path.startswith(API)
            if isinstance(error, RefusedError) or is_odd:
                self.refusal = self.refusal or ("misunderstood" if is_odd else str(error))
            else:
                _log.error("A request failed", exc_info=error)
                self.refusal = "failed"
        if (self.refusal or self.status) and not self.has_begun:
            await self.refuse()

    def look(self) -> None:
        """Raise :class:`RefusedError` for what need not even be read."""
        path, gate, query = self.path, self.gate, self.scope["query_string"].decode("latin-1")
        may_post, may_read = path in POSTED or path.startswith(CALL), path in READ
        may_read = may_read or path.startswith(READ_BELOW)
        is_odd = path.startswith(FILE) and ":/" in path
        is_odd = is_odd or any(len(part.encode()) > NAME_BYTES for part in path.split("/"))
        if is_odd or not (may_post or may_read):
            raise RefusedError("closed")
        if not (may_post if self.is_post else may_read and self.scope["method"] in ("GET", "HEAD")):
            raise RefusedError("method")
        if len(query) > QUERY_BYTES or self.length > self.longest:
            raise RefusedError("long")
        if self.is_foreign():
            raise RefusedError("foreign")
        sessions = parse_qs(query, keep_blank_values=True).get("session_hash", [])
        sessions += [path.removeprefix(HEARTBEAT)] if path.startswith(HEARTBEAT) else []
        if not all(map(SESSION.fullmatch, sessions)):
            raise RefusedError("misunderstood")
        kinds = {False, self.is_post}
        is_crowded = any(gate.present[self.address, kind] >= MOST_PRESENT[kind] for kind in kinds)
        if is_crowded or (self.is_post and not gate.posts.take(self.address)):
            raise RefusedError("crowded")
        is_stored = self.is_post and (path == UPLOAD or path in MCP)
        size = max(self.length or self.longest, 2**16)
        if is_stored and not gate.uploads.take(self.address, size):
            raise RefusedError("quota")
        if is_stored and not gate.uploads.take("all", size / 4):
            raise RefusedError("full")

    def is_foreign(self) -> bool:
        """Whether another origin's page asks, or by a name that may point here from elsewhere."""
        headers, host = self.headers, self.headers.get("host", "")
        is_loopback = _LOOPBACK.fullmatch(host) is not None
        if _HOST.fullmatch(host) is None or (self.gate.is_local and not is_loopback):
            return True
        if not self.is_post and (not is_loopback or headers.get("sec-fetch-mode") == "navigate"):
            return False  # links may
        if "sec-fetch-site" in headers:
            return headers["sec-fetch-site"] not in ("same-origin", "none")
        names = {host}
        if self.gate.is_proxied:
            names.update(re.split(r", *", headers.get("x-forwarded-host", "")))
        return "origin" in headers and headers["origin"].partition("://")[2] not in names - {""}

    async def read(self) -> Message:
        """The next piece of the body, or the client who leaves."""
        if self.is_whole:
            return await self.receive()
        try:
            left = self.begun + WHOLE_SECONDS - time.monotonic()
            async with asyncio.timeout(min(BODY_SECONDS, left)):
                message = await self.receive()
            self.is_whole = not message.get("more_body")
            self.received += len(message.get("body", b""))
            if self.received > self.longest:
                raise RefusedError("long")
        except (TimeoutError, RefusedError) as error:  # whatever the server behind makes of it
            self.refusal = str(error) or "slow"
            raise RefusedError(self.refusal) from None
        return message

    async def read_json(self) -> Receive:
        """Read and check a whole body; what was checked is what is read behind."""
        body = b""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while not self.is_whole:
                    body += (await self.read()).get("body", b"")
            values = contents.read_json(body)
            if self.path in MCP:
                contents.check_message(values)
        except ForeignFileError:
            raise RefusedError("file") from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            word = "closed" if isinstance(error, LookupError) else "misunderstood"
            raise RefusedError(word) from None
        except TimeoutError:
            raise RefusedError("slow") from None
        messages: list[Message] = [{"type": "http.request", "body": json.dumps(values).encode()}]

        async def again() -> Message:
            return messages.pop() if messages else await self.receive()

        return again

    def clean_scope(self) -> Scope:
        """The request without what Gradio would believe, or write into its answer."""
        dropped = {b"x-forwarded-for", b"x-gradio-server", b"x-gradio-user", b"range"}
        host, scheme = (self.headers.get(f"x-forwarded-{part}", "") for part in ("host", "proto"))
        if not (self.gate.is_proxied and _HOST.fullmatch(host) and _SCHEME.fullmatch(scheme)):
            dropped |= {b"x-forwarded-host", b"x-forwarded-proto"}
        return {**self.scope, "headers": [p for p in self.scope["headers"] if p[0] not in dropped]}

    async def pass_on(self, message: Message) -> None:
        """An answer's parts, with the headers of all; a refusal is held back until its end."""
        if message["type"] == "http.response.start":
            self.status = message["status"] if message["status"] >= 400 else 0
            self.has_begun = not self.status
            self.has_events = any(b"event-stream" in value for _, value in message["headers"])
            message = {**message, "headers": self.headers_of(message["headers"])}
        elif self.status:
            self.reason = (self.reason + message.get("body", b""))[:JSON_BYTES]
        elif self.has_events:
            message = {**message, "body": contents.clean_events(message.get("body", b""))}
        if not self.status:
            await self.send(message)

    def headers_of(self, pairs: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """An answer's headers, with ours in place of those of the same names."""
        life = next((life for start, life in LIVES.items() if self.path.startswith(start)), 0)
        life = 0 if self.status or self.refusal else life
        caching = f"public, max-age={life}{', immutable' * (life == YEAR)}"
        is_file = self.path.startswith((FILE, "/photo/"))
        ours = {
            "cache-control": caching if life else "private, no-store",
            "content-security-policy": _SEALED if is_file else _POLICY,
            "referrer-policy": "same-origin",
            "x-content-type-options": "nosniff",
        }
        others = [pair for pair in pairs if pair[0].decode("latin-1").lower() not in ours]
        return [*others, *((name.encode(), value.encode()) for name, value in ours.items())]

    async def refuse(self) -> None:
        """Answer with one sentence: as a page where a person looks, else as JSON."""
        word = _WORDS.get(self.status, "failed" if self.status >= 500 else "misunderstood")
        status, sentence = SAYS[self.refusal or word]
        if not self.refusal and self.path.startswith(OURS):
            try:
                detail = json.loads(self.reason)["detail"]
            except (ValueError, LookupError, TypeError):
                detail = None
            if contents.is_sentence(detail):
                status, sentence = self.status, detail
        answer: Response = JSONResponse({"detail": sentence}, status)
        if "text/html" in self.headers.get("accept", "") and not self.is_post:
            answer = HTMLResponse(_PAGE.format(html.escape(sentence), self.root), status)
        answer.raw_headers = self.headers_of(answer.raw_headers)
        await answer(self.scope, self.receive, self.send)
