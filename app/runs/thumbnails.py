"""Every damage as a small picture of the very photo that is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from app.runs.damage import damage_photo
from app.runs.pictures import to_data_url, to_webp
from app.runs.settings import NONE, Settings
from app.runs.strokes import get_layer
from app.runs.subject import Original, view_square
from dga.corruptions import CORRUPTIONS
from dga.images import Pixels, to_pixels
from dga.profiles import Profile

FIFTEEN = (NONE, *CORRUPTIONS)
SIDE = 80
STRENGTH = 4
LAYER_SIDE = 640
_THREAD = ThreadPoolExecutor(1, "thumbnails")  # one, so that none are made twice


async def show_thumbnails(
    profile: Profile, original: Original, names: Sequence[str] = FIFTEEN
) -> dict[str, str]:
    """A picture for each damage, by its name, of a sample or an upload, kept as long as that is."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREAD, _fill, profile, original, names)


async def show_layer(original: Original, kind: str) -> bytes:
    """The whole photo as a brush makes it, WebP, for a page that shows strokes as they are made."""
    loop = asyncio.get_running_loop()
    layer = await loop.run_in_executor(_THREAD, get_layer, original.pixels, kind, original.layers)
    return await loop.run_in_executor(_THREAD, to_webp, layer, LAYER_SIDE)


def _fill(profile: Profile, original: Original, names: Sequence[str]) -> dict[str, str]:
    kept = original.thumbnails
    if missing := [name for name in names if name not in kept]:
        kept.update(make_thumbnails(profile, original.pixels, missing))
    return {name: kept[name] for name in names}


def make_thumbnails(
    profile: Profile, pixels: Pixels, names: Sequence[str] = FIFTEEN
) -> dict[str, str]:
    """Small pictures of a photo, uint8 ``[H, W, 3]``, by damage, as the classifier sees it."""
    view = view_square(profile, pixels)
    damages = (Settings(damage=name, strength=STRENGTH) for name in names)
    return {damage.damage: encode_thumbnail(damage_photo(view, damage)) for damage in damages}


def encode_thumbnail(pixels: Pixels) -> str:
    """Reduced without much averaging, so that noise stays noise."""
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.HAMMING)
    return to_data_url(to_pixels(small), quality=75)
