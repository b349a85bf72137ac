"""All pictures of a run on one sheet, with their labels."""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from dga.images import Pixels
from dga.sentences import percent

SIDE = 256
GAP = 24
MARGIN = 40
HEAD = 96
FOOT = 76
INK, QUIET, PAPER = "#161A23", "#4E5566", "#FFFFFF"


@dataclass(frozen=True)
class LabelledPicture:
    """One picture, uint8 ``[S, S, 3]``, and what the classifier says of it."""

    title: str
    pixels: Pixels
    label: str
    probability: float


def draw_contact_sheet(line: str, panels: list[LabelledPicture]) -> bytes:
    """A PNG file: ``line`` on top, the pictures in a row, enlarged without smoothing."""
    width = 2 * MARGIN + len(panels) * SIDE + (len(panels) - 1) * GAP
    page = Image.new("RGB", (width, HEAD + 32 + SIDE + FOOT), PAPER)
    pen = ImageDraw.Draw(page)
    pen.text((MARGIN, MARGIN), line, INK, ImageFont.load_default(28))
    for number, panel in enumerate(panels):
        _draw(page, pen, MARGIN + number * (SIDE + GAP), panel)
    stream = io.BytesIO()
    page.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _draw(page: Image.Image, pen: ImageDraw.ImageDraw, left: int, panel: LabelledPicture) -> None:
    pen.text((left, HEAD), panel.title, QUIET, ImageFont.load_default(20))
    picture = Image.fromarray(panel.pixels).resize((SIDE, SIDE), Image.Resampling.NEAREST)
    page.paste(picture, (left, HEAD + 32))
    below = HEAD + 32 + SIDE + 12
    pen.text((left, below), panel.label, INK, ImageFont.load_default(24))
    share = percent(panel.probability)
    pen.text((left + SIDE, below), share, INK, ImageFont.load_default(24), anchor="ra")
