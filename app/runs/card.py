"""The card of a photo, to keep and for links: original, damaged, repaired, and what was read."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps

from app.runs.samples import find_packaged
from app.runs.sentences import name_touched
from dga.images import Pixels
from dga.io.numbers import format_share as percent

WIDTH, HEIGHT, PICTURE, MARGIN, GAP, TOP = 1200, 630, 344, 48, 36, 186
INK, QUIET, CARD, SUNK, OK, BAD, PLAIN = (
    "#eef0f5", "#b3bac9", "#0e1117", "#2b3240", "#7fd6a8", "#f2a093", "#a3aaba",
)  # fmt: skip
_FONTS = "templates/frontend/static/fonts/IBMPlexSans/IBMPlexSans-{}.woff2"


def draw_card(pictures: Sequence[Pixels], parts: Mapping[str, Any], address: str) -> bytes:
    """A PNG of 1200 by 630 pixels.

    ``pictures``: original, damaged and repaired, uint8 ``[H, W, 3]``; ``parts``: of a run's record;
    ``address``: where this page is, as people type it.
    """
    card = Image.new("RGB", (WIDTH, HEIGHT), CARD)
    pen = ImageDraw.Draw(card)
    is_game = "touched" in parts
    winner = name_winner(parts) if is_game else ""
    pen.text((MARGIN, 16), winner, INK, _find_font(44))
    lines, size = textwrap.wrap(parts["headline"], 52), 40
    if winner or len(lines) > 2:
        lines, size = textwrap.wrap(parts["headline"], 76)[: 2 if winner else 3], 27
    place = MARGIN, 72 if winner else 28
    pen.multiline_text(place, "\n".join(lines), INK, _find_font(size), spacing=10)
    invitation = address
    if is_game:
        share = name_touched(parts["touched"])
        invitation = f"{share} of the photo brushed over. Can you do better? {address}"
    pen.text((MARGIN, TOP - 14), invitation, QUIET, _find_font(22, "Regular"), "ls")
    names = {
        "original": "Original",
        "damaged": "Painted" if is_game else "Damaged" if parts["is_damaged"] else "As it came",
        "repaired": "Left alone" if parts["repaired"]["is_unchanged"] else "Repaired",
    }
    columns = [*zip(pictures, names, strict=True)][0 if parts["is_damaged"] else 1 :]
    width = (WIDTH - 2 * MARGIN + GAP) // len(columns) - GAP
    for n, (pixels, part) in enumerate(columns):
        left, bottom = MARGIN + n * (width + GAP), TOP + PICTURE
        picture = ImageOps.contain(Image.fromarray(pixels), (width, PICTURE))
        card.paste(picture, (left + (width - picture.width) // 2,
                             TOP + (PICTURE - picture.height) // 2))  # fmt: skip
        reading = parts[part]["reading"]
        guess = f"{'' if reading['is_sure'] else 'perhaps '}{reading['label']}"
        sight = textwrap.fill(f"{names[part]}: {guess} {percent(reading['share'])}", width // 11)
        pen.multiline_text((left, bottom + 6), sight, INK, _find_font(22), spacing=4)
        color = {True: OK, False: BAD, None: PLAIN}[reading["is_right"]]
        bar = left, bottom + 72, left + width, bottom + 84
        pen.rounded_rectangle(bar, 6, SUNK)
        end = left + max(12, width * reading["share"])
        pen.rounded_rectangle((*bar[:2], end, bar[3]), 6, color)
    file = io.BytesIO()
    card.save(file, "PNG")
    return file.getvalue()


def name_winner(parts: Mapping[str, Any]) -> str:
    """Who wins a game; empty where paint hides nothing, or there is nothing to hide."""
    truth = parts["truth"]
    labels = [parts[part]["reading"]["label"] for part in ("damaged", "repaired")]
    if truth is None or labels[0] == truth:
        return ""
    return "The repair wins" if labels[1] == truth else "The painter wins"


@cache
def _find_font(size: int, weight: str = "Bold") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The page's own, which Gradio ships; Pillow's where it has moved."""
    path = find_packaged("gradio", _FONTS.format(weight))
    return ImageFont.truetype(str(path), size) if path else ImageFont.load_default(size)
