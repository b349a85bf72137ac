"""Strong JPEG compression, recognised by the levels that it leaves of a picture's frequencies.

JPEG divides each frequency of a block of 8 x 8 pixels by a step and rounds it, so that its values
lie near whole multiples of that step (Fan and de Queiroz, 2003). What was rounded away cannot be
brought back; a diffusion model draws it anew.
"""

import numpy as np
from scipy import fft
from torch import Tensor

from dga.images import HALF_RANGE

SIDE = 8
"""Pixels a side of a block."""
FREQUENCIES = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (0, 3), (3, 0))
"""Vertical and horizontal frequencies that are looked at: low ones, of which most is left."""
STEPS = np.arange(128, 9, -1)
"""Sizes that a step may have, in grey levels, 0 to 255."""
NEAR = 2.0
"""Distance from a multiple, in grey levels, that rounding to pixels explains."""
LEAST_VALUES = 12
"""Values beyond half a step by which a step is judged."""
NEAR_SHARE = 0.8
"""Share of them that is near a multiple; by chance it is 4 in ``step``."""
LEAST_FREQUENCIES = 3
"""Of :data:`FREQUENCIES`, how many need to have a step."""
LEAST_STEP = 30.0
"""Median of the steps from which compression is strong: JPEG's quality is then below some 20."""


def measure_jpeg(x: Tensor) -> float | None:
    """Median step in grey levels of a picture, ``[3, H, W]`` in [-1, 1], if it was compressed
    strongly; else None.

    Blocks begin in the upper left corner; those with clipped values say nothing.
    """
    height, width = (side // SIDE * SIDE for side in x.shape[1:])
    x = x[:, :height, :width].double().cpu()
    is_clipped = _to_blocks((x.abs() == 1).any(0).numpy()).any((1, 2))
    red, green, blue = x.numpy() * HALF_RANGE
    blocks = _to_blocks(0.299 * red + 0.587 * green + 0.114 * blue)[~is_clipped]
    spectrum = np.abs(fft.dctn(blocks, axes=(1, 2), norm="ortho"))
    steps = [_find_step(spectrum[:, row, column]) for row, column in FREQUENCIES]
    measured = [step for step in steps if step]
    if len(measured) < LEAST_FREQUENCIES or np.median(measured) < LEAST_STEP:
        return None
    return float(np.median(measured))


def _to_blocks(plane: np.ndarray) -> np.ndarray:
    """``[H, W] -> [n, 8, 8]``."""
    rows, columns = (side // SIDE for side in plane.shape)
    blocks = plane.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2)
    return blocks.reshape(-1, SIDE, SIDE)


def _find_step(values: np.ndarray) -> int | None:
    """The largest step of which the magnitudes ``[n]`` of one frequency are multiples."""
    for step in STEPS:
        large = values[values > step / 2]
        distance = np.abs(large - step * np.round(large / step))
        if len(large) >= LEAST_VALUES and (distance < NEAR).mean() > NEAR_SHARE:
            return int(step)
    return None
