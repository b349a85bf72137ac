"""What each corruption does to the chosen picture: thumbnails for the picker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from app.parts.pictures import data_uri
from dga.corruptions import CORRUPTIONS, FAMILIES, corrupt, family_of
from dga.images import Pixels
from dga.titles import title

SIDE = 64
SEVERITY = 4
LAST = "glass_blur"  # its first call compiles for half a minute


def style_sheets(pixels: Pixels, remember: bool = False) -> Iterator[str]:
    """Style sheets for the picker: first without the one slow corruption, then with it.

    ``pixels``: uint8 ``[64, 64, 3]``. Only what may be remembered is kept for the next
    visitor: examples, not somebody's own picture.
    """
    make = _remembered if remember else _thumbnail
    raw = pixels.tobytes()
    ready = {name: make(raw, name) for name in CORRUPTIONS if name != LAST}
    yield style_sheet(ready)
    yield style_sheet(ready | {LAST: make(raw, LAST)})


def _thumbnail(raw: bytes, corruption: str) -> str:
    """A data URI of the corrupted picture."""
    pixels = np.frombuffer(raw, np.uint8).reshape(SIDE, SIDE, 3)
    return data_uri(corrupt(pixels, corruption, SEVERITY, seed=0), "JPEG")


_remembered = lru_cache(maxsize=16 * len(CORRUPTIONS))(_thumbnail)


def style_sheet(thumbnails: dict[str, str]) -> str:
    """CSS with the families' titles and a thumbnail for each corruption in ``thumbnails``."""
    rules = []
    for number, name in enumerate(CORRUPTIONS, start=1):
        label, family = f"#corruption label:nth-child({number})", family_of(name)
        if name in thumbnails:
            rules.append(f'{label}::before{{background-image:url("{thumbnails[name]}")}}')
        if name == FAMILIES[family][0]:
            # The second string is what a screen reader says: nothing.
            rules.append(f'{label}::after{{content:"{title(family)}" / ""}}')
    return f"<style>{''.join(rules)}</style>"
