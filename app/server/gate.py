"""The one door: known addresses, whole and bounded bodies, turns, sentences, headers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

from gradio.route_utils import FnIndexInferError
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.parts.html import rendered
from app.server import limits
from app.server.client_address import address_of
from app.server.headers import added, cleaned, is_foreign
from app.server.mcp_errors import answer_to
from app.server.request_body import is_name, is_upload, named_files, parsed
from app.words.common import PAGES
from app.words.errors import GATE_WORDS, NOT_FOUND
from dga.data.uploads import MAX_BYTES

API = "/gradio_api"
FIRST_RUN = "first-run"  # what Try it opens with, which it asks for by itself
FIRST_PHOTO = "first-photo"  # and what Photo does
OPEN = {
    f"/{FIRST_RUN}",
    f"/{FIRST_PHOTO}",
    "/config",
    "/theme.css",
    "/favicon.ico",
    "/manifest.json",
    "/robots.txt",
}
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
    (limits.MAX_REQUESTS, lambda path, post: True),
    (limits.MAX_POSTS, lambda path, post: post),
    (limits.MAX_WATCHED, lambda path, post: path == f"{API}/upload_progress"),
)
_CANCEL = f"{API}/cancel"
_DIRECT = f"{API}/run/"  # calls a function without the queue
_PART = b"content-disposition"  # begins the head of each part
_BOUNDARY = re.compile(rb'boundary="?([^";,]+)')
_FILENAME = re.compile(rb'filename\*?\s*=\s*("[^"\r\n]*"|[^;\r\n]*)', re.IGNORECASE)
_KIND = re.compile(rb"\.(png|jpe?g|webp|gif|tiff?|bmp|hei[cf])\W*$", re.IGNORECASE)
_KEY = secrets.token_bytes(32)
_LONGEST_HEAD = 2**14  # of a part
_EVENTS = b"text/event-stream"
_WORDS = {403: "closed", 404: "closed", 413: "long"}  # of refusals that are not ours
_TOLD = {429, 503, 507}  # those that are
_MOST_TOLD = 2**14  # bytes of a refusal

_log = logging.getLogger(__name__)


class RefusedError(Exception):
    """What is not taken; ``status`` and a key of ``GATE_WORDS``."""

    def __init__(self, status: int, word: str) -> None:
        super().__init__(word)
        self.status, self.word = status, word


class Gate:
    """Middleware in front of all of Gradio; every refusal is one sentence in JSON.

    A browser that asks for a page that is not there gets the sentence as a page.

    ``has_room``: whether another upload can be kept; ``count``: takes so many bytes of an address;
    ``is_own``: whether a request to cancel names a run and its own session; ``shared``: files
    that are everybody's, which browsers may keep for a while; ``local``: served to this machine
    alone; ``proxied``: behind a proxy that was named.
    """

    def __init__(
        self,
        app: ASGIApp,
        has_room: Callable[[], bool] = lambda: True,
        count: Callable[[str, int], bool] = lambda address, length: True,
        is_own: Callable[[dict[str, Any]], bool] = lambda values: True,
        shared: Collection[str] = (),
        local: bool = False,
        proxied: bool = False,
    ) -> None:
        self.app = app
        self.packed = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.has_room, self.count, self.is_own = has_room, count, is_own
        self.shared = {f"{API}/file={path}" for path in shared}
        self.local, self.proxied = local, proxied
        self._there: Counter[tuple[int, str]] = Counter()
        self._direct: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._cancelling: set[Any] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, address = path_of(scope), address_of(Request(scope))
        posts = scope["method"] == "POST"
        life = SHARED_SECONDS if path in self.shared else life_of(path)
        answer = _Answer(scope, send, is_file(path) and path not in self.shared, life)
        counted = [(n, address) for n, (_, counts) in enumerate(_AT_A_TIME) if counts(path, posts)]
        try:
            self._look(scope, path, address, posts)
            kept, add = most_bytes(path), partial(self.count, address)
            if posts and keeps_files(path):
                kept = max(declared_bytes(scope), limits.LEAST)
                if not add(kept):
                    raise RefusedError(429, "quota")
            self._there.update(counted)
            try:
                body = _Body(scope, receive, most_bytes(path), kept, add)
                await self._served(scope, path, address, body.receive, answer.send)
            finally:
                self._there -= Counter(counted)  # without those that are none now
        except Exception as error:
            await answer.failed(error)

    def _look(self, scope: Scope, path: str, address: str, posts: bool) -> None:
        """Raise :class:`RefusedError` for what need not even be read."""
        remote = is_file(path) and ":/" in path
        named = not any(len(part.encode()) > limits.MAX_NAME for part in path.split("/"))
        if remote or not named or not (path in OPEN or path.startswith(OPEN_BELOW)):
            raise RefusedError(404, "closed")
        if scope["method"] not in ("GET", "HEAD", "POST", "OPTIONS"):
            raise RefusedError(405, "misunderstood")
        long = path.startswith(API) and len(scope["query_string"]) > limits.MAX_QUERY
        if long or declared_bytes(scope) > most_bytes(path):
            raise RefusedError(413, "long")
        if is_foreign(scope, self.local):
            raise RefusedError(403, "foreign_site")
        heartbeat = path.partition(f"{API}/heartbeat/")[2] or None
        sessions = [heartbeat, *Request(scope).query_params.getlist("session_hash")]
        if not all(map(is_name, sessions)):
            raise RefusedError(400, "misunderstood")
        for number, (most, counts) in enumerate(_AT_A_TIME):
            if counts(path, posts) and self._there[number, address] >= most:
                raise RefusedError(429, "crowded")
        if posts and keeps_files(path) and not self.has_room():
            raise RefusedError(503, "full")

    async def _served(
        self, scope: Scope, path: str, address: str, receive: Receive, send: Send
    ) -> None:
        clean = cleaned(scope, is_file(path) or bool(life_of(path)), is_mcp(path), self.proxied)
        if is_mcp(path) and scope["method"] == "GET" and _EVENTS in _header(scope, b"accept"):
            raise RefusedError(405, "misunderstood")  # nothing is sent that nobody asked for
        if scope["method"] != "POST" or not path.startswith(API) or path == f"{API}/upload":
            app = self.app if life_of(path) else self.packed  # Gradio packs its assets itself
            await app(clean, receive, send)
            return
        async with asyncio.timeout(limits.BODY_SECONDS):
            values = parsed(await Request(scope, receive).body())
        # What was looked at is what Gradio reads, whatever else the bytes could mean.
        body = json.dumps(values).encode()
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        direct = path.startswith(_DIRECT)
        if is_mcp(path) and (known := answer_to(values)):
            await JSONResponse(known)(clean, again, send)
            return
        if (direct or path == f"{API}/queue/join") and values.get("session_hash") is None:
            raise RefusedError(400, "no_session")  # Gradio would call all of them one
        if not is_mcp(path) and not all(map(is_upload, named_files(values))):
            raise RefusedError(400, "foreign")
        if path == _CANCEL:
            await self._cancelled(clean, values, again, send)
            return
        turn = self._direct.setdefault(address, asyncio.Semaphore(limits.MAX_DIRECT))
        async with turn if direct else nullcontext():
            await self.packed(clean, again, send)

    async def _cancelled(
        self, scope: Scope, values: dict[str, Any], receive: Receive, send: Send
    ) -> None:
        """In another's name Gradio's runs begin anew; of several at once it leaves traces."""
        event = values.get("event_id")
        if event in self._cancelling or not self.is_own(values):
            await JSONResponse({"success": True})(scope, receive, send)
            return
        self._cancelling.add(event)
        try:
            await self.app(scope, receive, send)
        finally:
            self._cancelling.discard(event)


class _Answer:
    """What is sent back: with the headers of all answers, and a sentence where it refuses."""

    def __init__(self, scope: Scope, send: Send, private: bool, life: int) -> None:
        self._scope, self._send, self._private, self._life = scope, send, private, life
        self._begun = self._events = False
        self._refusal: tuple[int, bytes] | None = None

    async def send(self, message: Message) -> None:
        """As in ASGI; a refusal is held back until it is whole."""
        if self._refusal is not None:
            status, body = self._refusal
            self._refusal = status, (body + message.get("body", b""))[:_MOST_TOLD]
            if not message.get("more_body"):
                await self._reply(*_told(*self._refusal))
            return
        if message["type"] == "http.response.start":
            if message["status"] >= 400:
                self._refusal = message["status"], b""
                return
            self._begun = True
            self._events = any(_EVENTS in value for _, value in message["headers"])
            life = self._life if message["status"] in (200, 304) else 0
            message["headers"] = added(message["headers"], self._private, life)
        await self._send(message)

    async def failed(self, error: Exception) -> None:
        """Turn what was raised into a sentence, unless an answer has begun."""
        status, word = 500, "failed"
        if isinstance(error, RefusedError):
            status, word = error.status, error.word
        elif isinstance(error, _MISUNDERSTOOD):
            status, word = 400, "misunderstood"
        elif isinstance(error, TimeoutError):
            status, word = 408, "slow"
        elif not self._events:
            _log.error("A request failed", exc_info=error)
        if not self._begun:
            await self._reply(status, {"detail": GATE_WORDS[word]})
        elif self._events:  # Gradio has sent the one that says so
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            raise error

    async def _reply(self, status: int, told: dict[str, Any]) -> None:
        reads = self._scope["method"] == "GET" and b"text/html" in _header(self._scope, b"accept")
        lost = status == 404 and reads
        answer: Response = _not_found(self._scope) if lost else JSONResponse(told, status)
        self._refusal, self._begun, self._life = None, True, 0
        answer.raw_headers = added(answer.raw_headers, self._private)
        await answer(self._scope, _nothing, self._send)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _told(status: int, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and content of somebody's refusal: our own sentences as they are, others' as ours."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict) and isinstance(said.get("error"), str):  # a function's own
        return 400 if said["error"] == GATE_WORDS["misunderstood"] else status, said
    if isinstance(said, dict) and status in _TOLD:
        return status, {"detail": said.get("detail")}
    word = "failed" if status >= 500 else _WORDS.get(status, "misunderstood")
    return {403: 404, 422: 400}.get(status, status), {"detail": GATE_WORDS[word]}


def path_of(scope: Scope) -> str:
    """The address below the folder that the page is mounted at."""
    return str(scope["path"].removeprefix(scope.get("root_path", "")))


def _header(scope: Scope, name: bytes) -> bytes:
    return bytes(dict(scope["headers"]).get(name, b""))


def declared_bytes(scope: Scope) -> int:
    """Length of the body as its header says; 0 if it does not."""
    text = _header(scope, b"content-length")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def most_bytes(path: str) -> int:
    """Length of the longest body that this address takes."""
    if path == f"{API}/upload":
        return MAX_BYTES + limits.SPARE
    return limits.MCP_BYTES if is_mcp(path) else limits.JSON_BYTES


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

    Of one that is longer than declared, ``counted``, ``add`` says whether more may come. Files
    get names that nobody knows: Gradio's folders are named by what is in them.
    """

    def __init__(
        self, scope: Scope, receive: Receive, most: int, counted: int, add: Callable[[int], bool]
    ) -> None:
        self._receive, self._most, self._counted, self._add = receive, most, counted, add
        self._files, self._seen, self._held, self._taken, self._whole = 0, b"", b"", 0, False
        found = _BOUNDARY.search(_header(scope, b"content-type"))
        self._mark = b"--" + found[1].strip() if found else b""

    async def receive(self) -> Message:
        if self._whole:  # what comes now is the client who leaves
            return await self._receive()
        async with asyncio.timeout(limits.BODY_SECONDS):
            message = await self._receive()
        body = message.get("body", b"")
        self._whole = not message.get("more_body")
        self._taken += len(body)
        read = self._seen + body.lower()
        self._files += read.count(_PART)
        self._seen = read[1 - len(_PART) :]
        if self._taken > self._most or self._files > limits.MAX_FILES:
            raise RefusedError(413, "long")
        counted = self._taken + limits.LEAST * max(0, self._files - 1)
        if counted > self._counted:
            if not self._add(counted - self._counted):
                raise RefusedError(429, "quota")
            self._counted = counted
        return {**message, "body": self._renamed(body)} if self._mark else message

    def _renamed(self, body: bytes) -> bytes:
        first, *parts = (self._held + body).split(self._mark)
        heads = [first]
        for part in parts:
            head, end, content = part.partition(b"\r\n\r\n")
            heads.append(_FILENAME.sub(_secret, head) + end + content if end else part)
        last, done = heads[-1], self._mark.join(heads)
        held = 0
        if not self._whole:  # a head, or a mark, of which the rest has not come
            begun = len(parts) and b"\r\n\r\n" not in last and len(last) < _LONGEST_HEAD
            held = len(self._mark) + (len(last) if begun else -1)
        self._held = done[max(0, len(done) - held) :] if held else b""
        return done[: len(done) - len(self._held)]


def _secret(name: re.Match[bytes]) -> bytes:
    """The same for the same name: who sends a picture again does not fill the folder."""
    kind, told = _KIND.search(name[1]), blake2b(name[1], key=_KEY, digest_size=16).hexdigest()
    return b'filename="%s%s"' % (told.encode(), b"." + kind[1].lower() if kind else b"")


def _not_found(scope: Scope) -> HTMLResponse:
    known = {"start": scope.get("root_path", ""), "says": GATE_WORDS["closed"]} | NOT_FOUND
    return HTMLResponse(rendered("shared/lost", **known), 404)
