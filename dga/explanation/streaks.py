"""Bright streaks that fall in one direction, such as snow: how they are recognised and removed.

Grey-scale morphology (Serra, 1982). An opening by a line keeps what is bright along the whole line.
A streak is kept by a line along it, and by no line across it: the difference of both is the streak.
Limits were chosen by hand on 200 training photographs; of 120 undamaged others two have streaks by
them (trials: assets/results/photo/README.md).
"""

import functools
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.images import cut_middle

ANGLES = tuple(range(0, 180, 15))
"""Directions that are tried, in degrees from the rows, downwards."""
STEEPEST = 45
"""Degrees from the columns up to which streaks fall."""
MEASURED_LENGTH, MEASURED_WIDTH = 9, 5
"""Lines along and across a streak in pixels, when its direction is measured."""
LENGTH, WIDTH = 5, 3
"""Lines along and across a streak in pixels, when it is removed: longer ones cost more details. Of
120 photographs under snow 5 these have 39.2 % read right, 7 and 3 37.5, 9 and 5 38.3."""
LEAST_RATIO = 1.8
"""Least strength of the best direction's streaks as a multiple of the median one's."""
LEAST_STRENGTH = 0.005
"""Least strength of streaks: the mean light that they add, white 1 and black 0."""
SEARCHED_SIDE = 512
"""Pixels a side of the middle in which streaks, of rain, too, are measured."""


def measure_streaks(x: Tensor) -> int | None:
    """The direction of bright streaks in ``[3, H, W]``, in degrees; None where none show.

    Edges of a building have a direction, too: whoever asks has seen that light was added.
    """
    grey = _to_grey(cut_middle(x, SEARCHED_SIDE))
    strengths = [
        float(_find_streaks(grey, angle, MEASURED_LENGTH, MEASURED_WIDTH).mean())
        for angle in ANGLES
    ]
    best = int(np.argmax(strengths))
    is_falling = abs(ANGLES[best] - 90) <= STEEPEST
    is_strong = strengths[best] > max(LEAST_STRENGTH, LEAST_RATIO * float(np.median(strengths)))
    return ANGLES[best] if is_falling and is_strong else None


def remove_streaks(x: Tensor, angle: float) -> Tensor:
    """A picture, ``[3, H, W]`` in [-1, 1], without its grey streaks; nowhere brighter."""
    return x - 2 * torch.from_numpy(_find_streaks(_to_grey(x), angle, LENGTH, WIDTH)).to(x)


def _to_grey(x: Tensor) -> NDArray[np.float32]:
    return ((x.float().mean(0) + 1) / 2).cpu().numpy()


def _find_streaks(
    grey: NDArray[np.float32], angle: float, length: int, width: int
) -> NDArray[np.float32]:
    """By how much streaks brighten a grey picture, ``[H, W]``, 0 or more at each pixel."""
    along = open_by(grey, _draw_line(length, angle), "BORDER_REFLECT")
    across = open_by(grey, _draw_line(width, angle + 90), "BORDER_REFLECT")
    return np.maximum(along - across, 0)


def open_by(plane: NDArray[Any], line: NDArray[np.uint8], border: str) -> NDArray[Any]:
    """The opening of ``[H, W]`` by a line: what is high, or true, along the whole of it.

    ``line``: 1 on it, ``[n, n]`` with odd n; ``border``: OpenCV's name of what lies beyond.
    """
    import cv2  # here: the page must not wait for it

    values = plane.view(np.uint8) if plane.dtype == bool else plane
    border_type = getattr(cv2, border)
    eroded = cv2.erode(values, line, borderType=border_type)
    opened = cv2.dilate(eroded, line[::-1, ::-1], borderType=border_type)
    return np.asarray(opened).view(plane.dtype)


@functools.lru_cache(maxsize=64)
def _draw_line(length: int, angle: float) -> NDArray[np.uint8]:
    """Pixels of a line through the middle of a square, ``[length, length]``, length odd."""
    reach, turn = length // 2, math.radians(angle)
    at = np.linspace(-reach, reach, 8 * length)
    pixels = np.zeros((length, length), np.uint8)
    rows, columns = (
        np.round(reach + at * part).astype(int) for part in (math.sin(turn), math.cos(turn))
    )
    pixels[rows, columns] = 1
    return pixels
