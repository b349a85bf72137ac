"""Example pictures and whole photographs, from packages that are installed anyway."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from app.parts.pictures import data_uri
from app.words.photo import PHOTOGRAPHS
from app.words.try_it import EXAMPLE_TITLES
from dga.data.examples import SPLITS, Source
from dga.data.uploads import open_upload, read_square
from dga.images import Pixels, to_pixels, to_square

SHOWN_SIDE = 384
LONGEST = 512  # pixels of a photograph's longer side
SOURCES = {
    "cat": SPLITS["tune"]["cat"],
    "horse": Source("skimage", "data/horse.png", "CC0"),
    "lake": SPLITS["report"]["temple"],
    "lion": SPLITS["report"]["lion"],  # comes with Gradio: it may be shown, but not shipped
}
TRUTHS = {"cat": "cat", "horse": "hoofed animal", "lake": "landscape", "lion": "big cat"}
"""What they show, as the profile everyday16 calls it."""
BOXES = {"horse": (73, 0, 373, 300), "lake": (342, 107, 640, 405)}
"""Left, top, right and bottom, where an undamaged picture is read as what it shows."""


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """One folder a process, removed when it ends; of a page within the one of its uploads."""
    within = os.environ.get("GRADIO_TEMP_DIR") or None
    return tempfile.TemporaryDirectory(prefix="dga-examples-", dir=within)


@dataclass(frozen=True)
class Example:
    """``path``: a square PNG on this machine; ``thumbnail``: a data URI; ``truth``: its class."""

    name: str
    title: str
    path: str
    thumbnail: str
    truth: str | None = None

    def pixels(self, size: int) -> Pixels:
        """The picture as a run sees it, uint8 ``[size, size, 3]``."""
        return _square(self.path, size)


@cache
def _square(path: str, size: int) -> Pixels:
    return read_square(path, size)


@cache
def load_examples() -> list[Example]:
    """Four pictures, prepared once; one whose package has moved it is left out."""
    folder = Path(_folder().name)
    found = []
    for name, title in EXAMPLE_TITLES.items():
        try:
            image = open_upload(SOURCES[name].path()).crop(BOXES.get(name))
        except (OSError, ValueError):
            continue
        path = folder / f"{name}.png"
        # Before it is enlarged or reduced for the eye, nothing is lost that a run could see.
        to_square(image, SHOWN_SIDE).save(path, compress_level=1)  # fast: the page waits for it
        thumbnail = data_uri(to_pixels(to_square(image, 96)), "JPEG")
        found.append(Example(name, title, str(path), thumbnail, TRUTHS[name]))
    return found


def identify(pixels: Pixels, examples: list[Example]) -> Example | None:
    """The example that has exactly these pixels, uint8 ``[S, S, 3]``; None for any other."""
    size = pixels.shape[0]
    return next((e for e in examples if np.array_equal(e.pixels(size), pixels)), None)


@cache
def load_photographs() -> dict[str, Pixels]:
    """Four, by name, uint8 ``[H, W, 3]``; one whose package has moved it is left out."""
    found = {}
    for name in PHOTOGRAPHS:
        if path := SPLITS["tune"][name].path():
            image = open_upload(path)
            image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
            found[name] = to_pixels(image)
    return found
