"""The one door: known addresses, whole and bounded bodies, turns, sentences, headers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.parts.files import MADE
from app.parts.html import rendered
from app.server import limits
from app.server.headers import YEAR, added, cleaned, is_foreign
from app.server.mcp_errors import answer_to
from app.server.request_body import is_name, is_upload, named_files, parsed
from app.server.turns import address_of
from app.server.upload_folder import kept
from app.words.common import PAGES
from app.words.errors import FAILED, GATE_WORDS, NO_MEMORY, NOT_FOUND, NOT_SERVED
from dga.data.uploads import MAX_BYTES

API = "/gradio_api"
FILE, RUN, HEARTBEAT = f"{API}/file=", f"{API}/run/", f"{API}/heartbeat/"
UPLOAD, JOIN, CANCEL = f"{API}/upload", f"{API}/queue/join", f"{API}/cancel"
PROGRESS = f"{API}/upload_progress"  # asked for by Gradio's script, which only shows it
MCP = {f"{API}/mcp{end}" for end in ("", "/", "/http", "/http/", "/schema")}
OPEN = {"/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {f"/{page}" for _, page in PAGES} | {f"/{page}/" for _, page in PAGES if page}
OPEN |= {f"{API}/{name}" for name in ("info", "openapi.json", "startup-events", "app_id")}
OPEN |= {f"{API}/{name}" for name in ("theme.css", "queue/data", "queue/status", "reset")}
OPEN |= {PROGRESS, UPLOAD, JOIN, CANCEL, *MCP}
ENDLESS = (f"{API}/queue/data", f"{API}/call/", HEARTBEAT)  # which may begin late, too
PLOTLY = "/plotly-"  # and its version: what draws figures
# Files and the seconds that browsers may keep them; where it is a year, names hold a digest.
ASSETS = {"/assets/": YEAR, f"/{MADE}/": YEAR, PLOTLY: YEAR}
ASSETS |= {"/static/": 86_400, "/svelte/": 86_400}
SHARED_SECONDS = 3_600  # results that ship; another start may bring others
# The same for everybody who comes by the same name: made once.
ALIKE = {f"/{page}" for _, page in PAGES}
ALIKE |= {"/config", "/theme.css", f"{API}/info", f"{API}/openapi.json"}
OPEN_BELOW = (*ASSETS, f"{API}/call/", RUN, FILE, HEARTBEAT)
# Bytes of the longest body that is no JSON of values; what is in these may stay in the folder.
KEPT = {UPLOAD: MAX_BYTES + limits.SPARE} | dict.fromkeys(MCP, limits.MCP_BYTES)

# What is raised where a request names or sends what does not exist, beside Gradio's own.
_MISUNDERSTOOD = (LookupError, ValueError, TypeError, AttributeError, RecursionError)
_MISUNDERSTOOD += (ClientDisconnect, MultiPartException)  # type: ignore[assignment]
_PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp", ".heic", ".heif"}
_EVENTS = b"text/event-stream"
_NAMES = (b"host", b"x-forwarded-host", b"x-forwarded-proto")
_STATUS = {"closed": 404, "long": 413, "foreign_site": 403, "slow": 408, "failed": 500}
_STATUS |= {"crowded": 429, "quota": 429, "full": 503, "file": 507}  # all others: 400
_STATUS_OF = {GATE_WORDS[word]: status for word, status in _STATUS.items()}
_STATUS_OF |= {FAILED: 500, NO_MEMORY: 507}
_WORDS = {403: "closed", 404: "closed", 413: "long"}  # of refusals that are not ours
_TOLD = {429, 503, 507}  # those that are
_MOST_TOLD = 2**14  # bytes of a refusal

_log = logging.getLogger(__name__)


class RefusedError(Exception):
    """What is not taken: a key of ``GATE_WORDS``, and the status if it is not the word's own."""

    def __init__(self, word: str, status: int = 0) -> None:
        super().__init__(word)
        self.word, self.status = word, status or _STATUS.get(word, 400)


class Gate:
    """In front of all of Gradio; every refusal is one sentence in JSON.

    A browser that asks for a page that is not there gets the sentence as a page.

    ``count``: takes so many bytes of an address, or tells the word why not; ``is_own``: whether a
    request to cancel names a run and its own session; ``shared``: files that are everybody's, which
    browsers may keep for a while; ``local``: served to this machine alone; ``proxied``: behind a
    proxy that was named.
    """

    def __init__(
        self,
        app: ASGIApp,
        count: Callable[[str, int], str] = lambda address, length: "",
        is_own: Callable[[dict[str, Any]], bool] = lambda values: True,
        shared: Collection[str] = (),
        local: bool = False,
        proxied: bool = False,
    ) -> None:
        self.app = app
        self.packed = GZipMiddleware(app, minimum_size=1000, compresslevel=5)
        self.count, self.is_own, self.local, self.proxied = count, is_own, local, proxied
        self.shared = {FILE + path for path in shared}
        self.there: Counter[tuple[bool, str]] = Counter()
        self.turns: WeakValueDictionary[Any, asyncio.Semaphore] = WeakValueDictionary()
        self.cancelling: set[Any] = set()
        self.made: dict[Any, list[Message]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _Exchange(self, scope, receive, send).run()
        else:
            await self.app(scope, receive, send)


class _Exchange:
    """One request and its answer: where it goes, for whom it counts, how long it is and may be."""

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self.gate, self.scope, self.receive, self.send = gate, scope, receive, send
        headers, self.path, self.method = dict(scope["headers"]), path_of(scope), scope["method"]
        self.address = address_of(Request(scope))
        self.posts, self.is_mcp = self.method == "POST", self.path in MCP
        self.is_file, self.is_run = self.path.startswith(FILE), self.path.startswith(RUN)
        text = headers.get(b"content-length", b"")
        self.length = int(text) if text.isdigit() and len(text) < 20 else 0
        self.most = self.counted = KEPT.get(self.path, limits.JSON_BYTES)
        self.accepts = headers.get(b"accept", b"") if self.method == "GET" else b""
        self.packings = headers.get(b"accept-encoding", b"")
        is_shared = self.path in gate.shared
        self.is_private = self.is_file and not is_shared
        lives = (life for start, life in ASSETS.items() if self.path.startswith(start))
        self.life = SHARED_SECONDS if is_shared else next(lives, 0)
        self.most_there = {(False, self.address): limits.MAX_REQUESTS}  # by whether it is a post
        self.most_there |= {(True, self.address): limits.MAX_POSTS} if self.posts else {}
        self.received, self.whole = 0, False  # of the body
        self.begun = self.events = False  # the answer
        self.refused, self.refusal = 0, b""  # its status, and what it says
        self.turn = AsyncExitStack()  # until the answer is made; whoever reads it may be slow

    async def run(self) -> None:
        try:
            self.look()
            if self.posts and self.path in KEPT:
                self.counted = 0
                self.take(max(self.length, limits.LEAST))
            self.gate.there.update(self.most_there.keys())
            try:
                await self.serve()
            finally:
                await self.turn.aclose()
                self.gate.there -= Counter(self.most_there.keys())  # without those that are none
        except Exception as error:
            await self.end(error)
        else:
            await self.end()

    def look(self) -> None:
        """Raise :class:`RefusedError` for what need not even be read."""
        path = self.path
        remote = self.is_file and ":/" in path
        named = not any(len(part.encode()) > limits.MAX_NAME for part in path.split("/"))
        if remote or not named or not (path in OPEN or path.startswith(OPEN_BELOW)):
            raise RefusedError("closed")
        if self.method not in ("GET", "HEAD", "POST", "OPTIONS"):
            raise RefusedError("misunderstood", 405)
        long = path.startswith(API) and len(self.scope["query_string"]) > limits.MAX_QUERY
        if long or self.length > self.most:
            raise RefusedError("long")
        if is_foreign(self.scope, self.gate.local, self.gate.proxied):
            raise RefusedError("foreign_site")
        sessions = Request(self.scope).query_params.getlist("session_hash")
        if not all(map(is_name, [path.partition(HEARTBEAT)[2] or None, *sessions])):
            raise RefusedError("misunderstood")
        if self.is_mcp and _EVENTS in self.accepts:
            raise RefusedError("misunderstood", 405)  # nothing is sent that nobody asked for
        if any(self.gate.there[key] >= most for key, most in self.most_there.items()):
            raise RefusedError("crowded")

    def take(self, length: int) -> None:
        """Count so many bytes more of what may stay."""
        if word := self.gate.count(self.address, length):
            raise RefusedError(word)
        self.counted += length

    async def bounded(self) -> Message:
        """The body as it comes; what may stay counts as declared, and as it comes beyond that."""
        if self.whole:  # what comes now is the client who leaves
            return await self.receive()
        async with asyncio.timeout(limits.BODY_SECONDS):
            message = await self.receive()
        self.whole = not message.get("more_body")
        self.received += len(message.get("body", b""))
        if self.received > self.most:
            raise RefusedError("long")
        if self.received > self.counted:
            self.take(self.received - self.counted)
        return message

    async def serve(self) -> None:
        """Answer what can be answered here; hand all else on to Gradio."""
        if (place := tidy_place(self.scope)) and not self.posts:
            moved = RedirectResponse(place, 307)
            await moved(self.scope, self.bounded, self.sent)
            return
        whole = self.is_file or bool(self.life)
        clean = cleaned(self.scope, whole, self.is_mcp, self.gate.proxied)
        if self.path == PROGRESS:
            done = Response('data: {"msg": "done"}\n\n', media_type=_EVENTS.decode())
            await done(clean, self.bounded, self.sent)
            return
        if not self.posts or not self.path.startswith(API):
            await self.make(clean, self.bounded)
            return
        request = Request(clean, self.bounded)
        if self.path == UPLOAD:
            await JSONResponse(await self.uploaded(request))(clean, self.bounded, self.sent)
            return
        async with asyncio.timeout(limits.BODY_SECONDS):
            values = parsed(await request.body())
        # What was looked at is what Gradio reads, whatever else the bytes could mean.
        messages: list[Message] = [{"type": "http.request", "body": json.dumps(values).encode()}]

        async def again() -> Message:
            return messages.pop() if messages else await self.bounded()

        event = values.get("event_id") if self.path == CANCEL else None
        known: dict[str, Any] | None = None
        if self.is_mcp:
            known = answer_to(values)
        elif not all(map(is_upload, named_files(values))):
            raise RefusedError("foreign")
        elif (self.is_run or self.path == JOIN) and values.get("session_hash") is None:
            raise RefusedError("no_session")  # Gradio would call all of them one
        # In another's name Gradio's runs begin anew; of several at once it leaves traces.
        elif self.path == CANCEL and (
            event in self.gate.cancelling or not self.gate.is_own(values)
        ):
            known = {"success": True}
        if known:
            await JSONResponse(known)(clean, again, self.sent)
            return
        self.gate.cancelling.add(event)
        try:
            await self.make(clean, again)
        finally:
            self.gate.cancelling.discard(event)

    async def make(self, scope: Scope, receive: Receive) -> None:
        """Have Gradio answer, which does nothing else meanwhile; what all get alike only once."""
        named = [pair for pair in scope["headers"] if pair[0] in _NAMES]
        tighter = b"br" in self.packings  # so Gradio packs what is called .css or .json
        key = (self.path, scope["scheme"], scope.get("root_path"), tighter, *named)
        alike, made = self.is_alike(scope), self.gate.made
        if alike and key in made:
            for message in made[key]:
                await self.sent({**message})
            return
        if self.is_run or not (self.posts or self.path.startswith(ENDLESS)):
            at_once = asyncio.Semaphore(limits.MAX_DIRECT)
            turn = self.gate.turns.setdefault((self.posts, self.address), at_once)
            await self.turn.enter_async_context(turn)
        messages: list[Message] = []

        async def noted(message: Message) -> None:
            messages.append({**message})
            await self.sent(message)

        await self.gate.packed(scope, receive, noted if alike else self.sent)
        if alike and not self.refused:
            made[key] = messages
            while len(made) > limits.MAX_MADE:
                made.pop(next(iter(made)), None)

    def is_alike(self, scope: Scope) -> bool:
        """Whether the answer depends on the name by which the server was asked alone."""
        headers = dict(scope["headers"])
        plain = not scope["query_string"] and b"origin" not in headers and self.method == "GET"
        packed = b"gzip" in self.packings  # others take three times as much
        made = self.path.startswith(f"/{MADE}/") and self.path.endswith(".json")
        return plain and packed and (made or self.path in ALIKE)

    async def uploaded(self, request: Request) -> list[str]:
        """Paths of a form's files. What they were called is not kept; each counts as a folder."""
        most = limits.MAX_FILES
        parser = MultiPartParser(request.headers, request.stream(), max_files=most, max_fields=most)
        form = await parser.parse()
        try:
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]
            if not files:
                raise RefusedError("misunderstood")
            if any((file.size or 0) > MAX_BYTES for file in files):
                raise RefusedError("long")
            self.take(limits.LEAST * (len(files) - 1))
            kinds = (PurePath(file.filename or "").suffix.lower() for file in files)
            names = ["picture" + kind if kind in _PICTURES else "picture" for kind in kinds]
            named = zip(files, names, strict=True)
            return [await run_in_threadpool(kept, file.file, name) for file, name in named]
        finally:
            await form.close()

    async def sent(self, message: Message) -> None:
        """Pass an answer on, with the headers of all; hold a refusal back until its end."""
        if self.refused:
            self.refusal = (self.refusal + message.get("body", b""))[:_MOST_TOLD]
            return
        if message["type"] == "http.response.start":
            if message["status"] >= 400:
                self.refused = message["status"]
                return
            self.begun = True
            await self.turn.aclose()
            self.events = any(_EVENTS in value for _, value in message["headers"])
            life = self.life if message["status"] in (200, 304) else 0
            message["headers"] = added(message["headers"], self.is_private, life)
        await self.send(message)

    async def end(self, error: Exception | None = None) -> None:
        """Make a sentence of what was raised or refused, unless an answer has begun."""
        if error and self.begun:
            if not self.events:
                raise error
            # Gradio has sent the one that says so.
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})
        elif error or self.refused:
            status, told = _said(error) if error else _told(self.refused, self.refusal)
            answer: Response = JSONResponse(told, status)
            if b"text/html" in self.accepts and "detail" in told:  # where the visitor looks
                words = NOT_FOUND if status == 404 else NOT_SERVED | {"says": told["detail"]}
                page = rendered("shared/lost", start=prefix_of(self.scope), **words)
                answer = HTMLResponse(page, status)
            answer.raw_headers = added(answer.raw_headers, self.is_private)
            await answer(self.scope, self.receive, self.send)


def _said(error: Exception) -> tuple[int, dict[str, Any]]:
    """Status and content for what was raised; the log keeps what was a fault."""
    if isinstance(error, RefusedError):
        return error.status, {"detail": GATE_WORDS[error.word]}
    if isinstance(error, TimeoutError):
        word = "slow"
    elif isinstance(error, _MISUNDERSTOOD) or type(error).__module__.startswith("gradio."):
        word = "misunderstood"
    else:
        _log.error("A request failed", exc_info=error)
        word = "file" if isinstance(error, OSError) else "failed"
    return _STATUS.get(word, 400), {"detail": GATE_WORDS[word]}


def _told(status: int, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and content of somebody's refusal: our own sentences as they are, others' as ours."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict) and isinstance(said.get("error"), str):  # a function's own
        return _STATUS_OF.get(said["error"], 400), said
    if isinstance(said, dict) and status in _TOLD:
        return status, {"detail": said.get("detail")}
    word = "failed" if status >= 500 else _WORDS.get(status, "misunderstood")
    return {403: 404, 422: 400}.get(status, status), {"detail": GATE_WORDS[word]}


def path_of(scope: Scope) -> str:
    """The address below the folder that the page is mounted at."""
    path, prefix = str(scope["path"]), prefix_of(scope)
    below = path.removeprefix(prefix) if f"{path}/".startswith(f"{prefix}/") else path
    return below or "/"


def prefix_of(scope: Scope) -> str:
    """That folder, as in /dga; empty where the page is mounted at none."""
    return urlsplit(str(scope.get("root_path", ""))).path.rstrip("/")


def tidy_place(scope: Scope) -> str:
    """Where a page's address belongs that leads out of that folder; empty for all others.

    The pages' links are relative: from /dga without a slash, or from /dga/photo/, they would go
    astray. The answer names no host, which only a proxy knows.
    """
    prefix, path = prefix_of(scope), str(scope["path"])
    page = path_of(scope)
    query = scope["query_string"].decode("latin-1")
    end = f"?{query}" if query else ""
    if prefix and path == prefix:
        return f"{prefix}/{end}"
    if page.endswith("/") and page[1:-1] in {name for _, name in PAGES if name}:
        return f"{prefix}{page[:-1]}{end}"
    return ""
