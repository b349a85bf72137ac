"""What programs and assistants call, ``/repair``; and what the pages do.

Gradio reads types and descriptions from these functions, so annotations are not strings here.
"""

import asyncio
import contextlib
import json
import mimetypes
import os
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import gradio as gr
import httpx
from gradio.data_classes import FileData
from PIL import Image
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from app.runs.card import draw_card
from app.runs.damage import damage_photo, draw_thumbnails
from app.runs.models import Networks
from app.runs.photos import Photo, Photos
from app.runs.pictures import to_webp
from app.runs.samples import SAMPLES
from app.runs.settings import NONE, Settings, parse_link, parse_settings
from app.runs.strokes import KINDS, get_layer, measure_touched
from app.runs.subject import Subject, Subjects, parse_frame, read_pictures, view_square
from app.runs.watch import PICTURES, REPAIR, compare_methods, run_first_stages
from app.server.decoder import Decoder
from app.server.gate import API, explain
from app.server.turns import BusyError, Turns
from app.server.visitors import Visitor, Visitors, count_blocks, find_visitor
from dga.data.encoding import encode_picture
from dga.data.uploads import read_bytes
from dga.images import Pixels
from dga.networks.models import Models
from dga.photograph import RepairedPhotograph, photograph_steps

BRUSH_SIDE = 640  # pixels of the longer side of what brushes paint with
UNHEARD_SECONDS = 10.0
"""For which a run of Gradio's queue goes on while nobody listens to it."""
UNREAD_SECONDS = 60.0
"""For which Gradio's queue keeps messages that nobody fetches."""
UNHEARD = "Nobody listened to this run, so it was stopped."
Steps = Callable[[Models], Generator[Any]]


class Service:
    """Everything that answers visitors: networks, their photos, and whose turn it is."""

    def __init__(self, networks: Networks) -> None:
        self.networks, self.visitors = networks, Visitors()
        self.decoder = Decoder()
        samples = [sample.as_photo(networks.profile) for sample in SAMPLES.values()]
        self.photos = Photos(self.decoder, self.visitors.memory, samples)
        self.turns, self.reading_turns = Turns(), Turns(64, 32)
        self.subjects = Subjects(is_here=self.photos.__contains__)
        self.photos.on_forget = self.subjects.forget
        self.unread = dict[str, asyncio.Task[None]]()  # sessions of Gradio's queue

    async def run(
        self, visitor: Visitor, repair: Steps, pixels: int = 0,
        comparison: Steps | None = None, is_heard: Callable[[], bool] = lambda: True,
    ) -> AsyncGenerator[Any]:  # fmt: skip
        """What the steps yield, in turn; numbers between are visitors before this one.

        Of one page only the latest run goes on. ``repair`` keeps some memory for each of the
        picture's ``pixels``; ``comparison`` so much that few have theirs at once; ``is_heard``:
        whether somebody listens, without whom the run ends. Raises what the steps raise, and
        ``BusyError``.
        """
        accounts = self.visitors
        stages = [(repair, accounts.run_pixels, pixels), (comparison, accounts.comparisons, 1)]
        self.turns.drop_page(visitor)  # first, so that this run may have its place in a full line
        async with self.turns.join(visitor) as turn:
            turn.is_heard = is_heard
            for steps, memory, amount in stages:
                if steps is not None and not turn.is_dropped:
                    turn.begin_anew(memory, amount)
                    async for part in self.networks.run_steps(steps, turn):
                        yield part

    async def watch(self, request: Request) -> Response:
        """The page's run: parts of its record, see :mod:`app.runs.watch`."""
        call = await request.json()
        visitor = find_visitor(request, str(call.get("page", "")))
        return send_events(self._watch(call.get("settings"), visitor))

    async def _watch(self, values: Any, visitor: Visitor) -> AsyncIterator[Any]:
        settings = parse_settings(values)
        original = self.photos.get(settings.photo)

        def repair(models: Models) -> Generator[dict]:
            subject = self.subjects.get(original, settings)
            is_repaired = subject.is_damaged or not settings.is_brief
            yield from run_first_stages(models, subject, is_repaired)
            if original.key not in SAMPLES and subject.result is not None:
                result = self.photos.keep_result(original.key, subject.result)
                yield {"download": f"photo/{original.key}/{result}"}

        def compare(models: Models) -> Generator[dict]:
            subject = self.subjects.get(original, settings)
            yield from compare_methods(models, subject, settings)

        pixels = 0 if original.key in SAMPLES else original.pixels[..., 0].size
        comparison = None if settings.is_brief else compare
        async with contextlib.aclosing(self.run(visitor, repair, pixels, comparison)) as parts:
            async for part in parts:
                self.photos.get(original.key)  # of one that is gone nothing more is told
                yield part

    async def upload(self, request: Request) -> dict[str, Any]:
        """A photograph comes once, by itself; everything after names it."""
        name = unquote(request.headers.get("x-name", "photo"))
        photo = await self.photos.add(find_visitor(request), name, await request.body())
        height, width = photo.pixels.shape[:2]
        return {"photo": photo.key, "name": photo.name, "width": width, "height": height,
                "full_size": photo.full_size, "losses": photo.losses}  # fmt: skip

    async def download(self, key: str, result: str) -> Response:
        """A repaired photograph, as a file of its own format."""
        name, content = await self.photos.get_result(key, result)
        kind, _ = mimetypes.guess_type(name, strict=False)
        header = f"attachment; filename*=UTF-8''{quote(name)}"
        return Response(content, media_type=kind, headers={"content-disposition": header})

    async def show_brush(self, key: str, kind: str, request: Request) -> Response:
        """The whole photo as a brush makes it, WebP: the page shows strokes as they are made."""
        if kind not in KINDS:
            raise HTTPException(404)
        original = self.photos.get(key)

        def paint(models: Models) -> bytes:
            return to_webp(get_layer(original.pixels, kind, original.layers), BRUSH_SIDE)

        return Response(await self._answer_soon(paint, request), media_type="image/webp")

    async def show_thumbnails(self, key: str, request: Request) -> dict[str, str]:
        """What each damage makes of a photo: see :func:`app.runs.damage.draw_thumbnails`."""
        photo, profile = self.photos.get(key).pixels, self.networks.profile
        return await self._answer_soon(
            lambda _: draw_thumbnails(view_square(profile, photo)), request
        )

    async def read(self, request: Request) -> dict[str, Any]:
        """What the classifier reads of a photo as it is painted so far, and how much of it that is.

        The page's own run ends: what it repairs was painted over. Raises ``BusyError``.
        """
        settings = parse_settings(await request.body())
        original = self.photos.get(settings.photo)
        self.turns.drop_page(find_page(request))

        def read(models: Models) -> dict[str, Any]:
            damaged = damage_photo(original.pixels, settings, original.layers)
            touched = measure_touched(settings.strokes, *damaged.shape[:2])
            return {"reading": read_pictures(models, damaged)[0], "touched": touched}

        return await self._answer_soon(read, request)

    async def read_frame(self, request: Request) -> dict[str, Any]:
        """What the classifier reads of a camera's frame. Raises ``BusyError``."""
        pixels = parse_frame(self.networks.profile, await request.body())
        return await self._answer_soon(lambda models: read_pictures(models, pixels)[0], request)

    async def _answer_soon(self, work: Callable[[Models], Any], request: Request) -> Any:
        """What short work returns: it has a line of its own, and goes between the steps of others'
        runs. Raises ``BusyError``."""

        def steps(models: Models) -> Generator[Any]:
            yield work(models)

        async with self.reading_turns.join(find_page(request)) as turn:
            answer = await find_last(self.networks.run_steps(steps, turn))
        self.photos.make_room()  # for what was kept of a photo
        return answer

    async def repair_frame(self, request: Request) -> Response:
        """What our repair makes of a camera's frame; neither is kept."""
        pixels = parse_frame(self.networks.profile, await request.body())

        def steps(models: Models) -> Generator[dict]:
            subject = Subject.make(Photo("", pixels), Settings(damage=NONE))
            yield from run_first_stages(models, subject)

        return send_events(self.run(find_page(request), steps, pixels[..., 0].size))

    async def make_card(self, request: Request) -> Response:
        """The card of what a link shows, PNG, with this page's address as people type it."""
        settings, home = parse_link(request.query_params), find_home(request)
        home = home.partition("://")[2].rstrip("/")
        original = self.photos.get(settings.photo)

        def steps(models: Models) -> Generator[Any]:
            subject = self.subjects.get(original, settings)
            yield from run_first_stages(models, subject)
            parts = subject.stages[PICTURES] | subject.stages[REPAIR]
            assert subject.result is not None
            pictures = original.pixels, subject.damaged, subject.result
            yield draw_card(pictures, parts, home)

        size = original.pixels[..., 0].size
        card = await find_last(self.run(find_visitor(request), steps, size))
        return Response(card, media_type="image/png")

    async def repair(self, picture: FileData, request: gr.Request) -> tuple[dict, FileData]:
        """Repair a photograph at its own size, up to a megapixel; a larger one is reduced to that.

        Blur, blocks, low contrast, haze and noise are measured and undone. What needs no
        repair comes back pixel by pixel; the same photograph gives the same result.

        Args:
            picture: The photograph, any common format up to 20 MB.

        Returns:
            A record of its size, what was found, the depths, the seconds and what was lost.
            The photograph, repaired, as PNG.
        """
        visitor, session = find_visitor(request), getattr(request, "session_hash", None)
        if session:
            if earlier := self.unread.get(session):
                earlier.cancel()
            app = request.request.scope["app"]
            self.unread[session] = asyncio.create_task(self._forget_unread(app, session))
        try:
            # Only uploads come this far, see app.server.contents.
            path = Path(picture["path"] if isinstance(picture, dict) else picture.path)
            data = await asyncio.to_thread(read_bytes, path)
            pixels, _, losses = await self.decoder.read_upload(data, visitor=visitor)
            result = await self._repair(visitor, session, pixels)
            content = await asyncio.to_thread(encode_picture, Image.fromarray(result.image), "PNG")
            self.visitors.files.take(visitor.address, count_blocks(len(content)))
            file = await asyncio.to_thread(write_file, content)
        except Exception as error:
            raise gr.Error(explain(error)[1], print_exception=False) from None
        return result.facts() | {"lost": losses}, file

    async def _repair(
        self, visitor: Visitor, session: str | None, pixels: Pixels
    ) -> RepairedPhotograph:
        """The photograph, repaired.

        A run of Gradio's queue, which has a session, ends when nobody listens to that; others end
        with their request.
        """
        start = time.monotonic()

        def is_heard() -> bool:
            is_new = time.monotonic() - start < UNHEARD_SECONDS
            return session is None or is_new or session in self.visitors.streams.amounts

        def steps(models: Models) -> Generator[Any]:
            yield (yield from photograph_steps(models, pixels))

        size = pixels[..., 0].size
        last = await find_last(self.run(visitor, steps, size, is_heard=is_heard))
        if not is_heard():
            raise BusyError(UNHEARD)
        return last

    async def _forget_unread(self, app: ASGIApp, session: str) -> None:
        """Gradio keeps what nobody fetches: a reader comes, and takes all of a session along."""
        await asyncio.sleep(UNREAD_SECONDS)
        while session in self.visitors.streams.amounts:
            await asyncio.sleep(UNREAD_SECONDS)
        address = f"http://127.0.0.1{API}/queue/data?session_hash={session}"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as reader:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(reader.get(address), 0.1)
        self.unread.pop(session, None)


async def find_last(parts: AsyncIterator[Any]) -> Any:
    """The last part that is no place in the line; places may come after it.

    Raises ``BusyError`` where there is none: the run was dropped.
    """
    last = None
    async for part in parts:
        last = last if isinstance(part, int) else part
    if last is None:
        raise BusyError(UNHEARD)
    return last


def send_events(parts: AsyncIterator[Any]) -> Response:
    """A run as server-sent events, which ends when nobody reads them; see :meth:`Service.run`."""

    async def write() -> AsyncIterator[str]:
        try:
            async for part in parts:
                part = {"waiting": part} if isinstance(part, int) else {"waiting": 0, **part}
                yield f"event: part\ndata: {json.dumps(part)}\n\n"
            yield "event: end\ndata: {}\n\n"
        except Exception as error:
            yield f"event: error\ndata: {json.dumps({'error': explain(error)[1]})}\n\n"

    return StreamingResponse(write(), media_type="text/event-stream")


def find_page(request: Request) -> Visitor:
    """Who asks, with the page that the address names."""
    return find_visitor(request, request.query_params.get("page", ""))


def find_home(request: Request) -> str:
    """The first page's whole address, as whoever asks has reached this server."""
    root = request.scope.get("root_path", "").rstrip("/")
    host = request.headers.get("x-forwarded-host") or request.headers.get("host", "")
    host = host.partition(",")[0]  # the first of several proxies'
    scheme = request.headers.get("x-forwarded-proto", "").partition(",")[0] or request.url.scheme
    return f"{root}/" if "://" in root else f"{scheme}://{host}{root}/"


def write_file(content: bytes) -> FileData:
    """A file that Gradio serves."""
    folder = os.environ["GRADIO_TEMP_DIR"]
    with tempfile.NamedTemporaryFile(suffix=".png", dir=folder, delete=False) as file:
        file.write(content)
    return FileData(path=file.name)
