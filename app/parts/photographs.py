"""Whole photographs to begin with, from an installed package, at their own size."""

from __future__ import annotations

from functools import cache

from PIL import Image

from app.words.photo import PHOTOGRAPHS
from dga.data.uploads import open_upload
from dga.evaluation.photographs import SPLITS
from dga.images import Pixels, to_pixels

LONGEST = 512  # pixels of the longer side


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
