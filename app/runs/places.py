"""Where in a photograph noise was found, and how deep it went there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.parts.pictures import encoded
from dga.photograph import Photograph

LONGEST = 172  # cells of the map
SOFT = 2.0  # cells over which an outline is smoothed
NEAR = 5  # cells; two places that are nearer are one
LEAST = 0.008  # share of the photograph; smaller places are counted with none
RISE = 4.0  # depths from one side to the other, from which noise has a direction
DEEP = 16  # what the map's colours end with, unless a place is deeper
COLOURS = ((67, 56, 202), (147, 51, 184), (236, 100, 90), (251, 191, 76))
"""Indigo, violet, coral, amber: lighter is deeper."""
Label = tuple[float, float, int]


@dataclass(frozen=True)
class Places:
    """All of it in shares of the photograph's sides.

    ``labels``: ``x``, ``y`` and deepest depth of each place, then, with depth 0, the middle of the
    largest untouched one; ``outlines``: closed lines; ``direction``: to where depths rise, or
    empty; ``share``: of the photograph that lies in a place; ``deepest``: what the colours end
    with; ``map``: a PNG in colours, clear where nothing was found.
    """

    labels: Sequence[Label]
    outlines: Sequence[Sequence[Sequence[float]]]
    direction: str
    share: float
    deepest: int
    map: bytes

    @property
    def count(self) -> int:
        """How many places."""
        return sum(depth > 0 for *_, depth in self.labels)


def find_places(found: Photograph) -> Places:
    """Where a photograph was repaired as noise."""
    from scipy import ndimage  # here: the page starts without it

    height, width = found.noise.shape
    scale = LONGEST / max(height, width)
    size = across, down = max(2, round(width * scale)), max(2, round(height * scale))
    by_window = Image.fromarray(found.depths.astype(np.float32))
    noisy = Image.fromarray((found.noise > 0).astype(np.float32))
    deep = np.asarray(by_window.resize(size, Image.Resampling.BILINEAR))
    deep = deep * (np.asarray(noisy.resize(size, Image.Resampling.BOX)) > 0.3)
    deep = ndimage.gaussian_filter(deep, SOFT)
    inside = deep > 1  # depth 1 changes nothing that is seen
    groups, count = ndimage.label(ndimage.binary_dilation(inside, iterations=NEAR))
    labels: list[Label] = []
    for number in range(1, count + 1):
        here = (groups == number) & inside
        if here.mean() < LEAST:
            inside &= ~here
            continue
        y, x = divmod(int(np.argmax(np.where(here, deep, 0))), across)
        rows, columns = found.depths.shape
        depth = int(found.depths[y * rows // down, x * columns // across])
        labels.append((x / across, y / down, max(1, depth)))
    depths = np.where(inside, deep, 0)
    far = ndimage.distance_transform_edt(np.pad(~inside, 1))[1:-1, 1:-1]
    if labels and far.max() >= LONGEST / 12:
        y, x = divmod(int(np.argmax(far)), across)
        labels.append((x / across, y / down, 0))
    ends = max([DEEP, *(depth for *_, depth in labels)])
    share = float(inside.mean())
    return Places(labels, _outlines(depths), _direction(depths), share, ends, _map(depths, ends))


def _outlines(depths: NDArray[np.float32]) -> list[list[list[float]]]:
    from skimage.measure import approximate_polygon, find_contours

    lines = [approximate_polygon(line, 0.4) for line in find_contours(np.pad(depths, 1), 0.5)]
    shares = [((line - 0.5) / depths.shape)[:, ::-1].clip(0, 1) for line in lines if len(line) > 3]
    return [share.round(4).tolist() for share in shares]


def _direction(depths: NDArray[np.float32]) -> str:
    """Where the four quarters across rise by enough, and to twice as much; empty otherwise."""
    for axis, (forwards, backwards) in enumerate((("right", "left"), ("bottom", "top"))):
        quarters = np.array([part.mean() for part in np.array_split(depths.mean(axis), 4)])
        for name, rising in (forwards, quarters), (backwards, quarters[::-1]):
            low, high = rising[0], rising[-1]
            if np.diff(rising).min() >= -0.5 and high - low >= RISE and low <= high / 2:
                return name
    return ""


def _map(depths: NDArray[np.float32], deepest: int) -> bytes:
    ends = np.linspace(0, deepest, len(COLOURS))
    colours = [np.interp(depths, ends, channel) for channel in zip(*COLOURS, strict=True)]
    clear = 209 * np.clip(depths / 2.5, 0, 1)
    pixels = np.stack([*colours, clear], -1).round().astype(np.uint8)
    return encoded(pixels, "PNG", optimize=True)
