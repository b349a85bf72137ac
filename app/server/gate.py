"""What reaches the server at all: known addresses, bounded bodies, few requests at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import partial
from html import escape
from typing import Any
from weakref import WeakValueDictionary

from gradio.route_utils import FnIndexInferError
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.client_address import address_of
from app.server.headers import added, cleaned, is_foreign
from app.server.limits import (
    JSON_BYTES,
    LEAST,
    MAX_DIRECT,
    MAX_FILES,
    MAX_POSTS,
    MAX_QUERY,
    MAX_REQUESTS,
    MAX_WATCHED,
    MCP_BYTES,
    SPARE,
)
from app.server.request_body import is_upload, named_files, parsed
from app.server.upload_quota import Quota
from app.words.common import PAGES
from app.words.errors import GATE_WORDS, NOT_FOUND
from dga.data.uploads import MAX_BYTES

API = "/gradio_api"
FIRST_RUN = "first-run"  # what Try it opens with, which it asks for by itself
OPEN = {f"/{FIRST_RUN}", "/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {f"/{page}" for _, page in PAGES} | {f"/{page}/" for _, page in PAGES if page}
OPEN |= {
    f"{API}/{name}"
    for name in (
        "info", "openapi.json", "startup-events", "app_id", "theme.css", "queue/join", "queue/data",
        "queue/status", "upload", "upload_progress", "cancel", "reset",
        "mcp", "mcp/", "mcp/http", "mcp/http/", "mcp/schema",
    )
}  # fmt: skip
# Gradio's own files and the seconds that browsers may keep them; names in /assets/ hold a digest.
ASSETS = {"/assets/": 31_536_000, "/static/": 86_400, "/svelte/": 86_400}
SHARED_SECONDS = 3_600  # results that ship; another start may bring others
OPEN_BELOW = (*ASSETS, *(f"{API}/{name}" for name in ("call/", "run/", "file=", "heartbeat/")))

# What Gradio raises where a request names or sends what does not exist.
_MISUNDERSTOOD = (
    *(FnIndexInferError, KeyError, ValueError, TypeError, IndexError, AttributeError),
    *(RecursionError, ClientDisconnect),
)
_AT_A_TIME: tuple[tuple[int, Callable[[str, bool], bool]], ...] = (
    (MAX_REQUESTS, lambda path, post: True),
    (MAX_POSTS, lambda path, post: post),
    (MAX_WATCHED, lambda path, post: path == f"{API}/upload_progress"),
)
_CANCEL = f"{API}/cancel"
_DIRECT = f"{API}/run/"  # calls a function without the queue
_PART = b"content-disposition"  # begins the head of each part
_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")

_log = logging.getLogger(__name__)


class RefusedError(Exception):
    """A body that is not taken; ``status`` and a key of ``GATE_WORDS``."""

    def __init__(self, status: int, word: str) -> None:
        super().__init__(word)
        self.status, self.word = status, word


class Gate:
    """Middleware in front of all of Gradio; every refusal is one sentence in JSON.

    A browser that asks for a page that is not there gets the sentence as a page.

    ``has_room``: whether another upload can be kept; ``quota``: how much of one address;
    ``is_own``: whether a request to cancel names a run and its own session; ``shared``: files
    that are everybody's, which browsers may keep for a while.
    """

    def __init__(
        self,
        app: ASGIApp,
        has_room: Callable[[], bool] = lambda: True,
        quota: Quota | None = None,
        is_own: Callable[[dict[str, Any]], bool] = lambda values: True,
        shared: Collection[str] = (),
    ) -> None:
        self.app = app
        self.packed = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.has_room, self.is_own = has_room, is_own
        self.shared = {f"{API}/file={path}" for path in shared}
        self.quota = quota or Quota()
        self._there: Counter[tuple[int, str]] = Counter()
        self._direct: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._cancelling: set[Any] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, address, posts = path_of(scope), address_of(Request(scope)), scope["method"] == "POST"
        refused = self._refusal(scope)
        if refused is not None:
            answer = _not_found(scope) if refused[0] == 404 and _reads(scope) else _answer(*refused)
            await answer(scope, receive, send)
            return
        counted = [(n, address) for n, (_, counts) in enumerate(_AT_A_TIME) if counts(path, posts)]
        kept, add = most_bytes(path), partial(self.quota.add, address)
        if posts and keeps_files(path):
            kept = max(declared_bytes(scope), LEAST)
            if not add(kept):
                await _answer(429, "quota")(scope, receive, send)
                return
        body = _Body(receive, most_bytes(path), kept, add)
        self._there.update(counted)
        turn = self._direct.setdefault(address, asyncio.Semaphore(MAX_DIRECT))
        try:
            async with turn if path.startswith(_DIRECT) else nullcontext():
                await self._served(scope, body.receive, send)
        finally:
            self._there -= Counter(counted)  # without those that are none now

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        path, address, posts = path_of(scope), address_of(Request(scope)), scope["method"] == "POST"
        remote = is_file(path) and ":/" in path
        if remote or not (path in OPEN or path.startswith(OPEN_BELOW)):
            return 404, "closed"
        long = path.startswith(API) and len(scope["query_string"]) > MAX_QUERY
        if long or declared_bytes(scope) > most_bytes(path):
            return 413, "long"
        if posts and is_foreign(scope):
            return 403, "foreign_site"
        for number, (most, counts) in enumerate(_AT_A_TIME):
            if counts(path, posts) and self._there[number, address] >= most:
                return 429, "crowded"
        if posts and keeps_files(path) and not self.has_room():
            return 503, "full"
        return None

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and turn what is raised into a sentence unless an answer has begun."""
        begun = events = False
        path = path_of(scope)

        async def sent(message: Message) -> None:
            nonlocal begun, events
            if message["type"] == "http.response.start":
                begun, events = True, _EVENTS in message["headers"]
                life = SHARED_SECONDS if path in self.shared else life_of(path)
                life = life if message["status"] in (200, 304) else 0
                private = is_file(path) and path not in self.shared
                message["headers"] = [*message["headers"], *added(private, life)]
            await send(message)

        try:
            clean = cleaned(scope, is_file(path) or bool(life_of(path)), is_mcp(path))
            if scope["method"] == "POST" and path.startswith(API) and not keeps_files(path):
                await self._answered(clean, receive, sent)
            else:  # Gradio packs its assets itself
                app = self.app if life_of(path) else self.packed
                await app(clean, receive, sent)
        except Exception as error:
            status, word = _status_of(error)
            if status == 500 and not events:
                _log.exception("A request failed")
            if not begun:
                await _answer(status, word)(scope, receive, send)
            elif events:  # Gradio has sent the one that says so
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                raise

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request in JSON, which is looked at before Gradio sees it."""
        body = await Request(scope, receive).body()
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        values = parsed(body)
        if not all(is_upload(path) for path in named_files(values)):
            raise RefusedError(400, "foreign")
        if path_of(scope) != _CANCEL:
            await self.packed(scope, again, send)
            return
        # Cancelled in another's name Gradio's runs begin anew; of several at once it leaves traces.
        event = values.get("event_id")
        if event in self._cancelling or not self.is_own(values):
            await JSONResponse({"success": True})(scope, again, send)
            return
        self._cancelling.add(event)
        try:
            await self.app(scope, again, send)
        finally:
            self._cancelling.discard(event)


def path_of(scope: Scope) -> str:
    """The address below the folder that the page is mounted at."""
    return str(scope["path"].removeprefix(scope.get("root_path", "")))


def declared_bytes(scope: Scope) -> int:
    """Length of the body as its header says; 0 if it does not."""
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def most_bytes(path: str) -> int:
    """Length of the longest body that this address takes."""
    if path == f"{API}/upload":
        return MAX_BYTES + SPARE
    return MCP_BYTES if is_mcp(path) else JSON_BYTES


def keeps_files(path: str) -> bool:
    """Whether what is sent here may stay in the folder for uploads."""
    return path == f"{API}/upload" or is_mcp(path)


def life_of(path: str) -> int:
    """Seconds that browsers may keep what is here; 0 for all but Gradio's own files."""
    return next((seconds for start, seconds in ASSETS.items() if path.startswith(start)), 0)


def is_file(path: str) -> bool:
    """Whether this is the address of an upload or a result."""
    return path.startswith(f"{API}/file=")


def is_mcp(path: str) -> bool:
    """Whether assistants call here."""
    return path.startswith(f"{API}/mcp")


class _Body:
    """A request's body, counted as it comes, up to ``most`` bytes and few files.

    Of one that is longer than declared, ``counted``, ``add`` says whether more may come.
    """

    def __init__(
        self, receive: Receive, most: int, counted: int, add: Callable[[int], bool]
    ) -> None:
        self._receive, self._most = receive, most
        self._files, self._tail, self._taken = 0, b"", 0
        self._counted, self._add = counted, add

    async def receive(self) -> Message:
        message = await self._receive()
        body = message.get("body", b"")
        self._taken += len(body)
        read = self._tail + body.lower()
        self._files += read.count(_PART)
        self._tail = read[1 - len(_PART) :]
        if self._taken > self._most or self._files > MAX_FILES:
            raise RefusedError(413, "long")
        if self._taken > self._counted:
            if not self._add(self._taken - self._counted):
                raise RefusedError(429, "quota")
            self._counted = self._taken
        return message


def _status_of(error: Exception) -> tuple[int, str]:
    if isinstance(error, RefusedError):
        return error.status, error.word
    return (400, "misunderstood") if isinstance(error, _MISUNDERSTOOD) else (500, "failed")


def _reads(scope: Scope) -> bool:
    """Whether a person asks for a page to look at."""
    return scope["method"] == "GET" and b"text/html" in dict(scope["headers"]).get(b"accept", b"")


def _not_found(scope: Scope) -> HTMLResponse:
    start = escape(scope.get("root_path", ""))
    return HTMLResponse(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{NOT_FOUND['title']}</title>"
        '<body style="max-width:36em;margin:15vh auto;padding:0 16px;font:18px/28px system-ui">'
        f"<h1>{GATE_WORDS['closed']}</h1><p>{NOT_FOUND['help']}</p>"
        f'<p><a href="{start}/">{NOT_FOUND["back"]}</a></p></body></html>',
        404,
    )


def _answer(status: int, word: str) -> JSONResponse:
    return JSONResponse({"detail": GATE_WORDS[word]}, status)
