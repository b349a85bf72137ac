"""Haze: the air's own light before a scene, more of it the farther the scene, and its inverse.

Koschmieder's law: y = t x + (1 - t) a, where a is the air's light (*airlight*) and t, the
*transmission*, the share of the scene's light that comes through. Somewhere near every place of a
photograph a channel is dark; what is not dark there is air (the dark channel of He et al., "Single
Image Haze Removal Using Dark Channel Prior", 2009). Here t is smooth, so that it has no edges to
follow.
"""

from dataclasses import dataclass

import numpy as np
import scipy
import torch
import torch.nn.functional as F
from torch import Tensor

from dga.explanation.spectrum import Array

WORKING_SIDE = 112
"""Samples a side at which smooth light is measured, whatever the picture's size."""
PATCH, SMOOTHING, AIR_SMOOTHING = 13, 5.0, (4.0, 2.0)
"""Samples a side of a place in which some channel is dark, deviation of the Gaussian that smooths
the transmission, and of those that smooth the dark channel and the picture where air is found.
Patches of 8, 13 and 21 samples differ by 2 % of 48 hazy photographs."""
LEAST_TRANSMISSION = 0.05
"""Below which nothing but rounding and JPEG comes through."""
CLEAREST, MOST_TRANSMISSION = 0.95, 0.45
"""A quantile of a hazy picture's transmission, and the most that it is. Of 654 undamaged
photographs none has less than 0.49, of 48 each under haze 5 and 3 all and 46 have less."""
AIR_LEVELS, MOST_CHROMA = (0.6, 0.95), 0.1
"""Mean levels between which the air's light is, and most difference of its channels: a picture that
only lost contrast has darker air, a white wall lighter, a wooden one more colour."""
LEAST_AGREEMENT, DETAIL = 0.1, (1.5, 7.0)
"""Correlation from which fine contrast and transmission fall together, and deviations, in samples,
of the Gaussians that part detail from shading and smooth its power. Of 100 hazy photographs 95
agree by more."""


@dataclass(frozen=True)
class Haze:
    """An inverse of haze.

    ``air``: its own light, a colour in [0, 1]; ``gain``: by how much the scene's light is weakened,
    on average.
    """

    air: tuple[float, float, float]
    gain: float

    @property
    def change(self) -> float:
        """How far the inverse's factor is from 1."""
        return self.gain - 1

    def remove(self, x: Tensor) -> Tensor:
        """The scene behind it, ``[3, H, W]`` in [-1, 1], clipped to the same range."""
        light = 2 * x.new_tensor(self.air)[:, None, None] - 1
        return ((x - light) / measure_transmission(x, self.air) + light).clamp(-1, 1)

    def __str__(self) -> str:
        return f"haze, gain {self.gain:.3g}"


def measure_haze(x: Tensor) -> Haze | None:
    """The haze before ``[3, H, W]`` in [-1, 1].

    None where more than a few places are seen well, the colour before them is not that of air, or
    less transmission does not mean less contrast.
    """
    air = find_air(x)
    if not AIR_LEVELS[0] < sum(air) / 3 < AIR_LEVELS[1] or max(air) - min(air) > MOST_CHROMA:
        return None
    transmission = measure_transmission(x, air)
    levels = transmission.flatten().sort().values
    is_thick = float(levels[int(CLEAREST * (len(levels) - 1))]) < MOST_TRANSMISSION
    if not is_thick or _measure_agreement(x, transmission) < LEAST_AGREEMENT:
        return None
    return Haze(air, 1 / float(transmission.mean()))


def _measure_agreement(x: Tensor, transmission: Tensor) -> float:
    """The correlation of fine contrast with transmission, ``[H, W]``, both as logarithms; 0 where
    either is the same everywhere."""
    grey, seen = _shrink(x).mean(0), _shrink(2 * transmission[None] - 1)[0]
    detail = grey - scipy.ndimage.gaussian_filter(grey, DETAIL[0])
    power = scipy.ndimage.gaussian_filter(detail**2, DETAIL[1])
    contrast, clearness = np.log(power + 1e-6).ravel(), np.log(seen).ravel()
    if min(contrast.std(), clearness.std()) < 1e-6:
        return 0.0
    return float(np.corrcoef(contrast, clearness)[0, 1])


def find_air(x: Tensor) -> tuple[float, float, float]:
    """The air's own light, a colour in [0, 1]: the picture's where the least of the scene is seen.

    ``x``: ``[3, H, W]`` in [-1, 1].
    """
    small = _shrink(x)
    dark = scipy.ndimage.minimum_filter(small.min(0), PATCH)
    place = int(scipy.ndimage.gaussian_filter(dark, AIR_SMOOTHING[0]).argmax())
    light = [
        scipy.ndimage.gaussian_filter(channel, AIR_SMOOTHING[1]).flat[place] for channel in small
    ]
    red, green, blue = (round(float(value), 3) for value in light)
    return red, green, blue


def measure_transmission(x: Tensor, air: tuple[float, float, float]) -> Tensor:
    """The share of the scene's light that comes through, ``[H, W]``, at least
    :data:`LEAST_TRANSMISSION`, of ``[3, H, W]`` in [-1, 1]."""
    small = _shrink(x) / np.maximum(air, 1 / 255)[:, None, None]
    seen = 1 - scipy.ndimage.gaussian_filter(
        scipy.ndimage.minimum_filter(small.min(0), PATCH), SMOOTHING
    )
    grid = torch.from_numpy(seen.clip(LEAST_TRANSMISSION, 1))[None, None].to(x)
    return F.interpolate(grid, x.shape[-2:], mode="bicubic")[0, 0].clamp(LEAST_TRANSMISSION, 1)


def _shrink(x: Tensor) -> Array:
    """The picture's means at :data:`WORKING_SIDE`, ``[3, n, n]`` in [0, 1]."""
    small = F.interpolate(x[None], (WORKING_SIDE, WORKING_SIDE), mode="area")[0]
    return ((small.cpu().double().numpy() + 1) / 2).clip(0, 1)
