"""Whole photographs to begin with, from an installed package, at their own size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import skimage
from PIL import Image

from app.parts.pictures import data_uri
from app.words.photo import PHOTOGRAPHS
from dga.data.uploads import open_upload
from dga.images import Pixels, to_pixels, to_square

LONGEST = 512  # pixels of the longer side
_FILES = {"astronaut": "astronaut.png", "cat": "chelsea.png", "rocket": "rocket.jpg"}
_FILES["coffee"] = "coffee.png"


@dataclass(frozen=True)
class Photograph:
    """``pixels``: uint8 ``[H, W, 3]``; ``thumbnail``: a data URI of a square."""

    name: str
    title: str
    pixels: Pixels
    thumbnail: str


@cache
def load_photographs() -> dict[str, Photograph]:
    """Four, by name; one whose package has moved it is left out."""
    folder, found = Path(skimage.__file__).parent / "data", {}
    for name, title in PHOTOGRAPHS.items():
        try:
            image = open_upload(folder / _FILES[name])
        except (OSError, ValueError):
            continue
        image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
        small = data_uri(to_pixels(to_square(image, 144)), "JPEG")
        found[name] = Photograph(name, title, to_pixels(image), small)
    return found
