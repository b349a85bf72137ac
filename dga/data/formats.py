"""The formats of picture files: how each is recognised, read and written."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

ALLOWED = "PNG, JPEG, WebP, GIF, TIFF or BMP"
"""Formats that are read everywhere, in words."""
MOST_COMMENT_BLOCKS = 4_096
"""Most blocks of a GIF's comments; so many hold 1 MB."""
_LOSSY = {"quality": 95}


class _Gif(GifImagePlugin.GifImageFile):
    """A GIF with a bounded number of comment blocks.

    Pillow joins them, and the time that a block takes grows with those that it has joined before.
    """

    blocks = 0

    def data(self) -> bytes | None:
        self.blocks += 1
        if self.blocks > MOST_COMMENT_BLOCKS:
            raise ValueError("too many comments")
        return super().data()


@dataclass(frozen=True)
class Format:
    """A format of picture files."""

    name: str
    """As Pillow names it."""
    magic: bytes
    """The first bytes of its files, as a regular expression."""
    endings: tuple[str, ...]
    """Endings of its files' names, the usual one first."""
    reader: Any
    """A function that opens a file of it; None where no installed package can."""
    is_written: bool = True
    """Whether results can be written in it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options for Pillow when it is written."""
    is_animated: bool = False
    """Whether its files can hold frames that follow each other in time."""
    has_pages: bool = False
    """Whether its files can hold several pages."""
    is_opaque: bool = False
    """Whether its files cannot hold opacity."""
    is_high_bit: bool = False
    """Whether grey can be written with 16 bits."""


def _find_heif_reader() -> Any:
    """The reader of pillow-heif; None where that is not installed."""
    if not importlib.util.find_spec("pillow_heif"):
        return None
    return importlib.import_module("pillow_heif").HeifImageFile


_ALL = (
    Format(
        "PNG",
        rb"\x89PNG\r\n\x1a\n",
        (".png",),
        PngImagePlugin.PngImageFile,
        is_animated=True,
        is_high_bit=True,
    ),
    Format(
        "JPEG",
        rb"\xff\xd8\xff",
        (".jpg", ".jpeg", ".jfif", ".jpe", ".mpo"),
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
        is_animated=True,
    ),
    Format(
        "TIFF",
        rb"II\*\0|MM\0\*",
        (".tif", ".tiff"),
        TiffImagePlugin.TiffImageFile,
        has_pages=True,
        is_high_bit=True,
    ),
    Format("GIF", rb"GIF8[79]a", (".gif",), _Gif, is_animated=True),
    Format("BMP", rb"BM", (".bmp",), BmpImagePlugin.BmpImageFile, is_written=False),
    Format(
        "PPM",
        rb"P[1-6]\s",
        (".ppm", ".pgm", ".pbm", ".pnm"),
        PpmImagePlugin.PpmImageFile,
        is_written=False,
    ),
    Format(
        "AVIF",
        rb"....ftypavi[fs]",
        (".avif", ".avifs"),
        AvifImagePlugin.AvifImageFile if AvifImagePlugin.SUPPORTED else None,
        is_written=False,
        has_pages=True,
    ),
    Format(
        "HEIF",
        rb"....ftyp(?:he[iv]|mif)",
        (".heic", ".heif"),
        _find_heif_reader(),
        is_written=False,
        has_pages=True,
    ),
)
FORMATS = {one.name: one for one in _ALL}
"""All formats, by Pillow's name."""
_UNREAD = {".jp2", ".j2k", ".jxl", ".tga", ".psd", ".ico", ".dds", ".exr"}
"""Endings of pictures that are named, as none of their formats is read."""
ENDINGS = _UNREAD.union(*(one.endings for one in _ALL))
"""Endings of names that mark a file as a picture, even where its format cannot be read here."""
WRITTEN = {ending: one for one in _ALL if one.is_written for ending in one.endings}
"""Formats that are written, by the ending of a file's name."""
