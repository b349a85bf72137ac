"""Pictures as the page receives them: WebP in a data URL."""

from __future__ import annotations

import base64
import io

from PIL import Image

from dga.images import Pixels

QUALITY = 92
SMALL = 112
"""Pixels a side of a picture in a row of many."""


def to_data_url(pixels: Pixels, side: int | None = None, quality: int = QUALITY) -> str:
    """A picture, uint8 ``[H, W, 3]``, perhaps reduced to ``side`` pixels, for ``img.src``."""
    content = to_webp(pixels, side, quality)
    return f"data:image/webp;base64,{base64.b64encode(content).decode()}"


def to_webp(pixels: Pixels, side: int | None = None, quality: int = QUALITY) -> bytes:
    """A picture, uint8 ``[H, W, 3]``, perhaps reduced to ``side`` pixels, as a file."""
    image = Image.fromarray(pixels)
    if side and max(image.size) > side:
        image.thumbnail((side, side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "WEBP", quality=quality, method=2)
    return file.getvalue()
