"""What a visitor does to a photograph: strokes of a brush, noise that grows, or a corruption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from pydantic import Field, TypeAdapter, ValidationError

from app.server.errors import RequestError
from app.server.limits import MAX_STROKES
from app.words.photo import BAD_DAMAGE, BAD_STROKES
from dga.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from dga.images import Pixels

NONE, STROKES, RAMP = "none", "strokes", "ramp"
Brush = Literal["noise", "blur", "dark"]
BRUSHES = get_args(Brush)
SIZES, STRENGTHS = (16, 240), (10, 100)
MAX_POINTS = 64
SEED = 0
STROKE_NOISE = 0.6  # standard deviation at full strength, in [-1, 1]
STROKE_BLUR = 8.0  # pixels
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


@dataclass(frozen=True)
class Stroke:
    """``points``: in shares of the photograph's sides; ``size``: of the brush, of 688 px across.

    ``strength``: in percent.
    """

    kind: Brush
    size: Annotated[float, Field(ge=SIZES[0], le=SIZES[1], allow_inf_nan=False)]
    strength: Annotated[float, Field(ge=STRENGTHS[0], le=STRENGTHS[1], allow_inf_nan=False)]
    points: Annotated[tuple[tuple[Share, Share], ...], Field(min_length=1, max_length=MAX_POINTS)]


_STROKES: TypeAdapter[tuple[Stroke, ...]] = TypeAdapter(
    Annotated[tuple[Stroke, ...], Field(max_length=MAX_STROKES)]
)


@dataclass(frozen=True)
class Damage:
    """``kind``: none, strokes, ramp or one of the corruptions, which alone has a severity."""

    kind: str = STROKES
    severity: int = 3
    strokes: Sequence[Stroke] = ()

    @property
    def is_any(self) -> bool:
        """Whether something is done to the photograph at all."""
        return bool(self.strokes) if self.kind == STROKES else self.kind != NONE

    def apply(self, pixels: Pixels) -> Pixels:
        """A photograph with this damage, uint8 ``[H, W, 3]``; the same bits each time."""
        if self.kind == RAMP:
            return _ramp(pixels)
        if self.kind in CORRUPTIONS:
            return corrupt(pixels, self.kind, self.severity, SEED).copy()
        rng = np.random.default_rng(SEED)
        for stroke in self.strokes:
            pixels = _painted(pixels, stroke, rng)
        return pixels


OPENING = Damage(
    strokes=(
        Stroke("noise", 150, 85, ((0.42, 0.22), (0.48, 0.36))),
        Stroke("noise", 150, 55, ((0.56, 0.76), (0.68, 0.80), (0.86, 0.80))),
    )
)
"""Noise in two places."""


def check_damage(asked: Any) -> Damage:
    """From what the page's script sent. Raises :class:`RequestError`."""
    asked = asked if isinstance(asked, dict) else {}
    kind, severity = asked.get("kind"), asked.get("severity", 3)
    if kind not in (NONE, STROKES, RAMP, *CORRUPTIONS) or severity not in SEVERITIES:
        raise RequestError(BAD_DAMAGE)
    try:
        strokes = _STROKES.validate_python(asked.get("strokes", ()) if kind == STROKES else ())
    except ValidationError:
        raise RequestError(BAD_STROKES.format(most=MAX_STROKES)) from None
    return Damage(kind, int(severity), strokes)


def _ramp(pixels: Pixels) -> Pixels:
    """White noise that grows from left to right, to 90 levels."""
    across = np.linspace(0, 1, pixels.shape[1])[None, :, None]
    noise = np.random.default_rng(0).normal(size=pixels.shape) * (90 * across**1.5)
    return (pixels + noise).round().clip(0, 255).astype(np.uint8)


def _painted(pixels: Pixels, stroke: Stroke, rng: np.random.Generator) -> Pixels:
    height, width = pixels.shape[:2]
    radius = stroke.size / 688 * max(height, width) / 2
    points = [(x * (width - 1), y * (height - 1)) for x, y in stroke.points]
    mask = Image.new("L", (width, height))
    draw = ImageDraw.Draw(mask)
    draw.line(points, fill=255, width=max(1, round(2 * radius)))
    for x, y in points:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    mask = mask.filter(ImageFilter.GaussianBlur(radius / 4))
    share = np.asarray(mask, np.float32)[..., None] / 255  # [H, W, 1]
    strength = stroke.strength / 100
    if stroke.kind == "noise":
        noise = 127.5 * STROKE_NOISE * strength * rng.standard_normal(pixels.shape, np.float32)
        return (pixels + share * noise).round().clip(0, 255).astype(np.uint8)
    if stroke.kind == "blur":
        blur = ImageFilter.GaussianBlur(STROKE_BLUR * strength)
        other = np.asarray(Image.fromarray(pixels).filter(blur), np.float32)
    else:
        other = (1 - 0.9 * strength) * pixels.astype(np.float32)
    return (pixels + share * (other - pixels)).round().astype(np.uint8)
