"""Where in a photograph noise was found, and how deep it went there."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.parts.pictures import uri
from dga.photograph import Photograph

LONGEST = 172  # cells of the map
SOFT = 2.0  # cells over which an outline is smoothed
NEAR = 5  # cells; two places that are nearer are one
LEAST = 0.008  # share of the photograph; smaller places are counted with none
RISE = 4.0  # depths from one side to the other, from which noise has a direction
DEEP = 16  # what the map's colours end with, unless a place is deeper
RAMP = ((67, 56, 202), (147, 51, 184), (236, 100, 90), (251, 191, 76))
"""Indigo, violet, coral, amber: lighter is deeper."""


@dataclass(frozen=True)
class Place:
    """Where its label stands, in shares of the sides; ``depth``: the deepest there."""

    x: float
    y: float
    depth: int


@dataclass(frozen=True)
class Places:
    """``depths``: a map, float32 ``[h, w]``, 0 where nothing was found; ``outlines``: closed
    lines of ``(x, y)`` in shares of the sides; ``direction``: to where depths rise, or empty;
    ``untouched``: the middle of the largest place at depth 0, if there is one.
    """

    depths: NDArray[np.float32]
    places: Sequence[Place]
    outlines: Sequence[NDArray[np.float64]]
    direction: str
    untouched: Place | None


def find_places(found: Photograph) -> Places:
    """Where a photograph was repaired as noise."""
    from scipy import ndimage  # here: the page starts without it

    height, width = found.noise.shape
    scale = LONGEST / max(height, width)
    size = max(2, round(width * scale)), max(2, round(height * scale))
    by_window = Image.fromarray(found.depths.astype(np.float32)).resize(size, _SMOOTH)
    noisy = Image.fromarray((found.noise > 0).astype(np.float32)).resize(size, _MEAN)
    deep = ndimage.gaussian_filter(np.asarray(by_window) * (np.asarray(noisy) > 0.3), SOFT)
    inside = deep > 1  # depth 1 changes nothing that is seen
    labels, count = ndimage.label(ndimage.binary_dilation(inside, iterations=NEAR))
    places = []
    for number in range(1, count + 1):
        here = (labels == number) & inside
        if here.mean() < LEAST:
            inside &= ~here
            continue
        y, x = np.unravel_index(np.argmax(np.where(here, deep, 0)), deep.shape)
        across, down = float(x / size[0]), float(y / size[1])
        places.append(Place(across, down, _deepest(found, across, down)))
    depths = np.where(inside, deep, 0).astype(np.float32)
    return Places(
        depths,
        places,
        _outlines(depths),
        _direction(depths),
        _untouched(inside) if places else None,
    )


_SMOOTH, _MEAN = Image.Resampling.BILINEAR, Image.Resampling.BOX


def _deepest(found: Photograph, x: float, y: float) -> int:
    """The depth of the window around a point."""
    rows, columns = len(found.rows), len(found.columns)
    return int(found.depths[min(rows - 1, int(y * rows)), min(columns - 1, int(x * columns))])


def _outlines(depths: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    from skimage.measure import approximate_polygon, find_contours

    height, width = depths.shape
    framed = np.pad(depths, 1)
    lines = [approximate_polygon(line, 0.4) for line in find_contours(framed, 0.5)]
    return [((line - 0.5) / (height, width))[:, ::-1].clip(0, 1) for line in lines if len(line) > 3]


def _direction(depths: NDArray[np.float32]) -> str:
    """Where the four quarters across rise by enough, and to twice as much; empty otherwise."""
    for axis, (towards, away) in ((0, ("right", "left")), (1, ("bottom", "top"))):
        quarters = [float(part.mean()) for part in np.array_split(depths.mean(axis), 4)]
        for name, steps in ((towards, np.diff(quarters)), (away, -np.diff(quarters))):
            low, high = sorted((quarters[0], quarters[-1]))
            if steps.min() >= -0.5 and high - low >= RISE and low <= high / 2:
                return name
    return ""


def _untouched(inside: NDArray[np.bool_]) -> Place | None:
    """The point that is farthest from all that was found and from the edges."""
    from scipy import ndimage

    far = ndimage.distance_transform_edt(np.pad(~inside, 1))[1:-1, 1:-1]
    if far.max() < LONGEST / 12:
        return None
    y, x = np.unravel_index(np.argmax(far), far.shape)
    return Place(float(x / far.shape[1]), float(y / far.shape[0]), 0)


def deepest(places: Places) -> int:
    """What the map's colours end with."""
    return max([DEEP, *(place.depth for place in places.places)])


def map_uri(places: Places) -> str:
    """The map in colours, clear where nothing was found, as the address of a PNG."""
    at = np.clip(places.depths / deepest(places), 0, 1)
    ends = np.linspace(0, 1, len(RAMP))
    colours = [np.interp(at, ends, channel) for channel in zip(*RAMP, strict=True)]
    clear = 255 * np.clip(places.depths / 2.5, 0, 1) * 0.82
    pixels = np.stack([*colours, clear], -1).round().astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return uri(stream.getvalue(), "png")
