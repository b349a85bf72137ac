"""What reaches the server at all: known addresses, bounded bodies, few requests at a time."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from gradio.route_utils import FnIndexInferError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.text import GATE_WORDS, PAGES
from dga.uploads import MAX_BYTES

API = "/gradio_api"
OPEN = {"/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {f"/{page}" for _, page in PAGES} | {f"/{page}/" for _, page in PAGES if page}
OPEN |= {
    f"{API}/{name}"
    for name in (
        "info", "openapi.json", "startup-events", "app_id", "theme.css", "queue/join", "queue/data",
        "queue/status", "upload", "upload_progress", "cancel", "reset", "mcp",
    )
}  # fmt: skip
OPEN_BELOW = (
    *("/static/", "/assets/", "/svelte/"),
    *(f"{API}/{name}" for name in ("call/", "run/", "file=", "heartbeat/", "mcp/")),
)

SPARE = 2**20  # of a body beside the picture in it
MAX_POSTS = 64  # of one address at a time
MAX_REQUESTS = 512  # of one address at a time; an open page holds two
# What Gradio raises where a request names or sends what does not exist.
_MISUNDERSTOOD = (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError)

_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")

_log = logging.getLogger(__name__)


class TooLongError(Exception):
    """A body that goes on beyond what its address takes."""


class Gate:
    """Middleware in front of all of Gradio; every refusal is one sentence in JSON.

    ``has_room``: whether another upload can be kept.
    """

    def __init__(self, app: ASGIApp, has_room: Callable[[], bool] = lambda: True) -> None:
        self.app = app
        self.has_room = has_room
        self._posts: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await _answer(*refused)(scope, receive, send)
            return
        address, posts = address_of(scope), scope["method"] == "POST"
        self._requests[address] += 1
        self._posts[address] += posts
        try:
            await self._served(scope, receive, send)
        finally:
            for counter, count in ((self._requests, 1), (self._posts, posts)):
                counter[address] -= count
                if not counter[address]:
                    del counter[address]

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        path, address = path_of(scope), address_of(scope)
        remote = path.startswith(f"{API}/file=") and ":/" in path
        if remote or not (path in OPEN or path.startswith(OPEN_BELOW)):
            return 404, "closed"
        if declared_bytes(scope) > most_bytes(path):
            return 413, "long"
        post = scope["method"] == "POST"
        if self._requests[address] >= MAX_REQUESTS or (post and self._posts[address] >= MAX_POSTS):
            return 429, "crowded"
        if path == f"{API}/upload" and not self.has_room():
            return 503, "full"
        return None

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and turn what is raised into a sentence unless an answer has begun."""
        begun = events = False

        async def sent(message: Message) -> None:
            nonlocal begun, events
            if message["type"] == "http.response.start":
                begun, events = True, _EVENTS in message["headers"]
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
            await send(message)

        try:
            await self.app(scope, _counted(receive, most_bytes(path_of(scope))), sent)
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
    return str(client[0]) if client else ""


def declared_bytes(scope: Scope) -> int:
    """Length of the body as its header says; 0 if it does not."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def most_bytes(path: str) -> int:
    """Length of the longest body that this address takes."""
    if path == f"{API}/upload":
        return MAX_BYTES + SPARE
    if path.startswith(f"{API}/mcp"):
        return MAX_BYTES * 4 // 3 + SPARE  # in base64
    return SPARE


def _counted(receive: Receive, most: int) -> Receive:
    taken = 0

    async def received() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise TooLongError
        return message

    return received


def _status_of(error: Exception) -> tuple[int, str]:
    if isinstance(error, TooLongError):
        return 413, "long"
    if isinstance(error, FnIndexInferError):  # no endpoint of that name
        return 404, "closed"
    return (400, "misunderstood") if isinstance(error, _MISUNDERSTOOD) else (500, "failed")


def _answer(status: int, word: str) -> JSONResponse:
    return JSONResponse({"detail": GATE_WORDS[word]}, status)
