"""From a file of unknown origin to a safe RGB picture, or one clear sentence."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from dga.images import Pixels, to_pixels, to_square

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
MIN_SIDE = 16
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000

_ALLOWED = "PNG, JPEG, WebP, GIF, TIFF or BMP"
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error)


class UploadError(ValueError):
    """A file that cannot be used. The message is one sentence for its owner."""


def open_upload(path: str | Path | None) -> Image.Image:
    """Read one uploaded picture: 8-bit RGB, upright, without metadata.

    Sizes are read from the header and refused before anything is decoded. Of an
    animation the first frame is taken; transparency is laid over white. Raises
    :class:`UploadError`.
    """
    if not path:
        raise UploadError("Choose a picture first: upload one, paste one or pick an example.")
    file = Path(path)
    if not file.is_file():
        raise UploadError("There is no such file (any more); please choose the picture again.")
    if file.stat().st_size == 0:
        raise UploadError(f"The file is empty; choose a {_ALLOWED} picture.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # our own size limit is stricter than Pillow's warning
        with _open_header(file) as image:
            check_size(*image.size)
            return _decode(image)


def _open_header(file: Path) -> Image.Image:
    try:
        return Image.open(file, formats=FORMATS)
    except UnidentifiedImageError:
        raise UploadError(f"This file is not a {_ALLOWED} picture.") from None
    except Image.DecompressionBombError:
        raise UploadError(_too_large("The picture")) from None
    except _DAMAGE:
        raise UploadError(_damaged()) from None


def check_size(width: int, height: int) -> None:
    """Raise :class:`UploadError` unless both sides and their product are within limits."""
    if min(width, height) < MIN_SIDE:
        raise UploadError(
            f"The picture is {width} by {height} pixels; "
            f"each side must have at least {MIN_SIDE} pixels."
        )
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise UploadError(_too_large(f"The picture is {width:,} by {height:,} pixels and"))


def _decode(image: Image.Image) -> Image.Image:
    try:
        image.seek(0)
        image.load()
        ImageOps.exif_transpose(image, in_place=True)
    except _DAMAGE:
        raise UploadError(_damaged()) from None
    rgb = _flatten(image)
    rgb.info = {}  # no EXIF, no colour profile, no text
    return rgb


def _flatten(image: Image.Image) -> Image.Image:
    """A new RGB picture: wide greys scaled to 8 bits, transparency over white."""
    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_to_8_bits(image)).convert("RGB")
    if image.has_transparency_data:
        image = image if image.mode == "RGBA" else image.convert("RGBA")
        paper = Image.new("RGB", image.size, "white")
        paper.paste(image, mask=image.getchannel("A"))
        return paper
    return image.convert("RGB")


def _to_8_bits(image: Image.Image) -> np.ndarray:
    """Grey in 16 or 32 bits, or float, to uint8 ``[H, W]``."""
    values = np.asarray(image)
    grey = np.nan_to_num(values.astype(np.float32), copy=False)
    top = float(grey.max())
    if values.dtype.kind == "f":
        full = 1.0 if top <= 1 else 255.0 if top <= 255 else max(top, 65535.0)
    else:
        full = 255.0 if top <= 255 and values.dtype != np.uint16 else max(top, 65535.0)
    grey *= 255 / full
    return grey.round(out=grey).clip(0, 255, out=grey).astype(np.uint8)


def _too_large(subject: str) -> str:
    return (
        f"{subject} is too large: at most {MAX_SIDE:,} pixels a side "
        f"and {MAX_PIXELS // 1_000_000} megapixels are read."
    )


def _damaged() -> str:
    return "This picture is damaged or incomplete and cannot be read; try saving it again."


def read_square(path: str | Path | None, size: int) -> Pixels:
    """:func:`open_upload` as a run sees it: uint8 ``[size, size, 3]``, cropped to the middle."""
    return to_pixels(to_square(open_upload(path), size))
