"""Plain frames around a picture: borders, bars and mats, which say nothing of its damage. Ours.

A frame disturbs measurements: the blur of a picture stops at a black bar, and white around a noisy
picture hides the noise. So the frame is set aside, the inside is repaired, and the frame comes back
bit for bit.
Limits without a figure were chosen by hand on the half for choices (``tune``).
"""

import numpy as np
from numpy.typing import NDArray

from dga.images import Pixels

PLAIN_DEVIATION = 3.0
"""Largest standard deviation of a plain line of pixels, in levels of 255: JPEG leaves a little."""
LEAST_EDGE = 10.0
"""Least mean difference between a frame's last line and the next, in levels of 255; a sky that
reaches the border has no such edge."""
BLURRED_LINES = 7
"""Lines over which JPEG's blocks may have blurred a frame's edge."""
LEAST_INSIDE = 32
"""Least pixels a side of an inside."""
LINES_AT_ONCE = 16
"""Lines that are examined together: most pictures have no frame, so that few are needed."""
MARGIN_SHARE = 0.3
"""Share of the inside in one border's colour from which there is no frame, but the margin of a
page or a cut-out: text has 0.5 to 0.74, cut-outs 0.33 to 0.72; of 30 photographs in white and black
frames one has more than 0.2."""
MARGIN_REACH = 10.0
"""Levels of 255 within which a pixel has the border's colour."""
MOST_FRAMES = 3
"""Most frames inside one another, such as a mat and a line."""


def find_inside(pixels: Pixels) -> tuple[slice, slice]:
    """The rows and columns of a picture, uint8 ``[H, W, 3]``, inside its frame.

    Without a frame these are all of its rows and columns.
    """
    rows, columns = (slice(0, side) for side in pixels.shape[:2])
    for _ in range(MOST_FRAMES):
        inside = pixels[rows, columns].astype(np.float32)
        top, bottom = (_count_plain(lines) for lines in (inside, inside[::-1]))
        if top + bottom >= len(inside):
            break
        sideways = inside[top : len(inside) - bottom].swapaxes(0, 1)
        left, right = (_count_plain(lines) for lines in (sideways, sideways[::-1]))
        if not top + bottom + left + right:
            break
        new_rows = slice(rows.start + top, rows.stop - bottom)
        new_columns = slice(columns.start + left, columns.stop - right)
        if min(new_rows.stop - new_rows.start, new_columns.stop - new_columns.start) < LEAST_INSIDE:
            break
        sides = (top, inside[0]), (bottom, inside[-1]), (left, sideways[0]), (right, sideways[-1])
        within = pixels[new_rows, new_columns]
        if any(_has_colour(within, line.mean(0)) for count, line in sides if count):
            break
        rows, columns = new_rows, new_columns
    return rows, columns


def _count_plain(lines: NDArray[np.float32]) -> int:
    """How many of the first lines, ``[n, m, 3]``, are a frame of one colour; 0 without a frame."""
    colour, count = lines[0].mean(0), 0
    while count < len(lines):
        part = lines[count : count + LINES_AT_ONCE]
        has_other_colour = abs(part.mean(1) - colour).max(1) > 2 * PLAIN_DEVIATION
        is_inside = has_other_colour | (part.std(1).max(1) > PLAIN_DEVIATION)
        if is_inside.any():
            count += int(np.argmax(is_inside))
            break
        count += len(part)
    if count in (0, len(lines)):
        return 0
    last = min(count + BLURRED_LINES, len(lines) - 1)
    difference = abs(lines[count : last + 1] - colour).mean((1, 2))
    if difference.max() < LEAST_EDGE:
        return 0
    return count + int(np.argmax(difference >= LEAST_EDGE))


def _has_colour(pixels: Pixels, colour: NDArray[np.float32]) -> bool:
    """Whether enough of the pixels, uint8 ``[h, w, 3]``, are near a colour, ``[3]``."""
    distance = abs(pixels - colour).max(2)
    return float((distance <= MARGIN_REACH).mean()) >= MARGIN_SHARE
