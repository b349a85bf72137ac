"""Blocks of a picture that was enlarged without interpolation: how they are measured."""

import math

import numpy as np
from torch import Tensor

from dga.explanation.operators import Blocks

REPEATED = 0.38
"""Least share of rows, and of columns, that repeat the one before where there are blocks."""
SAVED_CONTRAST = 1.8
"""Least ratio of differences across borders of blocks that were saved to other differences. Blocks
saved as JPEG 85 have 1.7 to 8.6, of 254 undamaged pictures none more than 1.7."""
MOST_OBLONG = 0.03
"""By how much a block's sides differ, as a share, at most."""
SMALLEST_BLOCK, LARGEST_BLOCK = 1.6, 24
"""Pixels a side of blocks that were saved."""
JPEG_SIDES = 8, 16
"""Pixels a side of JPEG's own blocks."""
MOST_BLOCKS = 1000
"""Along a side, of blocks that were saved: more would take long to try."""


def measure_blocks(x: Tensor, is_page: bool = False) -> Blocks | None:
    """Where rows and columns of blocks begin, in ``[3, H, W]``; None without blocks.

    Blocks that were saved as JPEG no longer repeat their pixels; their borders still show, if not
    among the edges on a page.
    """
    rows, columns = find_block_starts(x), find_block_starts(x.transpose(1, 2))
    if rows and columns:
        return Blocks(rows, columns)
    return None if is_page else measure_saved_blocks(x)


def measure_saved_blocks(x: Tensor) -> Blocks | None:
    """Blocks of one size all over ``[3, H, W]``, by the differences across their borders.

    They are SAVED_CONTRAST times those between other neighbours, along rows and columns.
    """
    rows, columns = (_fit_block_count(x.diff(dim=dim).abs().mean((0, 3 - dim))) for dim in (1, 2))
    if not rows or not columns:
        return None
    height, width = x.shape[1] / len(rows), x.shape[2] / len(columns)
    is_jpeg = any(abs(height - side) < 0.1 for side in JPEG_SIDES)
    return None if is_jpeg or abs(height / width - 1) > MOST_OBLONG else Blocks(rows, columns)


def _fit_block_count(difference: Tensor) -> tuple[int, ...]:
    """Where blocks of one size begin, at whose borders mean differences, ``[n - 1]``, are largest.

    Empty where they are not large enough. A picture of n pixels made of m blocks has its pixel i in
    block (i + 1/2) m / n.
    """
    side = len(difference) + 1
    values = difference.double().cpu().numpy()
    fewest = max(2, math.ceil(side / LARGEST_BLOCK))
    counts = np.arange(fewest, min(MOST_BLOCKS, int(side / SMALLEST_BLOCK)) + 1)
    owners = ((np.arange(side) + 0.5) * counts[:, None] / side).astype(int)
    is_border = np.diff(owners) > 0  # [counts, n - 1]
    at_borders, elsewhere = ((part @ values) / part.sum(1) for part in (is_border, ~is_border))
    contrast = at_borders / np.maximum(elsewhere, 1e-9)
    if contrast.max(initial=0) <= SAVED_CONTRAST:
        return ()
    return (0, *(1 + np.flatnonzero(is_border[contrast.argmax()])).tolist())


def find_block_starts(x: Tensor) -> tuple[int, ...]:
    """Rows of ``[3, H, W]`` that do not repeat the one before; none where few are repeated.

    A plain margin repeats its rows in every picture: rows of one colour do not count, and such a
    margin is divided into blocks as high as the others are in the median.
    """
    is_new = (x[:, 1:] != x[:, :-1]).any(2).any(0)
    is_varied = (x[:, 1:] != x[:, 1:, :1]).any(2).any(0)
    begins = [0, *(1 + is_new.nonzero()[:, 0]).tolist()]
    if len(begins) == 1 or not is_varied.any() or 1 - is_new[is_varied].float().mean() < REPEATED:
        return ()
    heights = np.diff([*begins, x.shape[1]])
    if np.median(heights) < 2:  # as of a page, most of whose repeated rows are its lines' gaps
        return ()
    counts = np.maximum(1, np.round(heights / np.median(heights))).astype(int)
    divided = [
        begin + np.round(np.arange(count) * height / count)
        for begin, height, count in zip(begins, heights, counts, strict=True)
    ]
    return tuple(np.concatenate(divided).astype(int).tolist())
