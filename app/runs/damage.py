"""What a visitor does to a photograph: strokes of a brush, a ramp of noise, or a corruption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from app.server.errors import RequestError
from app.server.limits import MAX_STROKES
from app.words.photo import BAD_DAMAGE, BAD_STROKES
from dga.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from dga.images import Pixels

NONE, STROKES, RAMP = "none", "strokes", "ramp"
BRUSHES = ("noise", "blur", "dark")
SIZES, STRENGTHS = (16, 240), (10, 100)
MAX_POINTS = 64
SEED = 0
RAMP_NOISE = 0.45  # at the right edge, in [-1, 1]
STROKE_NOISE = 0.6  # at full strength
STROKE_BLUR = 8.0  # pixels


@dataclass(frozen=True)
class Stroke:
    """``points``: in shares of the photograph's sides; ``size``: of the brush, of 688 px across.

    ``strength``: in percent.
    """

    kind: str
    size: float
    strength: float
    points: Sequence[tuple[float, float]]


TWO_PLACES = (
    Stroke("noise", 150, 85, ((0.42, 0.22), (0.48, 0.36))),
    Stroke("noise", 150, 55, ((0.56, 0.76), (0.68, 0.80), (0.86, 0.80))),
)
"""The strokes that the page opens with."""


@dataclass(frozen=True)
class Damage:
    """``kind``: none, strokes, ramp or one of the corruptions, which alone has a severity."""

    kind: str = STROKES
    severity: int = 3
    strokes: Sequence[Stroke] = TWO_PLACES

    def apply(self, pixels: Pixels) -> Pixels:
        """A photograph with this damage, uint8 ``[H, W, 3]``; the same bits each time."""
        if self.kind == NONE:
            return pixels
        if self.kind not in (STROKES, RAMP):
            return corrupt(pixels, self.kind, self.severity, SEED).copy()
        rng = np.random.default_rng(SEED)
        if self.kind == RAMP:
            level = np.linspace(0, RAMP_NOISE, pixels.shape[1])[None, :, None]
            return _noised(pixels, level * np.ones((len(pixels), 1, 1)), rng)
        for stroke in self.strokes:
            pixels = _painted(pixels, stroke, rng)
        return pixels

    def value(self) -> dict[str, Any]:
        """As the page's script has it."""
        return asdict(self) if self.kind == STROKES else asdict(self) | {"strokes": []}


def check_damage(asked: Any) -> Damage:
    """From what the page's script sent. Raises :class:`RequestError`."""
    asked = asked if isinstance(asked, dict) else {}
    kind, severity = asked.get("kind", STROKES), asked.get("severity", 3)
    if kind not in (NONE, STROKES, RAMP, *CORRUPTIONS) or severity not in SEVERITIES:
        raise RequestError(BAD_DAMAGE)
    if kind != STROKES:
        return Damage(kind, int(severity), ())
    strokes = asked.get("strokes", [])
    if not isinstance(strokes, list) or len(strokes) > MAX_STROKES:
        raise RequestError(BAD_STROKES.format(most=MAX_STROKES))
    return Damage(STROKES, int(severity), tuple(_checked(stroke) for stroke in strokes))


def _checked(told: Any) -> Stroke:
    told = told if isinstance(told, dict) else {}
    points = told.get("points")
    points = points if isinstance(points, list | tuple) and len(points) <= MAX_POINTS else ()
    pairs = [p for p in points if isinstance(p, list | tuple) and len(p) == 2]
    sound = told.get("kind") in BRUSHES and points and len(pairs) == len(points)
    sound = (
        sound and _within(told.get("size"), *SIZES) and _within(told.get("strength"), *STRENGTHS)
    )
    if not sound or not all(_within(value, 0, 1) for pair in pairs for value in pair):
        raise RequestError(BAD_STROKES.format(most=MAX_STROKES))
    places = tuple((float(x), float(y)) for x, y in pairs)
    return Stroke(told["kind"], float(told["size"]), float(told.get("strength")), places)


def _within(value: Any, low: float, high: float) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return low <= value <= high  # which no NaN is


def _painted(pixels: Pixels, stroke: Stroke, rng: np.random.Generator) -> Pixels:
    height, width = pixels.shape[:2]
    radius = stroke.size / 688 * max(height, width) / 2
    points = [(x * (width - 1), y * (height - 1)) for x, y in stroke.points]
    mask = Image.new("L", (width, height))
    draw = ImageDraw.Draw(mask)
    if len(points) > 1:
        draw.line(points, fill=255, width=max(1, round(2 * radius)))
    for x, y in points:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    mask = mask.filter(ImageFilter.GaussianBlur(radius / 4))
    share = np.asarray(mask, np.float32)[..., None] / 255  # [H, W, 1]
    strength = stroke.strength / 100
    if stroke.kind == "noise":
        return _noised(pixels, STROKE_NOISE * strength * share, rng)
    if stroke.kind == "blur":
        blur = ImageFilter.GaussianBlur(STROKE_BLUR * strength)
        other = np.asarray(Image.fromarray(pixels).filter(blur), np.float32)
    else:
        other = (1 - 0.9 * strength) * pixels.astype(np.float32)
    return (pixels + share * (other - pixels)).round().astype(np.uint8)


def _noised(pixels: Pixels, level: np.ndarray, rng: np.random.Generator) -> Pixels:
    """``level``: standard deviation in [-1, 1], ``[H, W, 1]``."""
    noise = rng.standard_normal(pixels.shape, np.float32)
    return (pixels + 127.5 * level * noise).round().clip(0, 255).astype(np.uint8)
