"""What reaches the server at all: known addresses, bounded bodies, few requests at a time."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext

from gradio.route_utils import FnIndexInferError
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.headers import added, cleaned, is_foreign
from app.server.limits import Quota, Turns, neighbourhood
from app.words.common import PAGES
from app.words.errors import GATE_WORDS
from dga.data.uploads import MAX_BYTES

API = "/gradio_api"
OPEN = {"/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {f"/{page}" for _, page in PAGES} | {f"/{page}/" for _, page in PAGES if page}
OPEN |= {
    f"{API}/{name}"
    for name in (
        "info", "openapi.json", "startup-events", "app_id", "theme.css", "queue/join", "queue/data",
        "queue/status", "upload", "upload_progress", "cancel", "reset",
        "mcp", "mcp/", "mcp/http", "mcp/http/", "mcp/schema",
    )
}  # fmt: skip
OPEN_BELOW = (
    *("/static/", "/assets/", "/svelte/"),
    *(f"{API}/{name}" for name in ("call/", "run/", "file=", "heartbeat/")),
)

SPARE = 2**20  # of a body beside the picture in it
MAX_POSTS = 64  # of one address at a time
MAX_REQUESTS = 512  # of one address at a time; an open page holds two
MAX_DIRECT = 4  # calls that are answered without the queue, of one address at a time
MAX_CALLS = 4  # of one address over MCP at a time; together all have one visitor's places
MAX_FILES = 8  # of one upload; each gets a folder
LEAST = 2**16  # bytes that an upload counts at least, for its files' folders
MCP_BYTES = 4 * 2**20  # as much as the protocol's own server takes
JSON_BYTES = 2**16  # of values; more would keep the others waiting while it is read
# What Gradio raises where a request names or sends what does not exist.
_MISUNDERSTOOD = (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError)

_PART = b"content-disposition"  # begins the head of each part
_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")

_log = logging.getLogger(__name__)


class TooLongError(Exception):
    """A body that goes on beyond what its address takes."""


class Gate:
    """Middleware in front of all of Gradio; every refusal is one sentence in JSON.

    ``has_room``: whether another upload can be kept; ``quota``: how much of one address.
    """

    def __init__(
        self,
        app: ASGIApp,
        has_room: Callable[[], bool] = lambda: True,
        quota: Quota | None = None,
    ) -> None:
        self.app = app
        self.has_room = has_room
        self.quota = quota or Quota()
        self._posts: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._direct = Turns(MAX_DIRECT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if is_stream_end(path_of(scope)):  # the webcam says so of each picture; nothing streams
            await Response(status_code=204)(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await _answer(*refused)(scope, receive, send)
            return
        path, address, posts = path_of(scope), address_of(scope), scope["method"] == "POST"
        most, calls = most_bytes(path), posts and is_mcp(path)
        kept = max(declared_bytes(scope, most), LEAST) if posts and keeps_files(path) else 0
        minute = self.quota.take(address, kept) if kept else 0
        if minute is None:
            await _answer(429, "quota")(scope, receive, send)
            return
        counted = ((self._requests, 1), (self._posts, posts), (self._calls, calls))
        for counter, count in counted:
            counter[address] += count
        body = _Body(receive, most)
        try:
            async with self._direct.turn(address) if is_direct(path) else nullcontext():
                await self._served(cleaned(scope, is_file(path), is_mcp(path)), body.receive, send)
        finally:
            if kept:
                self.quota.give_back(address, minute, kept - max(body.taken, LEAST))
            for counter, count in counted:
                counter[address] -= count
                if not counter[address]:
                    del counter[address]

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        path, address = path_of(scope), address_of(scope)
        remote = is_file(path) and ":/" in path
        if remote or not (path in OPEN or path.startswith(OPEN_BELOW)):
            return 404, "closed"
        if declared_bytes(scope, 0) > most_bytes(path):
            return 413, "long"
        post = scope["method"] == "POST"
        if post and is_foreign(scope):
            return 403, "foreign_site"
        if self._requests[address] >= MAX_REQUESTS or (post and self._posts[address] >= MAX_POSTS):
            return 429, "crowded"
        if post and is_mcp(path) and self._calls[address] >= MAX_CALLS:
            return 429, "crowded"
        if post and keeps_files(path) and not self.has_room():
            return 503, "full"
        return None

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and turn what is raised into a sentence unless an answer has begun."""
        begun = events = False
        own = added(is_file(path_of(scope)))

        async def sent(message: Message) -> None:
            nonlocal begun, events
            if message["type"] == "http.response.start":
                begun, events = True, _EVENTS in message["headers"]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        try:
            direct = is_direct(path_of(scope))
            await self.app(scope, receive, _blaming(sent) if direct else sent)
        except Exception as error:
            status, word = _status_of(error)
            if status == 500 and not events:
                _log.exception("A request failed")
            if begun and not events:
                raise
            if begun:  # Gradio has sent the event that says so
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await _answer(status, word)(scope, receive, send)


def path_of(scope: Scope) -> str:
    """The address below the folder that the page is mounted at."""
    return str(scope["path"].removeprefix(scope.get("root_path", "")))


def address_of(scope: Scope) -> str:
    """The client's address; one for all where the server does not know it."""
    client = scope.get("client")
    return neighbourhood(str(client[0])) if client else ""


def declared_bytes(scope: Scope, unknown: int) -> int:
    """Length of the body as its header says; ``unknown`` if it does not."""
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 20 else unknown


def most_bytes(path: str) -> int:
    """Length of the longest body that this address takes."""
    if path == f"{API}/upload":
        return MAX_BYTES + SPARE
    return MCP_BYTES if is_mcp(path) else JSON_BYTES


def keeps_files(path: str) -> bool:
    """Whether what is sent here may stay in the folder for uploads."""
    return path == f"{API}/upload" or is_mcp(path)


def is_file(path: str) -> bool:
    """Whether this is the address of an upload or a result."""
    return path.startswith(f"{API}/file=")


def is_direct(path: str) -> bool:
    """Whether a function is called here without the queue."""
    return path.startswith(f"{API}/run/")


def is_stream_end(path: str) -> bool:
    """Whether a caller says here that it sends no more of its camera's pictures."""
    return path.startswith(f"{API}/stream/") and path.endswith("/close")


def is_mcp(path: str) -> bool:
    """Whether assistants call here."""
    return path.startswith(f"{API}/mcp")


class _Body:
    """A request's body, counted as it comes, up to ``most`` bytes and few files."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._files, self._tail = 0, b""
        self.taken = 0

    async def receive(self) -> Message:
        message = await self._receive()
        body = message.get("body", b"")
        self.taken += len(body)
        read = self._tail + body.lower()
        self._files += read.count(_PART)
        self._tail = read[1 - len(_PART) :]
        if self.taken > self._most or self._files > MAX_FILES:
            raise TooLongError
        return message


def _blaming(send: Send) -> Send:
    """Status 400, not Gradio's 500, where an answer says what was wrong with the request."""
    held: list[Message] = []

    async def sent(message: Message) -> None:
        if message.get("status") == 500:
            held.append(message)
            return
        if held:
            begin = held.pop()
            if _has_sentence(message.get("body", b"")):
                begin["status"] = 400
            await send(begin)
        await send(message)

    return sent


def _has_sentence(body: bytes) -> bool:
    try:
        return bool(json.loads(body)["error"])
    except (ValueError, TypeError, KeyError):
        return False


def _status_of(error: Exception) -> tuple[int, str]:
    if isinstance(error, TooLongError):
        return 413, "long"
    if isinstance(error, FnIndexInferError):  # no endpoint of that name
        return 404, "closed"
    return (400, "misunderstood") if isinstance(error, _MISUNDERSTOOD) else (500, "failed")


def _answer(status: int, word: str) -> JSONResponse:
    return JSONResponse({"detail": GATE_WORDS[word]}, status)
