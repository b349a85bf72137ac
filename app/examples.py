"""Example pictures, prepared at start from packages that are installed anyway."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import gradio
import skimage.data
from PIL import Image

from app.pictures import data_uri
from dga.images import to_pixels, to_square
from dga.uploads import open_upload

SHOWN_SIDE = 384


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """One folder a process, removed when it ends."""
    return tempfile.TemporaryDirectory(prefix="dga-examples-")


@dataclass(frozen=True)
class Example:
    """``path``: a square PNG on this machine; ``thumbnail``: a data URI."""

    name: str
    path: str
    thumbnail: str


def load_examples() -> list[Example]:
    """Five pictures; one whose package has moved it is left out."""
    media = Path(gradio.__file__).parent / "media_assets" / "images"
    folder = Path(_folder().name)
    found = []
    for name in ("lion", "cheetah", "cat", "coffee", "bus"):
        try:
            image = _source(name, media)
        except (OSError, ValueError):
            continue
        path = folder / f"{name}.png"
        # Before it is enlarged or reduced for the eye, nothing is lost that 64 pixels could show.
        to_square(image, SHOWN_SIDE).save(path)
        thumbnail = data_uri(to_pixels(to_square(image, 96)), "JPEG")
        found.append(Example(name, str(path), thumbnail))
    return found


def _source(name: str, media: Path) -> Image.Image:
    if name == "cat":
        return Image.fromarray(skimage.data.chelsea())
    if name == "coffee":
        return Image.fromarray(skimage.data.coffee())
    return open_upload(media / {"bus": "bus.png"}.get(name, f"{name}.jpg"))
