"""What is done to a photo before it is repaired: a corruption, saved or not, or strokes."""

from __future__ import annotations

import numpy as np
from PIL import Image

from app.runs.pictures import to_data_url
from app.runs.settings import NONE, PAINT, Settings, SettingsError
from app.runs.strokes import paint_photo
from dga.corruptions import CORRUPTIONS, EVERYDAY, corrupt
from dga.images import MIN_CORRUPTED_SIDE, Pixels, recompress_jpeg, to_pixels

THUMBNAIL_SIDE, THUMBNAIL_STRENGTH = 80, 4


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


def draw_thumbnails(view: Pixels) -> dict[str, str]:
    """Every damage of a photo as a small picture, by its name; some 0.3 seconds.

    ``view``: the square that the classifier sees, uint8 ``[S, S, 3]``.
    """
    thumbnails = {}
    for damage in (NONE, *CORRUPTIONS, *EVERYDAY):
        damaged = damage_photo(view, Settings(damage=damage, strength=THUMBNAIL_STRENGTH))
        size = THUMBNAIL_SIDE, THUMBNAIL_SIDE
        # Reduced without much averaging, so that noise stays noise.
        small = Image.fromarray(damaged).resize(size, Image.Resampling.HAMMING)
        thumbnails[damage] = to_data_url(to_pixels(small), quality=75)
    return thumbnails
