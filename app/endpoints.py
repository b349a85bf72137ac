"""What programs and assistants call: ``/repair`` and ``/adapt``; and the page's own ``watch``.

Gradio reads types and descriptions from these functions, so annotations are not strings here.
"""

import asyncio
import contextlib
import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import FileData
from gradio.utils import get_function_description
from PIL import Image
from starlette.requests import Request

from app.runs.card import draw_card
from app.runs.damage import damage_photo
from app.runs.models import Networks, TooLongError
from app.runs.pictures import to_webp
from app.runs.samples import SAMPLES
from app.runs.settings import NONE, Settings, SettingsError, parse_settings
from app.runs.strokes import get_layer, measure_touched
from app.runs.subject import Original, Subject, Subjects, read_pictures, view_square
from app.runs.watch import PICTURES, REPAIR, run_first_stages, watch
from app.server.decoder import Decoder
from app.server.gate import REFUSALS
from app.server.photos import GONE, Photos, UnknownPhotoError
from app.server.turns import BusyError, Turn, Turns
from app.server.visitors import RefusedError, Visitors, count_blocks, find_address
from dga.adaptation import adapt_steps
from dga.adaptation_record import to_api_facts
from dga.corruptions import CORRUPTIONS, EVERYDAY
from dga.data.encoding import encode_picture
from dga.data.uploads import UploadError, read_bytes
from dga.images import Pixels
from dga.networks.models import Models
from dga.photograph import photograph_steps
from dga.profiles import Profile
from dga.systems import DEFAULT_SYSTEMS, System, systems

MOST_RUNS = 64
"""Runs that Gradio lets in at once; :class:`Turns` says who of them computes."""
MOST_CARDS = 32
BRUSH_SIDE = 640  # pixels of the longer side of what brushes paint with
SENTENCES = (BusyError, SettingsError, TooLongError, UnknownPhotoError, UploadError)
"""Errors whose message is meant for the visitor."""
BOUNDS: dict[str, dict[str, Any]] = {
    "corruption": {"enum": [NONE, *CORRUPTIONS, *EVERYDAY]},
    "severity": {"minimum": 1, "maximum": 5},
    "saved": {"minimum": 1, "maximum": 100},
    "tau": {"minimum": 0, "maximum": 1},
    "seed": {"minimum": 0},
    "dda_depth": {"minimum": 1},
}
"""What the values of ``/adapt`` may be, in JSON Schema."""
UNHEARD_SECONDS = 10.0
"""For which a run of Gradio's queue goes on while nobody listens to it."""
UNHEARD = "Nobody listened to this run, so it was stopped."
RUN_FAILED = "The run failed unexpectedly; the server's log says why. Please try again."
_log = logging.getLogger(__name__)


class Service:
    """Everything that answers visitors: networks, their photos, and whose turn it is."""

    def __init__(self, networks: Networks) -> None:
        self.networks, self.visitors = networks, Visitors()
        self.decoder = Decoder()
        self.photos = Photos(self.decoder)
        self.turns, self.brush_turns = Turns(), Turns(64, 32)
        self.reading_turns = Turns(most_waiting=64, most_per_address=32)
        self.subjects = Subjects(is_here=self.is_here)
        self.photos.on_forget = self.subjects.forget
        self.latest = dict[str, Turn]()
        self.layers = dict[str, dict[str, Pixels]]()  # of samples
        self.cards = dict[tuple[str, Settings], bytes]()  # likewise, the latest

    def is_here(self, key: str) -> bool:
        """Whether there is such a photo (still)."""
        return key in SAMPLES or key in self.photos

    def find_photo(self, key: str) -> Original:
        """A sample or an upload. Raises ``UnknownPhotoError``."""
        if sample := SAMPLES.get(key):
            profile = self.networks.profile
            label = sample.label if sample.label in profile.classifier.classes else None
            layers = self.layers.setdefault(key, {})
            return Original(key, sample.pixels(profile), label, layers)
        photo = self.photos.get(key)
        return Original(key, photo.pixels, None, photo.layers)

    async def run(
        self, request: gr.Request | Request, steps: Callable[[Models], Generator[Any]],
        page: str = "", pixels: int = 0,
    ) -> AsyncIterator[Any]:  # fmt: skip
        """What the steps yield, in turn; numbers between are visitors before this one.

        ``page``: of one page only the latest run goes on; ``pixels``: of the picture. A run of
        Gradio's queue, which has a session, ends when nobody listens to that; others end with their
        request. Raises what the steps raise, and ``BusyError``.
        """
        address, begun = find_caller(request), time.monotonic()
        session, visitor = getattr(request, "session_hash", None), f"{address} {page}"

        def is_heard() -> bool:
            is_new = time.monotonic() - begun < UNHEARD_SECONDS
            return session is None or is_new or session in self.visitors.listening.taken

        if page and (earlier := self.latest.get(visitor)):
            earlier.drop()  # first, so that this one may have its place in a full line
        async with self.turns.join(visitor, address, pixels) as turn:
            self.latest[visitor], turn.is_heard = turn, is_heard
            try:
                async for part in self.networks.run_steps(steps, turn=turn):
                    yield part
            finally:
                if self.latest.get(visitor) is turn:
                    del self.latest[visitor]
        if not is_heard():
            raise BusyError(UNHEARD)

    async def watch(
        self, settings: Any, request: gr.Request | Request, page: str = ""
    ) -> AsyncIterator[dict]:
        """The page's run: parts of its record, see :mod:`app.runs.watch`."""
        checked = parse_settings(settings)
        original = self.find_photo(checked.photo)

        def steps(models: Models) -> Generator[dict]:
            subject = self.subjects.get(original, checked)
            has_file = original.key in SAMPLES
            for part in watch(models, subject, checked):
                if not self.is_here(original.key):  # and nothing that was made of it
                    raise UnknownPhotoError(GONE)
                yield part
                if not has_file and subject.result is not None:
                    has_file = True
                    result = self.photos.keep_result(original.key, subject.result)
                    yield {"download": f"photo/{original.key}/{result}"}

        pixels = 0 if original.key in SAMPLES else original.pixels[..., 0].size
        async for part in self.run(request, steps, page, pixels):
            yield {"waiting": part} if isinstance(part, int) else {"waiting": 0, **part}

    async def show_brush(self, key: str, kind: str, address: str) -> bytes:
        """The whole photo as a brush makes it, WebP: the page shows strokes as they are made."""
        original = self.find_photo(key)
        async with self.brush_turns.join(address) as turn:
            await turn.come()
            layer = await asyncio.to_thread(get_layer, original.pixels, kind, original.layers)
            content = await asyncio.to_thread(to_webp, layer, BRUSH_SIDE)
        self.photos.make_room()
        return content

    async def read(self, settings: Settings, address: str, page: str) -> dict[str, Any]:
        """What the classifier reads of a photo as it is painted so far, and how much of it that is.

        Readings have a line of their own, and go between the steps of others' runs; the page's own
        run ends: what it repairs was painted over. Raises ``BusyError``.
        """
        original, visitor = self.find_photo(settings.photo), f"{address} {page}"
        if page and (earlier := self.latest.get(visitor)):
            earlier.drop()

        def steps(models: Models) -> Generator[dict]:
            damaged = damage_photo(original.pixels, settings, original.layers)
            touched = measure_touched(settings.strokes, *damaged.shape[:2])
            yield {"reading": read_pictures(models, damaged)[0], "touched": touched}

        answer = await self._read_now(steps, visitor, address)
        self.photos.make_room()
        return answer

    async def read_frame(self, pixels: Pixels, address: str, page: str) -> dict[str, Any]:
        """What the classifier reads of a camera's frame. Raises ``BusyError``."""

        def steps(models: Models) -> Generator[dict]:
            yield read_pictures(models, pixels)[0]

        return await self._read_now(steps, f"{address} {page}", address)

    async def repair_frame(
        self, pixels: Pixels, request: gr.Request | Request, page: str
    ) -> AsyncIterator[dict]:
        """What our repair makes of a camera's frame; neither is kept."""

        def steps(models: Models) -> Generator[dict]:
            subject = Subject.make(Original("", pixels), Settings(damage=NONE))
            yield from run_first_stages(models, subject)

        async for part in self.run(request, steps, page, pixels[..., 0].size):
            if isinstance(part, int):
                yield {"waiting": part}
            elif "repaired" in part:
                yield part

    async def _read_now(
        self, steps: Callable[[Models], Generator[dict]], visitor: str, address: str
    ) -> dict[str, Any]:
        async with self.reading_turns.join(visitor, address) as turn:
            return [part async for part in self.networks.run_steps(steps, turn=turn)][-1]

    async def make_card(self, settings: Settings, request: Request, home: str) -> bytes:
        """The card of what a link shows, PNG; ``home``: where this page is, as people type it."""
        original, key = self.find_photo(settings.photo), (home, settings)
        if key in self.cards:
            return self.cards[key]

        def steps(models: Models) -> Generator[Any]:
            subject = self.subjects.get(original, settings)
            yield from run_first_stages(models, subject)
            parts = subject.stages[PICTURES] | subject.stages[REPAIR]
            assert subject.result is not None
            yield draw_card(subject.damaged, subject.result, parts, home)

        pixels = original.pixels[..., 0].size
        card = [part async for part in self.run(request, steps, pixels=pixels)][-1]
        if original.key in SAMPLES:
            self.cards[key] = card
            for old in list(self.cards)[:-MOST_CARDS]:
                del self.cards[old]
        return card

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
        with explain_errors():
            pixels, losses = await self._read(picture, request)
            result = await self._last(request, pixels, photograph_steps)
            facts = result.facts() | {"lost": losses}
            return facts, (await self._write(request, result.image))[0]

    async def adapt(
        self,
        picture: FileData,
        request: gr.Request,
        corruption: str = "none",
        severity: int = 3,
        tau: float | None = None,
        seed: int = 0,
        dda_depth: int | None = None,
        saved: int | None = None,
    ) -> tuple[dict, list[FileData]]:
        """Run every method on the square of a picture that the classifier sees.

        Noise goes in step by step until the discriminator no longer finds damage (depth t*), at
        most to a limit, and not at all where even more would not be enough; then a diffusion model
        rebuilds the picture. DGA+ first undoes damage that it recognises.

        Args:
            picture: The picture, any common format up to 20 MB.
            corruption: Damage to do first, of ImageNet-C's or an everyday kind; none for no more.
            severity: Strength of the corruption, 1 to 5.
            tau: Confidence below which noise stops, 0 to 1; without it, the profile's.
            seed: Fixes the corruption and all the noise, 0 or more.
            dda_depth: The fixed depth of the rival DDA, 1 or more; without it, the profile's.
            saved: Quality of the JPEG that the corrupted picture becomes, 1 to 100; else none.

        Returns:
            A record: t_star, confidence by depth, and of every method depth, seconds and labels.
            The pictures as PNG: damaged, noised to t*, then of DGA, DGA + G, DDA and DGA+.
        """
        profile = self.networks.profile
        values = {
            "damage": corruption, "strength": severity, "tau": tau, "seed": seed, "saved": saved,
        }  # fmt: skip

        def steps(models: Models, pixels: Pixels) -> Iterator[Any]:
            damaged = damage_photo(view_square(profile, pixels), damage)
            yield from adapt_steps(models, damaged, seed, chosen)

        with explain_errors():
            damage = parse_settings(values, {"damage": "corruption", "strength": "severity"})
            chosen = choose_systems(profile, tau, dda_depth)
            pixels, _ = await self._read(picture, request)
            run = await self._last(request, pixels, steps)
            rebuilt = (result.image for result in run.reconstructions.values())
            pictures = run.input, run.forward.x_t_star, *rebuilt
            return to_api_facts(run), await self._write(request, *pictures)

    async def _read(self, picture: Any, request: gr.Request) -> tuple[Pixels, list[str]]:
        """An upload's pixels, and what else it holds; other files do not come this far
        (:mod:`app.server.contents`)."""
        path = Path(picture["path"] if isinstance(picture, dict) else picture.path)
        data = await asyncio.to_thread(read_bytes, path)
        pixels, _, losses = await self.decoder.read_upload(data, address=find_caller(request))
        return pixels, losses

    async def _last(self, request: gr.Request, pixels: Pixels, steps: Callable) -> Any:
        """The last of what ``steps(models, pixels)`` yields."""

        def run(models: Models) -> Generator[Any]:
            return steps(models, pixels)

        async for part in self.run(request, run, pixels=pixels[..., 0].size):
            last = part
        return last

    async def _write(self, request: gr.Request, *pictures: Pixels) -> list[FileData]:
        """PNGs for whoever called, on her account, in Gradio's own folder."""
        files = [
            await asyncio.to_thread(encode_picture, Image.fromarray(p), "PNG") for p in pictures
        ]
        for content in files:
            self.visitors.files.take(find_caller(request), count_blocks(len(content)))
        return [await asyncio.to_thread(write_file, content) for content in files]


@contextlib.contextmanager
def explain_errors() -> Generator[None]:
    """Whatever goes wrong is a ``gr.Error`` with one sentence for the visitor."""
    try:
        yield
    except SENTENCES as error:
        raise gr.Error(str(error), print_exception=False) from None
    except RefusedError as error:
        raise gr.Error(REFUSALS[str(error)][1], print_exception=False) from None
    except MemoryError:
        raise gr.Error("The server's memory ran out; please try a smaller photo.") from None
    except Exception:
        _log.exception("A run failed")
        raise gr.Error(RUN_FAILED) from None


def choose_systems(profile: Profile, tau: float | None, dda_depth: int | None) -> list[System]:
    """DGA, DGA + G, DDA and DGA+; None stands for the profile's own setting.

    Raises ``SettingsError`` naming what is allowed.
    """
    rule = profile.stopping if tau is None else replace(profile.stopping, tau=tau)
    depth, deepest = profile.dda_depth if dda_depth is None else dda_depth, profile.schedule.steps
    if type(depth) is not int or not 1 <= depth <= deepest:  # True is an int, too, to Python
        raise SettingsError(f"DDA's depth is a whole number from 1 to {deepest}, not {depth!r}.")
    by_name = systems(replace(profile, stopping=rule, dda_depth=depth))
    return [by_name[name] for name in DEFAULT_SYSTEMS]


def find_caller(request: gr.Request | Request) -> str:
    """Whom a run counts for; an assistant's request comes as it is, a program's in Gradio's."""
    own = request if isinstance(request, Request) else request.request
    return find_address(own.scope) if own else ""


def label_values(blocks: gr.Blocks) -> None:
    """Name what ``/repair`` and ``/adapt`` take and give, with bounds, in ``/gradio_api/info``.

    ``gradio.Server`` numbers values; assistants read the same docstrings by themselves.
    """
    components = {component["id"]: component for component in blocks.config["components"]}
    endpoints = {call["api_name"]: call for call in blocks.config["dependencies"]}
    for endpoint in (Service.repair, Service.adapt):
        _, parameters, returns = get_function_description(endpoint)
        texts = [(name, text) for name, text in parameters.items() if text]
        texts += [("", text) for text in returns]
        call = endpoints[endpoint.__name__]
        values = [*call["inputs"], *call["outputs"]]
        for value, (name, text) in zip(values, texts, strict=True):
            components[value]["props"]["label"] = text.rstrip(".")
            components[value]["api_info_as_input"] |= BOUNDS.get(name, {})


def write_file(content: bytes) -> FileData:
    """A file that Gradio serves."""
    folder = os.environ["GRADIO_TEMP_DIR"]
    with tempfile.NamedTemporaryFile(suffix=".png", dir=folder, delete=False) as file:
        file.write(content)
    return FileData(path=file.name)
