"""What is done to a photo before it is repaired: a corruption, saved or not, or strokes."""

from __future__ import annotations

import numpy as np

from app.runs.settings import NONE, PAINT, Settings, SettingsError
from app.runs.strokes import paint_photo
from dga.corruptions import corrupt
from dga.images import MIN_CORRUPTED_SIDE, Pixels, recompress_jpeg


def damage_photo(
    pixels: Pixels, settings: Settings, layers: dict[str, Pixels] | None = None
) -> Pixels:
    """The damaged photo, uint8 ``[H, W, 3]``; the same settings give the same bits.

    ``layers``: what brushes make of the whole photo, where that is kept.

    Raises ``SettingsError`` for a photo that is too small for a corruption.
    """
    if settings.damage == NONE:
        return pixels
    if settings.damage == PAINT:
        layers = {} if layers is None else layers
        return paint_photo(pixels, settings.strokes, layers) if settings.strokes else pixels
    if min(pixels.shape[:2]) < MIN_CORRUPTED_SIDE:
        raise SettingsError(
            f"Damage can be added to photos of {MIN_CORRUPTED_SIDE} pixels a side or more."
        )
    damaged = corrupt(pixels, settings.damage, settings.strength, settings.seed)
    return np.array(recompress_jpeg(damaged, settings.saved) if settings.saved else damaged)
