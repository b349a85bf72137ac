"""Right and wrong explanations of damage, which the discriminator learns to recognise.

It is asked whether to undo a :class:`~dga.explanation.degradation.Degradation`, and whether a noisy
picture enters the forward process at the depth of its noise. So it is shown what wrong inverses
look like, drawn from a wider family than any that is measured.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Schedule
from dga.explanation.deconvolution import deconvolve, make_disk
from dga.explanation.exposure import DEVIATION_FLOOR
from dga.explanation.noise_level import find_matched_depth, measure_noise, remove_impulses
from dga.explanation.operators import make_motion_kernel
from dga.images import to_levels
from dga.lab.training.draws import draw_log

CLEAN_SHARE = 0.3
"""Share of class 1 that are clean pictures after an inverse that they did not need."""
INVERTED_SHARE = 0.5
"""Share of the corrupted pictures that are shown after an inverse."""
VISIBLE_CHANGE = 0.02
"""The mean absolute change, in [0, 2], from which on an inverse spoils a clean picture."""
PART_SHARES = {"exposure": 0.5, "disk": 0.4, "motion": 0.2, "blocks": 0.15, "impulses": 0.15}
"""How often an inverse has each of these parts."""
NOISE_FLOOR = 0.1
"""Estimated deviation from which a picture may hold noise."""
NOISY_ENTRY_SHARE, OTHER_ENTRY_SHARE = 0.7, 0.12
"""Shares of the pictures with noise, and of the others, that enter the chain as if they held
noise."""
EXACT_SHARE = 0.3
"""Share of the noisy pictures that enter at the estimate itself; others are off by up to twice."""
SOURCE_MEAN = -0.1
"""Mean grey level of source pictures, pixels in [-1, 1]: ImageNet's, 0.45 in [0, 1]."""
DEEP_SHARE = 0.15
"""Share of the other pairs at ordinary depths, so that deep states are not forgotten."""
COMPARED_REACH = 24 / 100
"""The share of the chain, from its beginning, in which explanations are compared."""


class SecondPicture(NamedTuple):
    """The second picture of a pair, which is mostly damaged, and how the pair is shown."""

    x: Tensor
    """``[3, H, W]``."""
    target: float
    """0 where a clean picture stayed clean, else 1."""
    deviation: float
    """The standard deviation of the noise that it is taken to hold."""
    depth: int
    """The depth at which both pictures of the pair are shown."""


def draw_second_picture(
    clean: Tensor, corrupted: Tensor, depth: int, schedule: Schedule, rng: np.random.Generator
) -> SecondPicture:
    """The second picture of a pair: a corrupted or clean one, perhaps after a random inverse.

    ``clean``, ``corrupted``: ``[3, H, W]`` in [-1, 1]; ``depth``: an ordinary one, sometimes kept.
    """
    target = 1.0
    if rng.random() < CLEAN_SHARE:
        corrupted = draw_inverse(clean, rng)
        target = float((corrupted - clean).abs().mean() >= VISIBLE_CHANGE)
    elif rng.random() < INVERTED_SHARE:
        corrupted = draw_inverse(corrupted, rng)
    deviation = draw_deviation(corrupted, rng) if target else 0.0
    return SecondPicture(corrupted, target, deviation, draw_depth(schedule, depth, deviation, rng))


def draw_inverse(x: Tensor, rng: np.random.Generator) -> Tensor:
    """A picture after any inverse of any damage: ``[3, S, S]`` in [-1, 1], in 8-bit levels.

    Light that is stretched, a disk, motion, blocks or impulses.
    """
    drawn = rng.random(len(PART_SHARES)) < tuple(PART_SHARES.values())
    has = dict(zip(PART_SHARES, drawn.tolist(), strict=True))
    stretch, kernels = None, list[Tensor]()
    regularisation = draw_log(rng, 0.001, 0.05)
    if has["exposure"] or not drawn.any():
        stretch = draw_stretch(x, rng)
    if has["disk"]:
        kernels.append(make_disk(round(draw_log(rng, 1, 10), 1)))
    if has["motion"]:
        length = round(draw_log(rng, 2, 20), 1)
        kernels.append(make_motion_kernel(length, float(rng.integers(180))))
    size = int(rng.integers(2, 9)) if has["blocks"] else 1
    if has["impulses"]:
        x = remove_impulses(x, rng.uniform(0.2, 1.0))
    if has["blocks"]:
        x = interpolate_blocks(x, size)
    if stretch:
        gain, offset = stretch
        x = (gain * x + offset).clamp(-1, 1)
    for kernel in kernels:
        x = deconvolve(x, kernel, regularisation)
    return to_levels(x)


def interpolate_blocks(x: Tensor, size: int) -> Tensor:
    """Smooth interpolation of the means of blocks ``size`` pixels a side: undoes pixelation.

    ``x``: ``[3, H, W]``, the same shape comes back, clipped to [-1, 1].
    """
    height, width = x.shape[1:]
    means = F.interpolate(x[None], size=(height // size, width // size), mode="area")
    smooth = F.interpolate(means, size=(height, width), mode="bicubic", align_corners=False)
    return smooth[0].clamp(-1, 1)


def draw_stretch(x: Tensor, rng: np.random.Generator) -> tuple[float, Tensor]:
    """A gain of 0.8 to 25 about grey or each channel's mean, and any new mean, as what is added
    afterwards, ``[3, 1, 1]``."""
    colour = x.mean((1, 2))  # [3]
    grey = colour.mean().expand(3)
    about = colour if rng.random() < 0.6 else grey
    deviation = float((x - about.view(3, 1, 1)).square().mean().sqrt())
    gain = draw_log(rng, 0.8, max(1.0, min(25.0, 0.7 / max(deviation, DEVIATION_FLOOR))))
    means = (about, grey, torch.full_like(colour, SOURCE_MEAN), grey + rng.normal(0, 0.2))
    return gain, (means[int(rng.integers(4))] - gain * about).view(3, 1, 1)


def draw_deviation(x: Tensor, rng: np.random.Generator) -> float:
    """The deviation of the noise that a picture ``[3, S, S]`` is taken to hold, rightly or not."""
    estimate = measure_noise(x)
    if estimate < NOISE_FLOOR:
        return draw_log(rng, 0.05, 1.0) if rng.random() < OTHER_ENTRY_SHARE else 0.0
    if rng.random() >= NOISY_ENTRY_SHARE:
        return 0.0
    return estimate if rng.random() < EXACT_SHARE else estimate * draw_log(rng, 0.5, 2)


def draw_depth(
    schedule: Schedule, ordinary: int, deviation: float, rng: np.random.Generator
) -> int:
    """A depth below, at or beyond the entry that belongs to ``deviation``, or a shallow one."""
    reach = max(1, round(COMPARED_REACH * schedule.steps))
    if deviation:
        entry = find_matched_depth(schedule, deviation)
        offset = (0, -int(rng.integers(entry + 1)), int(rng.integers(reach)))
        return min(schedule.steps, entry + offset[int(rng.choice(3, p=(0.25, 0.25, 0.5)))])
    if rng.random() < DEEP_SHARE:
        return ordinary
    return max(0, int(rng.integers(-2, reach + 1)))  # the picture itself counts three times
