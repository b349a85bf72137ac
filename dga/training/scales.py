"""Windows of enlarged training pictures, as smooth as photographs at their own size."""

from typing import overload

import numpy as np
from PIL import Image

from dga.images import Pixels

LARGEST = 3.5
KERNELS = (Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)


@overload
def maybe_window(picture: Pixels, share: float, rng: np.random.Generator) -> Pixels: ...
@overload
def maybe_window(picture: None, share: float, rng: np.random.Generator) -> None: ...
def maybe_window(picture: Pixels | None, share: float, rng: np.random.Generator) -> Pixels | None:
    """A picture or, with chance ``share``, a window of it enlarged 1 to 3.5 times.

    ``picture`` and result: uint8 ``[S, S, 3]``; for ``None`` only the draws are made. The window
    lies anywhere, between pixels too. Share 0 draws nothing.
    """
    if not share:
        return picture
    chosen, width, kernel = rng.random() < share, 1 / rng.uniform(1, LARGEST), rng.integers(2)
    left, top = rng.random(2) * (1 - width)
    if picture is None or not chosen:
        return picture
    side = len(picture)
    box = (left * side, top * side, (left + width) * side, (top + width) * side)
    return np.asarray(Image.fromarray(picture).resize((side, side), KERNELS[kernel], box=box))
