"""Every damage as a small picture."""

from __future__ import annotations

from PIL import Image

from app.runs.damage import damage_photo
from app.runs.pictures import to_data_url
from app.runs.settings import NONE, Settings
from app.runs.subject import view_square
from dga.corruptions import CORRUPTIONS, EVERYDAY
from dga.images import Pixels, to_pixels
from dga.profiles import Profile

ALL = (NONE, *CORRUPTIONS, *EVERYDAY)
SIDE = 80
STRENGTH = 4


def make_thumbnails(profile: Profile, pixels: Pixels) -> dict[str, str]:
    """Small pictures of a photo, uint8 ``[H, W, 3]``, by damage, as the classifier sees it."""
    view = view_square(profile, pixels)
    damages = (Settings(damage=name, strength=STRENGTH) for name in ALL)
    return {damage.damage: encode_thumbnail(damage_photo(view, damage)) for damage in damages}


def encode_thumbnail(pixels: Pixels) -> str:
    """Reduced without much averaging, so that noise stays noise."""
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.HAMMING)
    return to_data_url(to_pixels(small), quality=75)
