"""A whole photograph: damaged, repaired with a depth for each place, or with one everywhere."""

from __future__ import annotations

import csv
import io
import itertools
import math
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from app.parts.pictures import encoded, uri
from app.runs.damage import NONE, Damage
from app.runs.places import Places, find_places
from app.runs.session import Session
from app.words.photo import TOO_LONG
from dga.images import Pixels
from dga.photograph import Photograph, Progress, photograph_steps

DEEPEST = 32  # of one depth everywhere
SURVEY = range(0, DEEPEST + 1, 2)  # depths that the best one is looked for among, at least
QUALITY = 88  # of photographs to look at
UNDER_WAY = ("wait", "working")
CROP = 80, 64  # pixels of a close-up
UNTOUCHED = 0.2  # share of the photograph, below which close-ups say nothing


@dataclass(frozen=True)
class CloseUp:
    """One part at one depth everywhere and at its own; ``own``: its own depth."""

    single: Pixels
    image: Pixels
    own: int


@dataclass
class Photo:
    """A visitor's photograph and what has come of it.

    ``name``: of an example, empty for her own; ``clean``: as it came; ``came``: how many pixels
    that were. ``singles``: PSNR in dB for one depth everywhere, as far as it is known; ``best``:
    the best of them, and its picture; ``last``: the picture asked for last.
    """

    name: str
    clean: Pixels
    damage: Damage
    came: int = 0
    damaged: Pixels = field(default_factory=lambda: np.zeros((0, 0, 3), np.uint8))
    phase: str = "empty"
    progress: tuple[int, int] = (0, 0)
    seconds: float = 0.0
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
        if not self.damaged.size:
            self.damaged = self.damage.apply(self.clean)

    @property
    def running(self) -> bool:
        return self.phase in UNDER_WAY

    @property
    def has_truth(self) -> bool:
        return self.damage.kind != NONE

    def quality(self, pixels: Pixels) -> float | None:
        """PSNR in dB against the undamaged photograph; None where that is not known."""
        if not self.has_truth:
            return None
        error = np.mean((pixels.astype(np.float32) - self.clean) ** 2)
        return min(99.0, 10 * math.log10(255**2 / max(float(error), 1e-9)))

    def again(self) -> Photo:
        """The same photograph and damage, nothing computed."""
        return Photo(self.name, self.clean, self.damage, self.came)

    def take(self, result: Photograph, places: Places | None = None) -> None:
        """A finished repair, and what was found where if that is known."""
        self.result, self.places = result, places or find_places(result)
        self.phase, self.seconds = "done", result.seconds

    def take_single(self, depth: int, image: Pixels) -> None:
        """What one depth everywhere gives."""
        self.last, quality = (depth, image), self.quality(image)
        if quality is None:
            return
        self.singles[depth] = quality
        if self.best is None or quality > self.singles[self.best[0]]:
            self.best = depth, image

    @property
    def surveyed(self) -> bool:
        """Whether the best single depth is known."""
        return all(depth in self.singles for depth in SURVEY)

    def copy(self) -> Photo:
        """For one visitor, of what all have in common."""
        return replace(self, singles=dict(self.singles), cancel=threading.Event())

    def address(self, name: str, pixels: Pixels) -> str:
        """One of its pictures as the address of a WebP to look at, made once."""
        if name not in self._addresses:
            content = encoded(pixels, "WEBP", quality=QUALITY, method=2)
            self._addresses[name] = uri(content, "webp")
        return self._addresses[name]

    @property
    def left(self) -> float:
        """Share of the photograph that came back as it was, in [0, 1]."""
        assert self.result
        return float((self.result.image == self.damaged).all(-1).mean())

    def close_ups(self) -> list[CloseUp]:
        """Where the best single depth is too shallow, and where it is too deep; empty without.

        Of the windows that are deeper and of those at depth 0, each time the one that gains most
        by its own depth; both have to gain.
        """
        if not (self.result and self.best) or self.left < UNTOUCHED or not self.has_truth:
            return []
        (depth, single), found = self.best, self.result
        worse = _error(single, self.clean) - _error(found.image, self.clean)  # [H, W]
        parts = []
        for wanted in (found.depths > depth, found.depths == 0):
            gains = np.full((len(found.rows), len(found.columns)), -np.inf)
            for row, column in np.argwhere(wanted).tolist():
                top, left = self._crop(row, column)
                gain = worse[top : top + CROP[1], left : left + CROP[0]].mean()
                gains[row, column] = gain
            if not (gains > 0).any():
                return []
            row, column = divmod(int(np.argmax(gains)), gains.shape[1])
            top, left = self._crop(row, column)
            cut = np.s_[top : top + CROP[1], left : left + CROP[0]]
            parts.append(CloseUp(single[cut], found.image[cut], int(found.depths[row, column])))
        return parts

    def _crop(self, row: int, column: int) -> tuple[int, int]:
        """Top and left of a close-up around a window."""
        assert self.result
        height, width = self.clean.shape[:2]
        top, left = self.result.rows[row], self.result.columns[column] - (CROP[0] - CROP[1]) // 2
        return max(0, min(top, height - CROP[1])), max(0, min(left, width - CROP[0]))

    def csv(self) -> str:
        """Depths by place, a line each."""
        assert self.result
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("top", "left", "depth"))
        for top, depths in zip(self.result.rows, self.result.depths, strict=True):
            for left, depth in zip(self.result.columns, depths, strict=True):
                writer.writerow((top, left, int(depth)))
        return stream.getvalue()

    def png(self) -> bytes:
        """The repaired photograph at its own size."""
        assert self.result
        return encoded(self.result.image, "PNG")


def _error(pixels: Pixels, clean: Pixels) -> np.ndarray:
    return ((pixels.astype(np.float32) - clean) ** 2).mean(-1)


def repair(session: Session, photo: Photo) -> Generator[None]:
    """A depth for each place. Raises what :meth:`~app.runs.session.Session.watched` does."""
    photo.phase, begun = "working", time.monotonic()
    for event in _events(session, photo, None):
        if isinstance(event, Progress):
            photo.progress = event.done, event.total
        elif isinstance(event, Photograph):
            photo.take(event)
        photo.seconds = time.monotonic() - begun
        yield


def single(session: Session, photo: Photo, depth: int) -> Iterator[None]:
    """One depth everywhere. Raises what :meth:`~app.runs.session.Session.watched` does."""
    for event in _events(session, photo, depth):
        if isinstance(event, Progress):
            photo.progress = event.done, event.total
        elif isinstance(event, Photograph):
            photo.take_single(depth, event.image)
        yield


def _events(session: Session, photo: Photo, depth: int | None) -> Iterator[object]:
    asked = photo.damaged, None, None, depth
    budget = session.budget(pictures=max(1, photo.damaged.size // 3 // 2**16))
    return session.lent(photo.cancel, photograph_steps, *asked, budget=budget, too_long=TOO_LONG)
