"""Many small pictures in one: what the timeline's film is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.parts.pictures import encoded, uri
from dga.images import Pixels, to_jpeg

COLUMNS = 10  # of the forward sheet
MAX_SIDE = 128  # larger pictures are reduced: the film is looked at, not measured
FORWARD_QUALITY = 60  # as grainy as the pictures themselves: with less, noise is smoothed away
REVERSE_QUALITY = 60
OUTCOME_QUALITY = 75


def reduced(pictures: Pixels) -> Pixels:
    """uint8 ``[n, S, S, 3]`` with sides of at most 128 pixels (by whole factors, averaged)."""
    count, side = pictures.shape[:2]
    factor = -(-side // MAX_SIDE)
    if factor == 1:
        return pictures
    kept = side // factor
    blocks = pictures[:, : kept * factor, : kept * factor]
    blocks = blocks.reshape(count, kept, factor, kept, factor, 3)
    averaged: Pixels = blocks.mean((2, 4)).round().astype(np.uint8)
    return averaged


def sprite_sheet(pictures: Pixels, columns: int = COLUMNS) -> Pixels:
    """``[n, S, S, 3]`` row by row in one picture ``[rows * S, columns * S, 3]``, rest black."""
    count, side = pictures.shape[:2]
    rows = -(-count // columns)
    cells = np.zeros((rows * columns, side, side, 3), np.uint8)
    cells[:count] = pictures
    grid = cells.reshape(rows, columns, side, side, 3).swapaxes(1, 2)
    return grid.reshape(rows * side, columns * side, 3)


def jpeg(pixels: Pixels, quality: int) -> bytes:
    """JPEG with full colour: in noise, colour is half of what there is to see."""
    return to_jpeg(pixels, quality, subsampling=0)


def picture_uri(pixels: Pixels, quality: int) -> str:
    """One picture, uint8 ``[S, S, 3]``, as the address of a small one to look at."""
    return uri(jpeg(reduced(pixels[None])[0], quality), "jpeg")


def forward_sprites(states: Pixels) -> str:
    """The states of a forward path, uint8 ``[T + 1, S, S, 3]``, as the address of one sheet."""
    return uri(jpeg(sprite_sheet(reduced(states)), FORWARD_QUALITY), "jpeg")


def outcome_sheet(pictures: Pixels, quality: int = OUTCOME_QUALITY) -> bytes:
    """What came out at each depth, uint8 ``[n, S, S, 3]``, as one WebP file."""
    sheet = sprite_sheet(reduced(pictures))
    return encoded(sheet, "WEBP", quality=quality, method=6)


def strip(states: Sequence[Pixels]) -> bytes:
    """Reverse steps as a JPEG: one column each."""
    return jpeg(sprite_sheet(reduced(np.stack(states)), len(states)), REVERSE_QUALITY)


@dataclass
class Lane:
    """One method's way back: strips of reverse steps in the order of time.

    ``visited``: the depths on it, from where it begins to 0; ``states``: steps that are in no
    strip yet, each uint8 ``[S, S, 3]``.
    """

    name: str
    visited: tuple[int, ...]
    strips: list[tuple[int, str]] = field(default_factory=list)
    states: list[Pixels] = field(default_factory=list)

    def value(self) -> dict[str, object]:
        """Ready for JSON; what was added since the last call becomes one strip."""
        if self.states:
            self.strips.append((len(self.states), uri(strip(self.states), "jpeg")))
            self.states = []
        strips = [[count, address] for count, address in self.strips]
        return {"name": self.name, "visited": list(self.visited), "strips": strips}
