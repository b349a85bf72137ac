"""Every damage as a small picture of the very photo that is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image

from app.runs.damage import damage_photo
from app.runs.pictures import encode_picture
from app.runs.samples import SAMPLES
from app.runs.settings import Settings
from app.runs.subject import view_square
from dga.corruptions import CORRUPTIONS
from dga.images import Pixels, to_pixels
from dga.profiles import Profile

if TYPE_CHECKING:
    from app.endpoints import Service

SIDE = 80
STRENGTH = 4
_of_samples: dict[str, dict[str, str]] = {}


async def show_thumbnails(service: Service, key: str) -> dict[str, str]:
    """A picture for each damage, by its name, of a sample or an upload, kept as long as that is.

    Raises ``UnknownPhotoError``.
    """
    pixels = service.find_photo(Settings(photo=key)).pixels
    made = _of_samples.setdefault(key, {}) if key in SAMPLES else service.photos.get(key).thumbnails
    if not made:
        made |= await asyncio.to_thread(make_thumbnails, service.networks.profile, pixels)
    return made


def make_thumbnails(
    profile: Profile, pixels: Pixels, names: Sequence[str] = ("none", *CORRUPTIONS)
) -> dict[str, str]:
    """Small pictures of a photo, uint8 ``[H, W, 3]``, by damage, as the classifier sees it."""
    view = view_square(profile, pixels)
    damages = (Settings(damage=name, strength=STRENGTH) for name in names)
    return {damage.damage: encode_thumbnail(damage_photo(view, damage)) for damage in damages}


def encode_thumbnail(pixels: Pixels) -> str:
    """Reduced without much averaging, so that noise stays noise."""
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.HAMMING)
    return encode_picture(to_pixels(small), quality=75)
