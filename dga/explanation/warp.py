"""Warping: pixels that were moved a little, each with its neighbours, and how that is recognised.

Uneven glass and hot air bend lines so. An edge stays sharp and, over a few pixels, straight; over a
few more it turns. So the coherence of gradients (structure tensor: Bigün and Granlund, 1987) falls
faster with the size of the neighbourhood than in photographs. How the pixels moved cannot be
measured: a denoiser that has seen warped pictures alone straightens them (:mod:`dga.mending`).
Limits were chosen on ``tune`` (assets/results/photo/README.md).
"""

import numpy as np
import scipy
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.blur import measure_softness
from dga.explanation.spectrum import compute_power_spectrum, compute_radial_spectrum
from dga.images import HALF_RANGE, cut_middle

Grey = NDArray[np.float32]
NEAR, FAR = 1.5, 2.5
"""Deviations in pixels of the neighbourhoods in which gradients are compared."""
NEAR_WEIGHT = 1.5
"""Weight of the coherence near by, beside 1 of that further away, by logistic regression on 300
photographs of ``train``, as they are and under the chains' warps."""
LEAST_WAVINESS, MOST_WAVINESS = 0.053, 0.15
"""Of 240 undamaged photographs of ``tune``, as they are and saved as JPEG 85, none has so much, of
534 for training five. Drawn patterns of short arcs have more than the second."""
MOST_SOFTNESS = 4.5
"""Softness, in natural log power, of warped pictures at most: what is enlarged, or behind glass or
a lens, is softer, and waves, too."""
LEAST_RELIEF = 0.011
"""By how much waviness falls at least where lines were bent: where undamaged photographs pass for
warped by 0.008 at most, of pages by 0.010."""
SEARCHED_SIDE = 1024
"""Pixels a side of the middle in which warping is looked for."""


def measure_warp(x: Tensor) -> float | None:
    """The waviness of ``[3, H, W]`` in [-1, 1] if it is warped; None if it is not."""
    x = cut_middle(x, SEARCHED_SIDE)
    waviness = measure_waviness(x)
    if not LEAST_WAVINESS < waviness < MOST_WAVINESS:
        return None
    softness = measure_softness(*compute_radial_spectrum(compute_power_spectrum(x)))
    return waviness if softness < MOST_SOFTNESS else None


def is_straightened(x: Tensor, result: Tensor) -> bool:
    """Whether a result, ``[3, H, W]`` as ``x`` is, has clearly less waviness."""
    return measure_waviness(x) - measure_waviness(result) > LEAST_RELIEF


def measure_waviness(x: Tensor) -> float:
    """By how much coherence falls from near to far in ``[3, H, W]``, in weighted natural logs."""
    grey = HALF_RANGE * x.mean(0).cpu().numpy().astype(np.float32)
    grey = scipy.ndimage.gaussian_filter(grey, 1, mode="mirror")
    down, across = (scipy.ndimage.sobel(grey, axis, mode="mirror") for axis in (0, 1))
    near, far = (_measure_coherence(across, down, sigma) for sigma in (NEAR, FAR))
    return float(NEAR_WEIGHT * np.log(near) - np.log(far))


def _measure_coherence(across: Grey, down: Grey, sigma: float) -> float:
    """The mean coherence of gradients, 0 (of every direction) to 1 (of one), by their energy."""
    products = across * across, down * down, across * down
    xx, yy, xy = (scipy.ndimage.gaussian_filter(one, sigma, mode="mirror") for one in products)
    aligned = np.sqrt((xx - yy) ** 2 + 4 * xy**2)
    return float((aligned.sum() + 1e-6) / ((xx + yy).sum() + 1e-6))
