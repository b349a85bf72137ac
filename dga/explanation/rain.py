"""Rain: thin bright streaks of one slant, how they are recognised, and how they are removed.

A streak is brighter than what is left and right of it (the top-hat of Serra, 1982), along a line
that falls. Edges and fences are as often darker: where far more pixels are brighter, it rains. What
streaks cover is filled in from beside them. Limits were chosen on ``tune``.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.images import HALF_RANGE, cut_middle

Grey = NDArray[np.float32]
SLANTS = tuple((np.arange(-7, 8) * 0.06).round(2).tolist())
"""Pixels across for each pixel down, of the streaks that are looked for."""
WIDTH, LENGTH = 3, 7
"""Pixels: wider or shorter ones count as no streaks. Of 20 photographs in rain 5 80 % are read
right without such, of those that are wider by two pixels 80, of those that are shorter by two 80,
longer by two 80; as many if the streaks are known, and 30 with them."""
LEAST_HEIGHT = 4.0
"""Grey levels, 0 to 255, by which a streak is brighter."""
PHASES = (-0.33, 0.0, 0.33)
"""Where within a pixel a streak may begin."""
LEAST_SHARE, LEAST_RATIO = 0.03, 2.5
"""Share of pixels in bright streaks from which it rains, and its ratio to the share in dark ones:
each is measured in a picture without the other."""
LEAST_TILES = 0.65
"""Share of tiles in which the ratio exceeds 2. Of 120 photographs, as they are and as JPEG 85, none
passes all of these limits, of 435 with other damage none; of 24 in rain 5, 4, 3, 2 and 1 23, 22,
22, 20 and 16 do."""
TILES = 4
SEARCHED_SIDE = 512
"""Pixels a side of the middle in which rain is looked for."""
FILL_SIGMA = 1.5
"""Deviation in pixels of the Gaussian by which covered pixels are filled in from others."""


def measure_rain(x: Tensor) -> float | None:
    """The slant of rain's streaks in ``[3, H, W]``, one of :data:`SLANTS`; None without rain."""
    grey = _to_grey(cut_middle(x, SEARCHED_SIDE))
    relief = _find_relief(grey)
    slant = max(SLANTS, key=lambda slant: float(_open_along(relief, slant, 0.0).mean()))
    bright = find_streaks(grey, slant)
    if bright.mean() <= LEAST_SHARE:
        return None
    rest = _fill_in(grey, find_streaks(-grey, slant)), -_fill_in(grey, bright)
    streaks = np.stack([find_streaks(one, slant) for one in rest])
    strips = np.array_split(streaks, TILES, 1)
    tiles = [tile.mean((1, 2)) for strip in strips for tile in np.array_split(strip, TILES, 2)]
    is_even = np.mean([light > 2 * dark for light, dark in tiles]) >= LEAST_TILES
    share, dark_share = streaks.mean((1, 2))
    is_rain = share > max(LEAST_SHARE, LEAST_RATIO * dark_share) and is_even
    return slant if is_rain else None


def remove_rain(x: Tensor, slant: float) -> Tensor:
    """A picture, ``[3, H, W]`` in [-1, 1], without the streaks of a slant."""
    covered = find_covered(x, slant)
    planes = [_fill_in(plane, covered) for plane in x.float().cpu().numpy()]
    return torch.from_numpy(np.stack(planes)).to(x)


def find_covered(x: Tensor, slant: float) -> NDArray[np.bool_]:
    """Which pixels of ``[3, H, W]`` in [-1, 1] streaks of a slant cover, ``[H, W]``."""
    return find_streaks(_to_grey(x), slant)


def find_streaks(grey: Grey, slant: float) -> NDArray[np.bool_]:
    """Which pixels of a grey picture, ``[H, W]`` in 0 to 255, bright streaks of a slant cover."""
    relief = _find_relief(grey)
    neighbours = SLANTS[1] - SLANTS[0]
    lines = [
        _open_along(relief, near, phase)
        for near in (slant - neighbours, slant, slant + neighbours)
        for phase in PHASES
    ]
    covered: NDArray[np.bool_] = np.max(lines, 0) > LEAST_HEIGHT
    return covered


def _fill_in(plane: Grey, covered: NDArray[np.bool_]) -> Grey:
    """A plane, ``[H, W]``, whose covered pixels are weighted means of those around them."""
    from scipy import ndimage  # here: the page must not wait for it

    weight = (~covered).astype(np.float32)
    total, weights = (ndimage.gaussian_filter(one, FILL_SIGMA) for one in (plane * weight, weight))
    filled: Grey = np.where(covered, total / (weights + 1e-6), plane)
    return filled


def _to_grey(x: Tensor) -> Grey:
    grey: Grey = (HALF_RANGE * x.float().mean(0)).cpu().numpy()
    return grey


def _find_relief(grey: Grey) -> Grey:
    """By how much each pixel is brighter than all that is wider across (white top-hat)."""
    across = [(0, at) for at in range(-(WIDTH // 2), WIDTH // 2 + 1)]
    return grey - _open(grey, across)


def _open_along(relief: Grey, slant: float, phase: float) -> Grey:
    """What is bright along a whole line of :data:`LENGTH` pixels, one for each row."""
    reach = LENGTH // 2
    rows = range(-reach, reach + 1)
    return _open(relief, [(row, math.floor(row * slant + phase + 0.5)) for row in rows])


def _open(grey: Grey, line: Sequence[tuple[int, int]]) -> Grey:
    """Grey-scale opening by a line: rows and columns of its pixels."""
    reach = max(max(map(abs, at)) for at in line)
    height, width = grey.shape

    def shift(values: Grey, row: int, column: int) -> Grey:
        padded = np.pad(values, reach, "edge")
        return padded[reach + row : reach + row + height, reach + column : reach + column + width]

    eroded = np.min([shift(grey, *at) for at in line], 0)
    opened: Grey = np.max([shift(eroded, -row, -column) for row, column in line], 0)
    return opened
