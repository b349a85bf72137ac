"""The brush: everyday damage where its strokes touch a photo, and strokes as text for links.

``1.STROKE.STROKE``, where 1 is the version. A stroke is digits to the base of 64: its kind, its
size, the first point in two digits a coordinate, then one digit a coordinate for each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from dga.everyday import damage_as_everyday
from dga.images import Pixels

KINDS = ("noise", "blur", "fog", "rain", "scratches", "dark")
"""What brushes do; their places in this list stand in links."""
MOST_LETTERS = 4000
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
VERSION, GRID, FARTHEST = "1", 255, 31
"""Points lie on a grid of 0 to 255 in both directions; a step is at most 31 of it."""
SIZES = 128
"""The size's digit, plus one, is so many 128ths of the photo's longer side."""
UNREADABLE = "The brush strokes of this link cannot be read."
TOO_LONG = f"A link holds at most {MOST_LETTERS:,} letters of brush strokes."
DRAWN = 448
"""Pixels of the longer side of the plan on which strokes are drawn, whatever the photo's size."""
NOISE = 0.5 * 255
"""Standard deviation of painted noise, in levels of 255."""
BLUR = 20.0
"""Deviation of painted blur, in pixels of a photo of 700 pixels."""
DARK = 0.06
"""Share of the levels that is left where it was painted dark."""


@dataclass(frozen=True)
class Stroke:
    """``points``: in shares of the photo's sides; ``size``: its width, as a share of the longer."""

    kind: str
    size: float
    points: tuple[tuple[float, float], ...]


def parse_strokes(text: str) -> tuple[Stroke, ...]:
    """Strokes, the first one first. Raises ``ValueError`` with a sentence."""
    if len(text) > MOST_LETTERS:
        raise ValueError(TOO_LONG)
    version, *strokes = text.split(".") if text else [VERSION]
    if version != VERSION or (text and not strokes):
        raise ValueError(UNREADABLE)
    return tuple(map(_parse_stroke, strokes))


def _parse_stroke(text: str) -> Stroke:
    numbers = [DIGITS.find(digit) for digit in text]
    if len(numbers) < 6 or len(numbers) % 2 or min(numbers) < 0 or numbers[0] >= len(KINDS):
        raise ValueError(UNREADABLE)
    kind, size, *first = numbers[:6]
    steps = np.array(numbers[6:], int).reshape(-1, 2) - FARTHEST
    start = [[64 * first[0] + first[1], 64 * first[2] + first[3]]]
    points = np.cumsum(np.concatenate([start, steps]), 0)  # [n, 2]
    if points.min() < 0 or points.max() > GRID:
        raise ValueError(UNREADABLE)
    shares = tuple((float(x), float(y)) for x, y in points / GRID)
    return Stroke(KINDS[kind], (size + 1) / SIZES, shares)


def draw_plan(text: str, height: int, width: int) -> np.ndarray:
    """Which brush touched each place last: its number in :data:`KINDS` from 1, 0 for none.

    ``height``, ``width``: the photo's; the plan, uint8, is as long as :data:`DRAWN`.
    """
    scale = DRAWN / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    plan = Image.new("L", size)
    pen = ImageDraw.Draw(plan)
    for stroke in parse_strokes(text):
        number, radius = KINDS.index(stroke.kind) + 1, stroke.size * DRAWN / 2
        points = [(x * (size[0] - 1), y * (size[1] - 1)) for x, y in stroke.points]
        pen.line(points, fill=number, width=max(1, round(2 * radius)))
        for x, y in points:
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=number)
    return np.asarray(plan)


def measure_touched(text: str, height: int, width: int) -> float:
    """Share of a photo that strokes touch."""
    return round(float((draw_plan(text, height, width) > 0).mean()), 4)


def paint_photo(pixels: Pixels, text: str, layers: dict[str, Pixels]) -> Pixels:
    """The photo, uint8 ``[H, W, 3]``, with its strokes; ``layers``: see :func:`get_layer`."""
    height, width = pixels.shape[:2]
    plan, painted = draw_plan(text, height, width), pixels.astype(np.float32)
    for number in np.unique(plan[plan > 0]):
        cover = Image.fromarray(np.where(plan == number, 255, 0).astype(np.uint8))
        share = np.asarray(cover.resize((width, height), Image.Resampling.BILINEAR), np.float32)
        layer = get_layer(pixels, KINDS[number - 1], layers)
        painted += share[..., None] / 255 * (layer.astype(np.float32) - pixels)
    return painted.round().clip(0, 255).astype(np.uint8)


def get_layer(pixels: Pixels, kind: str, layers: dict[str, Pixels]) -> Pixels:
    """The whole photo as a brush makes it, the same each time; kept in ``layers``, by kind."""
    if kind not in layers:
        layers[kind] = np.asarray(_damage(pixels, kind)).round().clip(0, 255).astype(np.uint8)
    return layers[kind]


def _damage(pixels: Pixels, kind: str) -> np.ndarray | Image.Image:
    random = np.random.default_rng(KINDS.index(kind))
    if kind == "noise":
        return pixels + NOISE * random.standard_normal(pixels.shape, np.float32)
    if kind == "blur":
        blur = ImageFilter.GaussianBlur(BLUR * max(pixels.shape) / 700)
        return Image.fromarray(pixels).filter(blur)
    if kind == "fog":
        return damage_as_everyday(pixels, "haze", 5, 0)
    if kind == "rain":  # twice: it pours
        return damage_as_everyday(damage_as_everyday(pixels, "rain", 5, 0), "rain", 5, 1)
    if kind == "dark":
        return DARK * pixels.astype(np.float32)
    return _scratch(pixels, random)


def _scratch(pixels: Pixels, random: np.random.Generator) -> np.ndarray:
    """Thin bright lines, straight or slightly bent, as on old film."""
    height, width = pixels.shape[:2]
    lines, unit = Image.new("L", (2 * width, 2 * height)), 2 * max(height, width)
    pen = ImageDraw.Draw(lines)
    for _ in range(160):
        middle = random.uniform(0, 2, 2) * (width, height)
        angle, bend = random.uniform(0, 2 * np.pi), random.uniform(-0.3, 0.3)
        turns = angle + bend * np.linspace(-1, 1, 9)
        steps = np.cumsum(np.stack([np.cos(turns), np.sin(turns)], 1), 0) / 9  # [9, 2]
        path = middle + random.uniform(0.2, 0.7) * unit * (steps - steps[4])
        thickness = max(1, round(random.uniform(0.002, 0.008) * unit))
        pen.line([*map(tuple, path.tolist())], round(random.uniform(130, 255)), thickness)
    cover = np.asarray(lines.resize((width, height), Image.Resampling.BOX), np.float32) / 255
    return pixels + cover[..., None] * (245.0 - pixels)
