"""A whole photograph: damaged, repaired with a depth for each place, or with one everywhere."""

from __future__ import annotations

import ctypes
import io
import itertools
import math
import sys
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from app.parts.pictures import encoded, uri
from app.runs.damage import Damage
from app.runs.places import Places, find_places
from app.runs.session import Session
from app.words.photo import TOO_LONG
from dga.images import Pixels
from dga.networks.models import Models
from dga.photograph import Photograph, Progress, photograph_steps

DEEPEST = 32  # of one depth everywhere
SURVEY = range(0, DEEPEST + 1, 2)  # depths that the best one is looked for among, at least
LOOKS = {"quality": 88, "method": 2}  # WebP to look at
SO_FAR = {"quality": 75}  # JPEG of what is half done, which is made in a tenth of the time
PAUSE = 0.4  # seconds between two of those
CROP = 80, 64  # pixels of a close-up
UNTOUCHED = 0.2  # share of the photograph, below which close-ups say nothing


@dataclass
class Photo:
    """A visitor's photograph and what has come of it.

    ``name``: of an example, empty for her own; ``clean``: as it came; ``came``: how many pixels
    that were; ``change``: how many its page had asked for, with this one; ``followed``: it was
    taken up beside the queue; ``phase``: empty, wait, working, done, cancelled or error.
    ``progress``: places done, and of how many; ``rows``: a JPEG of the photograph down to where it
    stands then, empty where nothing is half done.
    ``singles``: PSNR in dB for one depth everywhere, as far as it is known; ``best``: the best of
    them, and its picture; ``last``: the picture asked for last.
    """

    name: str
    clean: Pixels
    damage: Damage
    came: int = 0
    change: int = 0
    followed: bool = False
    phase: str = "empty"
    progress: tuple[int, int] = (0, 0)
    rows: bytes = b""
    notice: str = ""
    error: str = ""
    result: Photograph | None = None
    places: Places | None = None
    recorded: bool = False
    singles: dict[int, float] = field(default_factory=dict)
    best: tuple[int, Pixels] | None = None
    last: tuple[int, Pixels] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    key: int = field(default_factory=itertools.count().__next__)
    _addresses: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.damaged = self.damage.apply(self.clean)

    @property
    def running(self) -> bool:
        return self.phase in ("wait", "working")

    @property
    def has_truth(self) -> bool:
        return self.damage.is_any

    @property
    def surveyed(self) -> bool:
        """Whether the best single depth is known."""
        return all(depth in self.singles for depth in SURVEY)

    @property
    def left(self) -> float:
        """Share of the photograph that came back as it was, in [0, 1]."""
        assert self.result
        return float((self.result.image == self.damaged).all(-1).mean())

    def quality(self, pixels: Pixels) -> float | None:
        """PSNR in dB against the undamaged photograph; None where that is not known."""
        if not self.has_truth:
            return None
        return min(99.0, 10 * math.log10(255**2 / max(float(self._error(pixels).mean()), 1e-9)))

    def _error(self, pixels: Pixels) -> np.ndarray:
        """By pixel, ``[H, W]``."""
        return ((pixels.astype(np.float32) - self.clean) ** 2).mean(-1)

    def take(self, result: Photograph, places: Places | None = None) -> None:
        """A finished repair, and what was found where if that is known."""
        self.result, self.places, self.phase = result, places or find_places(result), "done"
        self.rows = b""

    def take_single(self, depth: int, image: Pixels) -> None:
        """What one depth everywhere gives."""
        self.last, quality = (depth, image), self.quality(image)
        if quality is None:
            return
        self.singles[depth] = quality
        if self.best is None or quality > self.singles[self.best[0]]:
            self.best = depth, image

    def address(self, name: str, pixels: Pixels) -> str:
        """One of its pictures as the address of a WebP to look at, made once."""
        if name not in self._addresses:
            self._addresses[name] = uri(encoded(pixels, "WEBP", **LOOKS), "webp")
        return self._addresses[name]

    def close_ups(self) -> list[tuple[Pixels, Pixels, int]]:
        """Where the best single depth is too shallow, and where it is too deep; empty without.

        Of the windows that are deeper and of those at depth 0, each time the one that gains most
        by its own depth; both have to gain. Each at one depth, at its own, and that depth.
        """
        if not (self.result and self.best and self.has_truth) or self.left < UNTOUCHED:
            return []
        (depth, single), found, parts = self.best, self.result, []
        worse = self._error(single) - self._error(found.image)
        for wanted in (found.depths > depth, found.depths == 0):
            places = map(tuple, np.argwhere(wanted).tolist())
            gains = {place: worse[self._cut(*place)].mean() for place in places}
            place = max(gains, key=gains.__getitem__, default=None)
            if place is None or gains[place] <= 0:
                return []
            cut = self._cut(*place)
            parts.append((single[cut], found.image[cut], int(found.depths[place])))
        return parts

    def _cut(self, row: int, column: int) -> tuple[slice, slice]:
        """A close-up around a window."""
        assert self.result
        begins = self.result.rows[row], self.result.columns[column] - (CROP[0] - CROP[1]) // 2
        ends = self.clean.shape[0] - CROP[1], self.clean.shape[1] - CROP[0]
        top, left = (max(0, min(pair)) for pair in zip(begins, ends, strict=True))
        return slice(top, top + CROP[1]), slice(left, left + CROP[0])

    def file(self, kind: object) -> tuple[str, bytes]:
        """To keep: ``csv``, depths by place; ``map``, those in colours; else the photograph.

        Returns its name and its bytes.
        """
        assert self.result
        assert self.places
        name = self.name or "photo"
        if kind == "csv":
            places = np.meshgrid(self.result.rows, self.result.columns, indexing="ij")
            table, stream = np.stack([*places, self.result.depths], -1).reshape(-1, 3), io.BytesIO()
            np.savetxt(stream, table, "%d", ",", header="top,left,depth", comments="")
            return f"{name}-depths.csv", stream.getvalue()
        if kind == "map":
            height, width = self.clean.shape[:2]
            small = Image.open(io.BytesIO(self.places.map))
            large = np.asarray(small.resize((width, height), Image.Resampling.BILINEAR))
            return f"{name}-depths.png", encoded(large, "PNG")
        return f"{name}-repaired.png", encoded(self.result.image, "PNG")


def repair(session: Session, photo: Photo, depth: int | None = None) -> Generator[None]:
    """A depth for each place, or one everywhere.

    Raises what :meth:`~app.runs.session.Session.lent` does.
    """
    if depth is None:
        photo.phase, photo.progress, photo.rows = "working", (0, 0), b""
    pictures = max(1, photo.damaged.size // 3 // 2**16)
    options: dict[str, Any] = {"pictures": pictures, "too_long": TOO_LONG, "long": True}
    try:
        for event in session.lent(photo.cancel, _steps, photo.damaged, depth, **options):
            if isinstance(event, tuple):
                photo.progress, photo.rows = event
            elif isinstance(event, Photograph):
                photo.take(event) if depth is None else photo.take_single(depth, event.image)
            yield
    finally:
        _give_back_memory()


def _steps(
    models: Models, pixels: Pixels, depth: int | None
) -> Generator[tuple[tuple[int, int], bytes] | Photograph | None]:
    """A repair as the page watches it: progress and rows of a :class:`Photo`, then all of it.

    None where there is nothing to see.
    """
    shown, settled, seen = pixels.copy(), 0, -math.inf
    for event in photograph_steps(models, pixels, depth=depth):
        if isinstance(event, Photograph):
            yield event
        elif not isinstance(event, Progress) or depth is not None:
            yield None
        elif event.rows is None:
            yield (event.done, event.total), b""
        elif time.monotonic() - seen < PAUSE:
            yield None
        else:
            shown[settled : event.reached] = event.rows(settled, event.reached)
            settled = event.settled
            rows = encoded(shown[: event.reached], "JPEG", **SO_FAR)
            yield (event.done, event.total), rows
            seen = time.monotonic()


def _give_back_memory() -> None:
    """To the system: glibc would keep what a photograph needed, once for every thread."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
