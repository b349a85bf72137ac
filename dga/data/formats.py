"""The formats of picture files: how each is told from others, read and written."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

ALLOWED = "PNG, JPEG, WebP, GIF, TIFF or BMP"
"""Formats that are read everywhere, in words."""
MOST_NOTES = 4_096  # blocks of a GIF's notes, 1 MB
_LOSSY = {"quality": 95}


class _Gif(GifImagePlugin.GifImageFile):
    """A GIF with a bounded number of notes: the more Pillow has joined, the longer each takes."""

    blocks = 0

    def data(self) -> bytes | None:
        self.blocks += 1
        if self.blocks > MOST_NOTES:
            raise ValueError("too many notes")
        return super().data()


@dataclass(frozen=True)
class Format:
    """A format of picture files."""

    name: str
    """As Pillow names it."""
    magic: bytes
    """What its files begin with, as a regular expression."""
    endings: tuple[str, ...]
    """Of its files' names, the usual one first."""
    reader: Any
    """Opens a file of it; None: none here does."""
    is_written: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    """For Pillow, where it is written."""
    is_moving: bool = False
    """Whether it has frames in time."""
    is_paged: bool = False
    """Whether it has pages."""
    is_opaque: bool = False
    """Whether it has no opacity."""
    is_deep: bool = False
    """Whether it is written with 16 bits of grey, too."""


def _find_heif_reader() -> Any:
    """pillow-heif's reader, where that is installed."""
    if not importlib.util.find_spec("pillow_heif"):
        return None
    return importlib.import_module("pillow_heif").HeifImageFile


_ALL = (
    Format(
        "PNG",
        rb"\x89PNG\r\n\x1a\n",
        (".png",),
        PngImagePlugin.PngImageFile,
        is_moving=True,
        is_deep=True,
    ),
    Format(
        "JPEG",
        rb"\xff\xd8\xff",
        (".jpg", ".jpeg", ".jfif"),
        JpegImagePlugin.JpegImageFile,
        options=_LOSSY,
        is_opaque=True,
    ),
    Format(
        "WEBP",
        rb"RIFF....WEBP",
        (".webp",),
        WebPImagePlugin.WebPImageFile,
        options=_LOSSY,
        is_moving=True,
    ),
    Format(
        "TIFF",
        rb"II\*\0|MM\0\*",
        (".tif", ".tiff"),
        TiffImagePlugin.TiffImageFile,
        is_paged=True,
        is_deep=True,
    ),
    Format("GIF", rb"GIF8[79]a", (".gif",), _Gif, is_moving=True),
    Format("BMP", rb"BM", (".bmp",), BmpImagePlugin.BmpImageFile, is_written=False),
    Format(
        "HEIF",
        rb"....ftyp(?:he[iv]|mif)",
        (".heic", ".heif"),
        _find_heif_reader(),
        is_written=False,
        is_paged=True,
    ),
)
FORMATS = {one.name: one for one in _ALL}
"""Formats by Pillow's name."""
ENDINGS = {ending for one in _ALL for ending in one.endings}
"""Endings of files that count as pictures; those that cannot be read are named."""
WRITTEN = {ending: one for one in _ALL if one.is_written for ending in one.endings}
"""Formats that are written, by the ending of a file's name."""
