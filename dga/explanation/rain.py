"""Rain: thin bright streaks of one slant, how they are recognised, and how they are removed.

A streak is brighter than what is left and right of it (the top-hat of Serra, 1982), along a line
that falls. Edges and fences are as often darker: where far more pixels are brighter, it rains. What
streaks cover is filled in from beside them.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.streaks import SEARCHED_SIDE, open_by
from dga.images import HALF_RANGE, cut_middle

Grey = NDArray[np.float32]
Mask = NDArray[np.bool_]
Line = Sequence[tuple[int, int]]
SLANTS = -0.42, -0.24, -0.12, 0.18, 0.3
"""Pixels across for each pixel down, of the streaks that are looked for: one for each line that
:data:`LENGTH` pixels can draw."""
SPREAD = 0.06
"""By how much the slants of one rain's streaks differ from that."""
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
MOST_ENDLESS = 0.35
"""Most of streaks' pixels that lie on lines three times as long: joints of a wall do not end. Of 53
photographs of ``tune`` in rain 5, 3 and 1 it is 0.23 at most, of a wall of bricks 0.49."""
TILES = 4
"""Into how many tiles a side a picture is cut."""
FILL_SIGMA = 1.5
"""Deviation in pixels of the Gaussian by which streaks are filled in from other pixels."""


def measure_rain(x: Tensor) -> float | None:
    """The slant of rain's streaks in ``[3, H, W]`` in [-1, 1], one of :data:`SLANTS`; None without
    rain."""
    grey = _to_grey(cut_middle(x, SEARCHED_SIDE))
    relief = _measure_relief(grey)
    slant = max(SLANTS, key=lambda slant: float(_open(relief, _draw_line(slant, 0.0)).mean()))
    bright = _find_lines(relief, slant)
    endless = _find_lines(relief, slant, 3 * LENGTH)
    if bright.mean() <= LEAST_SHARE or endless.mean() > MOST_ENDLESS * bright.mean():
        return None
    dark = _find_lines(_measure_relief(-grey), slant)
    without_other = _fill_in(grey, dark), -_fill_in(grey, bright)
    streaks = np.stack([_find_lines(_measure_relief(one), slant) for one in without_other])
    strips = np.array_split(streaks, TILES, 1)
    tiles = [tile.mean((1, 2)) for strip in strips for tile in np.array_split(strip, TILES, 2)]
    is_even = np.mean([light > 2 * shade for light, shade in tiles]) >= LEAST_TILES
    share, dark_share = streaks.mean((1, 2))
    is_rain = share > max(LEAST_SHARE, LEAST_RATIO * dark_share) and is_even
    return slant if is_rain else None


def remove_rain(x: Tensor, slant: float) -> Tensor:
    """A picture, ``[3, H, W]`` in [-1, 1], without the streaks of a slant."""
    planes = _fill_in(x.float().cpu().numpy(), find_streaks(x, slant))
    return torch.from_numpy(planes).to(x)


def find_streaks(x: Tensor, slant: float) -> Mask:
    """Which pixels of ``[3, H, W]`` in [-1, 1] bright streaks of a slant cover, ``[H, W]``."""
    return _find_lines(_measure_relief(_to_grey(x)), slant)


def _find_lines(relief: Grey, slant: float, length: int = LENGTH) -> Mask:
    """Which pixels, ``[H, W]``, lie on lines about a slant whose relief is high all along."""
    slants = slant - SPREAD, slant, slant + SPREAD
    lines = {_draw_line(near, phase, length) for near in slants for phase in PHASES}
    is_high = relief > LEAST_HEIGHT
    return functools.reduce(np.logical_or, (_open(is_high, line) for line in lines))


def _fill_in(planes: Grey, streaks: Mask) -> Grey:
    """Planes, ``[..., H, W]``, where streaks are weighted means of the pixels around them."""
    weight = (~streaks).astype(np.float32)
    total, weights = (
        scipy.ndimage.gaussian_filter(one, FILL_SIGMA, axes=(-2, -1))
        for one in (planes * weight, weight)
    )
    return np.where(streaks, total / (weights + 1e-6), planes)


def _to_grey(x: Tensor) -> Grey:
    """The mean of the channels of ``[3, H, W]``, in grey levels from -127.5 to 127.5."""
    return (HALF_RANGE * x.float().mean(0)).cpu().numpy()


def _measure_relief(grey: Grey) -> Grey:
    """By how many levels each pixel is brighter than all that is wider across (white top-hat)."""
    return grey - open_by(grey, np.ones((1, WIDTH), np.uint8), "BORDER_REPLICATE")


def _draw_line(slant: float, phase: float, length: int = LENGTH) -> tuple[tuple[int, int], ...]:
    """Rows and columns, from its middle, of a line of ``length`` pixels, one for each row."""
    rows = range(-(length // 2), length // 2 + 1)
    return tuple((row, math.floor(row * slant + phase + 0.5)) for row in rows)


def _open(plane: NDArray[Any], line: Line) -> NDArray[Any]:
    """What is high, or true, in ``[H, W]`` along the whole of a line; borders go on beyond
    themselves."""
    reach = max(max(map(abs, at)) for at in line)
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.uint8)
    kernel[tuple(np.array(line).T + reach)] = 1
    return open_by(plane, kernel, "BORDER_REPLICATE")
