"""The quality at which a picture was saved as JPEG: by its file, and by traces in its pixels.

A JPEG's blocks of 8 by 8 pixels hold whole multiples of its quantisation steps, which stay nearly
whole when the picture is saved again with finer ones (Fan and de Queiroz, "Identification of bitmap
compression history", 2003).
"""

import functools
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image

from dga.images import Pixels, recompress_jpeg

BLOCK = 8
POOR = 16
"""Quality up to which a picture is mended even where little of it would change. Of 40 photographs
of quality 16 mending has 45 % read right instead of 35; at 18 it gains nothing."""
MOST_TRACED = 70
"""The best quality that is looked for in pixels."""
MOST_SIDE = 256
"""Pixels a side of the middle in which it is."""
LEAST_FIT = 0.5
"""Least mean cosine, up to 1, of the remainders that a quality's quantisation leaves."""
LEAST_MULTIPLES = 20
"""Added to the number of multiples, of which that is a mean: few prove nothing."""
SAME = 5
"""By how much two measurements of one quality may differ."""
COARSER = 0.001
"""Taken from the fit for each point of quality: what fits coarse steps fits their halves, too."""
_COARSE = np.add.outer(np.arange(BLOCK), np.arange(BLOCK))
_COARSE = (_COARSE > 0) & (_COARSE < 5)  # frequencies at which few multiples are 0


def find_quality(image: Image.Image, pixels: Pixels | None) -> int | None:
    """The quality, 1 to 100, of the poorest JPEG that a picture has been; None where it was none.

    ``image``: as it was opened; ``pixels``: of it, uint8 ``[H, W, 3]``; None for a page, whose few
    patterns, each many times, fit some quality by chance.
    """
    own, traced = _read_quality(image), None if pixels is None else measure_quality(pixels)
    is_poorer = traced is not None and (own is None or traced < own - SAME)
    return traced if is_poorer else own


def _read_quality(image: Image.Image) -> int | None:
    """The quality of the JPEG that an image was opened from: that whose luminance table is the
    nearest as libjpeg writes it. None for other formats."""
    tables = getattr(image, "quantization", None)
    if image.format != "JPEG" or not tables:
        return None
    sums = _make_tables().sum((1, 2))
    return 1 + int(np.argmin(np.abs(sums - sum(next(iter(tables.values()))))))


def measure_quality(pixels: Pixels) -> int | None:
    """The quality of the poorest JPEG that left traces in uint8 ``[H, W, 3]``, at most
    :data:`MOST_TRACED`; None without traces."""
    top, left = (max(0, side - MOST_SIDE) // 2 for side in pixels.shape[:2])
    middle = pixels[top : top + MOST_SIDE, left : left + MOST_SIDE]
    grey = np.asarray(Image.fromarray(middle).convert("L")).astype(np.float32)
    if min(grey.shape) < 4 * BLOCK:
        return None
    grey = grey[_find_edge(grey.T) :, _find_edge(grey) :]
    rows, columns = (side // BLOCK for side in grey.shape)
    blocks = grey[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    coefficients = scipy.fft.dctn(blocks, axes=(1, 3), norm="ortho").swapaxes(1, 2)[..., _COARSE]
    fits = np.zeros(MOST_TRACED)
    for i, table in enumerate(_make_tables()[:MOST_TRACED]):
        multiples = coefficients / table[_COARSE].astype(np.float32)
        multiples = multiples[np.abs(multiples) > 0.5]  # the others fit any step
        fits[i] = np.cos(np.float32(2 * np.pi) * multiples).sum() / (
            len(multiples) + LEAST_MULTIPLES
        )
    best = int(np.argmax(fits - COARSER * np.arange(MOST_TRACED)))
    return 1 + best if fits[best] > LEAST_FIT else None


def _find_edge(grey: NDArray[np.float32]) -> int:
    """The first column of ``[H, W]`` with which a block begins: where neighbours differ most."""
    steps = np.abs(np.diff(grey, axis=1)).mean(0)
    excess = steps[1:-1] - (steps[:-2] + steps[2:]) / 2  # from column 1 to 2, 2 to 3 ...
    phases = [excess[start::BLOCK].mean() for start in range(BLOCK)]
    return (int(np.argmax(phases)) + 2) % BLOCK


@functools.cache
def _make_tables() -> NDArray[Any]:
    """The luminance table of every quality from 1 to 100, ``[100, 8, 8]``."""
    grey = np.zeros((BLOCK, BLOCK, 3), np.uint8)
    saved: list[Any] = [recompress_jpeg(grey, quality) for quality in range(1, 101)]
    return np.array([image.quantization[0] for image in saved]).reshape(-1, BLOCK, BLOCK)
