"""The card of a photo: before, after, what was read of both, a sentence; for keeping and links."""

from __future__ import annotations

import importlib.util
import io
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps

from dga.images import Pixels
from dga.io.numbers import format_share as percent

WIDTH, HEIGHT, PICTURE, MARGIN, GAP = 1200, 630, 396, 48, 24
INK, QUIET, CARD, SUNK, OK, BAD, PLAIN = (
    "#eef0f5", "#b3bac9", "#0e1117", "#2b3240", "#7fd6a8", "#f2a093", "#a3aaba",
)  # fmt: skip
_FONTS = "templates/frontend/static/fonts/IBMPlexSans/IBMPlexSans-{}.woff2"


def draw_card(before: Pixels, after: Pixels, parts: Mapping[str, Any], address: str) -> bytes:
    """A PNG of 1200 by 630 pixels. ``parts``: of a run's record.

    ``address``: where this page is, as people type it.
    """
    card = Image.new("RGB", (WIDTH, HEIGHT), CARD)
    pen = ImageDraw.Draw(card)
    lines, size = textwrap.wrap(parts["headline"], 52), 40
    if len(lines) > 2:
        lines, size = textwrap.wrap(parts["headline"], 76)[:3], 27
    pen.multiline_text((MARGIN, 28), "\n".join(lines), INK, _find_font(size), spacing=10)
    name = "Painted" if "touched" in parts else "Damaged" if parts["is_damaged"] else "As it came"
    is_unchanged = parts["repaired"]["is_unchanged"]
    names = name, "Left alone" if is_unchanged else "Repaired"
    for n, (pixels, part) in enumerate(zip((before, after), ("damaged", "repaired"), strict=True)):
        left, top = MARGIN + n * (PICTURE + GAP), HEIGHT - MARGIN - PICTURE
        picture = ImageOps.contain(Image.fromarray(pixels), (PICTURE, PICTURE))
        card.paste(picture, (left + (PICTURE - picture.width) // 2,
                             top + (PICTURE - picture.height) // 2))  # fmt: skip
        reading = parts[part]["reading"]
        left, top = MARGIN + 2 * (PICTURE + GAP), top + n * 190
        pen.text((left, top), names[n], QUIET, _find_font(22, "Regular"))
        guess = f"{'' if reading['is_sure'] else 'perhaps '}{reading['label']}"
        sight = "\n".join(textwrap.wrap(f"{guess} {percent(reading['share'])}", 20))
        pen.multiline_text((left, top + 30), sight, INK, _find_font(24), spacing=6)
        color = {True: OK, False: BAD, None: PLAIN}[reading["is_right"]]
        width = WIDTH - MARGIN - left
        bar = left, top + 124, left + width, top + 136
        pen.rounded_rectangle(bar, 6, SUNK)
        pen.rounded_rectangle(
            (*bar[:2], left + max(12, width * reading["share"]), bar[3]), 6, color
        )
    invitation = f"Can you do better? {address}" if "touched" in parts else address
    place = MARGIN, HEIGHT - MARGIN - PICTURE - 18
    pen.text(place, invitation, QUIET, _find_font(22, "Regular"), "ls")
    file = io.BytesIO()
    card.save(file, "PNG")
    return file.getvalue()


@cache
def _find_font(size: int, weight: str = "Bold") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The page's own, which Gradio ships; Pillow's where it has moved."""
    spec = importlib.util.find_spec("gradio")
    try:
        folder = Path(spec.origin if spec and spec.origin else "").parent
        return ImageFont.truetype(str(folder / _FONTS.format(weight)), size)
    except OSError:
        return ImageFont.load_default(size)
