"""Plain frames around a picture: borders, bars and mats, which say nothing of its damage. Ours.

Blur that ends at a black bar is no blur of the whole, and white around noise hides it from every
measurement. The frame is set aside, the inside is repaired, and the frame comes back bit for bit.
Limits without a figure were chosen by hand on the half for choices (``tune``).
"""

import numpy as np
from numpy.typing import NDArray

from dga.images import Pixels

PLAIN = 3.0
"""Most standard deviation of a plain line of pixels, in levels of 255: JPEG leaves a little."""
EDGE = 10.0
"""Least mean difference between a frame's last line and the next, in levels of 255; a sky that
reaches the border has no such edge."""
RINGING = 7
"""Lines at a frame's edge that JPEG's blocks may have spread it into."""
LEAST_INSIDE = 32
"""Pixels a side that an inside has at least."""
LOOKED_AT = 16
"""Lines that are looked at together."""
MARGIN_SHARE, MARGIN_REACH = 0.3, 10.0
"""Share of the inside that has the border's colour, within so many levels of 255, from which that
is no frame but the paper of a page or a cut-out: text has 0.5 to 0.74, cut-outs 0.33 to 0.72, of 30
photographs in white and black frames one more than 0.2."""
MOST_FRAMES = 3
"""Frames around frames, such as a mat and a line."""


def find_inside(pixels: Pixels) -> tuple[slice, slice]:
    """Rows and columns of a picture, uint8 ``[H, W, 3]``, inside its frame, if any."""
    rows, columns = (slice(0, side) for side in pixels.shape[:2])
    for _ in range(MOST_FRAMES):
        inside = pixels[rows, columns].astype(np.float32)
        top, bottom = (_count_plain(lines) for lines in (inside, inside[::-1]))
        if top + bottom >= len(inside):
            break
        turned = inside[top : len(inside) - bottom].swapaxes(0, 1)
        left, right = (_count_plain(lines) for lines in (turned, turned[::-1]))
        if not top + bottom + left + right:
            break
        new_rows = slice(rows.start + top, rows.stop - bottom)
        new_columns = slice(columns.start + left, columns.stop - right)
        if min(new_rows.stop - new_rows.start, new_columns.stop - new_columns.start) < LEAST_INSIDE:
            break
        sides = (top, inside[0]), (bottom, inside[-1]), (left, turned[0]), (right, turned[-1])
        border = next(line.mean(0) for count, line in sides if count)
        if _has_colour(pixels[new_rows, new_columns], border):
            break
        rows, columns = new_rows, new_columns
    return rows, columns


def _count_plain(lines: NDArray[np.float32]) -> int:
    """How many lines, ``[n, m, 3]``, from the first on are a frame of one colour; 0 for none."""
    colour, count = lines[0].mean(0), 0
    while count < len(lines):  # some at a time: most pictures have no frame
        some = lines[count : count + LOOKED_AT]
        is_far = abs(some.mean(1) - colour).max(1) > 2 * PLAIN
        is_end = is_far | (some.std(1).max(1) > PLAIN)
        if is_end.any():
            count += int(np.argmax(is_end))
            break
        count += len(some)
    if count in (0, len(lines)):
        return 0
    reached = min(count + RINGING, len(lines) - 1)
    step = abs(lines[count : reached + 1] - colour).mean((1, 2))
    if step.max() < EDGE:
        return 0
    return count + int(np.argmax(step >= EDGE))


def _has_colour(pixels: Pixels, colour: NDArray[np.float32]) -> bool:
    """Whether a good part of uint8 ``[h, w, 3]`` is near a colour, ``[3]``."""
    distance = abs(pixels - colour).max(2)
    return float((distance <= MARGIN_REACH).mean()) >= MARGIN_SHARE
