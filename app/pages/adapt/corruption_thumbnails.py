"""What each corruption does to the chosen picture: thumbnails for the picker."""

from __future__ import annotations

from collections.abc import Iterator

from app.parts.pictures import data_uri
from dga.corruptions import CORRUPTIONS, FAMILIES, corrupt, family_of
from dga.images import Pixels
from dga.titles import title

SIDE = 64
SEVERITY = 4
LAST = "glass_blur"  # its first call compiles for half a minute


def style_sheets(pixels: Pixels) -> Iterator[str]:
    """Style sheets for the picker: first without the one slow corruption, then with it.

    ``pixels``: uint8 ``[64, 64, 3]``.
    """
    ready: dict[str, str] = {}
    for name in (*(name for name in CORRUPTIONS if name != LAST), LAST):
        if name == LAST:
            yield style_sheet(ready)
        ready[name] = data_uri(corrupt(pixels, name, SEVERITY, seed=0), "JPEG")
    yield style_sheet(ready)


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
