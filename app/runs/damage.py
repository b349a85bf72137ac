"""What is done to a photo before it is repaired: a corruption, or strokes of a brush."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from app.runs.settings import NONE, PAINT, Settings, SettingsError, Stroke
from dga.corruptions import corrupt
from dga.images import MIN_CORRUPTED_SIDE, Pixels

NOISE = 0.38 * 255
"""Standard deviation of painted noise, in levels of 255: that of Noise at full strength."""
BLUR = 6.0
"""Deviation of painted blur, in pixels of a photo of 700 pixels."""
DARK = 0.25
"""Share of the light that is left where it was painted dark."""


def damage_photo(pixels: Pixels, settings: Settings) -> Pixels:
    """The damaged photo, uint8 ``[H, W, 3]``; the same settings give the same bits.

    Raises ``SettingsError`` for a photo that is too small for a corruption.
    """
    if settings.damage == NONE:
        return pixels
    if settings.damage == PAINT:
        random = np.random.default_rng(settings.seed)
        for stroke in settings.strokes:
            pixels = _paint(pixels, stroke, random)
        return pixels
    if min(pixels.shape[:2]) < MIN_CORRUPTED_SIDE:
        raise SettingsError(
            f"Damage can be added to photos of {MIN_CORRUPTED_SIDE} pixels a side or more."
        )
    return corrupt(pixels, settings.damage, settings.strength, settings.seed).copy()


def _paint(pixels: Pixels, stroke: Stroke, random: np.random.Generator) -> Pixels:
    share = _cover(pixels.shape[:2], stroke)[..., None]  # [H, W, 1]
    if stroke.kind == "noise":
        change = NOISE * random.standard_normal(pixels.shape, np.float32)
    elif stroke.kind == "blur":
        blur = ImageFilter.GaussianBlur(BLUR * max(pixels.shape) / 700)
        change = np.asarray(Image.fromarray(pixels).filter(blur), np.float32) - pixels
    else:
        change = (DARK - 1) * pixels.astype(np.float32)
    return (pixels + share * change).round().clip(0, 255).astype(np.uint8)


def _cover(size: tuple[int, int], stroke: Stroke) -> np.ndarray:
    """How much of each pixel the stroke covers, float32 ``[H, W]`` in [0, 1], with a soft edge."""
    height, width = size
    radius = stroke.size * max(size) / 2
    points = [(x * (width - 1), y * (height - 1)) for x, y in stroke.points]
    mask = Image.new("L", (width, height))
    pen = ImageDraw.Draw(mask)
    pen.line(points, fill=255, width=max(1, round(2 * radius)))
    for x, y in points:
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    soft = mask.filter(ImageFilter.GaussianBlur(radius / 4))
    return np.asarray(soft, np.float32) / 255
