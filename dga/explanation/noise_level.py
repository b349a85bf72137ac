"""How much noise a picture holds already, and the depth of the forward process that this matches.

A picture with white Gaussian noise of deviation s *is* a state of the forward process, up to
its scale, at the depth where sqrt((1 - abar) / abar) = s (Carlini et al., "(Certified!!)
Adversarial Robustness for Free!", ICLR 2023, section 3.1).
"""

from statistics import NormalDist

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Schedule

MAD_TO_DEVIATION = 1 / 0.6745
"""From median absolute deviation to standard deviation, for a normal distribution."""
BLOCK_SIDE = 24
"""Pixels a side of the blocks in which noise is measured; even."""
BLOCK_STEP = 8
"""Pixels from one block to the next; even."""
LEAST_IMPULSES = 0.002
"""Least share of wrong values where there are impulses."""
MOST_PAIRED = 0.15
"""By how much more often than any other a wrong value's neighbour is wrong, too, at most."""
STRONG_NOISE = 0.22
"""Noise level from which noise is strong; fine texture measures as less."""
EXTREME, MIXED_EXTREME = 0.68, 0.2
"""Least share of black and white among values far from their neighbours where there are impulses:
beside strong noise, and beside less. Of ImageNet-C's impulses they are 0.73 to 0.99, of its shot
and Gaussian noise at most 0.63."""
NEARLY_EXTREME = 0.8
"""Level, 0 to 1 from mid grey, from which a value is nearly black or white."""
LEAST_EXTREME = 0.75
"""Least share of wholly black or white values among these; JPEG leaves fewer."""
PASSES = 3
"""How often impulses are looked for in what their removal left. Of 29 photographs under impulse
noise 5 one, two and three passes have 72, 83 and 86 % read right."""
FAR = 0.35
"""Distance from its neighbours' median, 0 to 2, from which a black or white value counts as
wrong."""
NOISE_FLOOR = 0.06
"""Noise level below which a picture counts as free of noise."""
QUIET_SHARE = 0.1
"""Noise counts as everywhere where no more than this share of the picture has none."""
SMEARED = 0.4
"""Least distance of an impulse that JPEG has smeared from its neighbours' median."""
VERY_FAR = 0.8
"""Distance from that median from which a value is very far."""
LEAST_NOISE = 0.035
"""Noise level below which there are no smeared impulses."""
LEAST_FAR = 0.02
"""Least share of values as far as smeared impulses."""
LEAST_VERY_FAR = 0.11
"""Least share of very far values among these."""
LEAST_EXCESS = 1.7
"""Least share of very far values among all, as a multiple of Gaussian noise's."""
MOST_VERY_FAR_PAIRED = 0.065
"""What :data:`MOST_PAIRED` is, of very far values: those of hard contrast lie along edges. Of 260
pictures under impulses, saved as JPEG, none has more than 0.05; of others that passed for such,
sharpened, equalised or snowed upon by other code, most have 0.07 to 0.3."""
MOST_COLOUR = 0.3
"""Most fine detail of colour over that of brightness: JPEG leaves noise little colour. One in ten
saved pictures with shot noise 5 passes for smeared impulses, none unsaved."""


def measure_noise(x: Tensor) -> float:
    """Standard deviation of the white noise in ``[3, H, W]`` in [-1, 1].

    The median absolute value of the finest diagonal Haar detail, where pictures have little
    and white noise has its full variance (Donoho and Johnstone, "Ideal spatial adaptation by
    wavelet shrinkage", 1994), averaged over channels.
    """
    return float(_find_median(_haar_detail(x).flatten(1)).mean() * MAD_TO_DEVIATION)


def _find_median(values: Tensor) -> Tensor:
    """The median along the last dimension, of an even number the lower one, as PyTorch's own."""
    middle = (values.shape[-1] - 1) // 2
    parted = np.partition(values.cpu().numpy(), middle)  # several times as quick
    return torch.from_numpy(parted[..., middle]).to(values)


def _haar_detail(x: Tensor) -> Tensor:
    """Absolute value of the finest diagonal Haar detail, ``[..., H // 2, W // 2]``."""
    height, width = (side - side % 2 for side in x.shape[-2:])
    x = x[..., :height, :width]
    detail = x[..., ::2, ::2] - x[..., 1::2, ::2] - x[..., ::2, 1::2] + x[..., 1::2, 1::2]
    return (detail / 2).abs()


def measure_quiet_noise(x: Tensor) -> float:
    """The noise level that the quietest :data:`QUIET_SHARE` of the picture does not exceed.

    ``x``: ``[C, H, W]`` in [-1, 1]. Noise is measured in square blocks of :data:`BLOCK_SIDE`
    pixels a side, one at every :data:`BLOCK_STEP` pixels, and smoothed over neighbouring blocks.
    No side of ``x`` is shorter than a block.
    """
    side, step = BLOCK_SIDE // 2, BLOCK_STEP // 2
    detail = _haar_detail(x)  # [C, h, w]
    rows = []
    for top in range(0, detail.shape[1] - side + 1, step):  # one at a time, to bound memory
        strip = detail[:, top : top + side]
        blocks = strip.unfold(2, side, step).movedim(2, 1)  # [C, n, side, side]
        rows.append(_find_median(blocks.flatten(2)).mean(0))
    measured = F.pad(torch.stack(rows)[None, None], (1, 1, 1, 1), "replicate")
    return MAD_TO_DEVIATION * float(F.avg_pool2d(measured, 3, 1).quantile(QUIET_SHARE))


def measure_even_change(change: Tensor) -> float:
    """The root mean square that a change of a picture, ``[3, H, W]``, exceeds in nine tenths of it.

    It is measured in blocks, as :func:`measure_quiet_noise` does; no side is shorter than a block.
    """
    squares = change.square().mean(0, keepdim=True)[None]
    return float(F.avg_pool2d(squares, BLOCK_SIDE, BLOCK_STEP).sqrt().quantile(0.1))


def find_matched_depth(schedule: Schedule, deviation: float) -> int:
    """k0: the first depth whose noise, relative to the signal, is at least ``deviation``."""
    ratio = (1 / schedule.alpha_bar - 1).sqrt()  # [T + 1], rising from 0
    return min(int(torch.searchsorted(ratio, deviation)), schedule.steps)


def remove_impulses(x: Tensor, threshold: float, is_smeared: bool = False) -> Tensor:
    """Replace wrong values (:func:`find_impulses`) by the median of the right ones around them.

    ``x``: ``[..., 3, H, W]`` in [-1, 1]. Sparse noise, of which a median of details sees nothing,
    is removed; other values keep their bits. (Decision-based median filter: Gonzalez and Woods,
    section 5.3.) Among many wrong values some pass for right ones until the others are gone, so
    they are looked for up to :data:`PASSES` times; once where JPEG has smeared them.
    """
    for _ in range(1 if is_smeared else PASSES):
        is_wrong = find_impulses(x, threshold, is_smeared)
        has_right_values = not is_wrong.flatten(-2).all(-1).any()  # in each colour
        if not is_wrong.any() or not has_right_values:
            break
        x = _fill(x, is_wrong)
    return x


def _fill(x: Tensor, is_wrong: Tensor) -> Tensor:
    """Wrong values of ``x`` as medians of their neighbours, from the rim of larger spots inwards;
    some are right."""
    height, width = x.shape[-2:]
    while is_wrong.any():
        right = F.pad(x.masked_fill(is_wrong, torch.nan), (1, 1, 1, 1), value=torch.nan)
        around = [right[..., i : i + height, j : j + width] for i in range(3) for j in range(3)]
        median = torch.stack([values[is_wrong] for values in around]).nanmedian(0).values
        x = x.masked_scatter(is_wrong, median)
        is_wrong = x.isnan()
    return x


def find_impulses(x: Tensor, threshold: float, is_smeared: bool = False) -> Tensor:
    """Which values are black or white and far from their neighbours, bool ``[..., 3, H, W]``.

    ``threshold``: the least distance from the median of the 3 x 3 neighbourhood, in the units of
    ``x``; ``is_smeared``: whether any value that is so far counts, as where JPEG changed them.
    """
    is_far = measure_distance(x) > threshold
    return is_far if is_smeared else is_far & (x.abs() >= 1)


def measure_distance(x: Tensor) -> Tensor:
    """How far each value, ``[..., 3, H, W]``, is from the median of its 3 x 3 neighbourhood.

    Borders are repeated beyond it.
    """
    import cv2  # here: the page must not wait for it

    planes = x.cpu().numpy().reshape(-1, *x.shape[-2:])
    medians = np.stack([cv2.medianBlur(plane, 3) for plane in planes])
    return (x - torch.from_numpy(medians).view(x.shape).to(x)).abs()


def has_impulses(x: Tensor, distance: Tensor, noise_level: float) -> bool:
    """Whether some values of a picture, ``[3, H, W]``, are wrong: black or white, far from their
    neighbours' median, and strewn at random. Small print is in lines, and where the measured
    ``noise_level`` is strong most of what is far from its neighbours has to be of this kind.

    ``distance``: of :func:`measure_distance`.
    """
    is_far = distance > FAR
    is_wrong, is_nearly = is_far & (x.abs() >= 1), is_far & (x.abs() > NEARLY_EXTREME)
    counts = x.numel(), int(is_far.sum()), int(is_nearly.sum())
    share, share_of_far, share_of_nearly = (float(is_wrong.sum()) / max(n, 1) for n in counts)
    least_of_far = EXTREME if noise_level > STRONG_NOISE else MIXED_EXTREME
    is_clear = share_of_far >= least_of_far and share_of_nearly >= LEAST_EXTREME
    if share < LEAST_IMPULSES or not is_clear:
        return False
    return _measure_pairs(is_wrong) < MOST_PAIRED


def _measure_pairs(is_wrong: Tensor) -> float:
    """By how much more often than any other a wrong value's neighbour is wrong, too."""
    share = float(is_wrong.float().mean())
    pairs = float((is_wrong[..., 1:] & is_wrong[..., :-1]).float().mean())
    return pairs / max(share, 1e-9) - share


def has_smeared_impulses(x: Tensor, distance: Tensor, noise_level: float) -> bool:
    """Whether some values of a picture, ``[3, H, W]``, were wrong before it was saved as JPEG.

    That halves the resolution of colour; more values are very far from their neighbours than of
    noise of any one deviation; and those are strewn at random. ``distance``: of
    :func:`measure_distance`.
    """
    mixed = torch.stack([x[0] - x[1], x[0] + x[1]])
    colour, brightness = _find_median(_haar_detail(mixed).flatten(1)).tolist()
    if noise_level < LEAST_NOISE or colour > MOST_COLOUR * brightness:
        return False
    if _measure_pairs(distance > VERY_FAR) > MOST_VERY_FAR_PAIRED:
        return False
    distance = distance[distance > 0]  # without plain parts, which have no noise either
    far, very_far = (float((distance > least).float().mean()) for least in (SMEARED, VERY_FAR))
    if not LEAST_FAR < far < 1:
        return False
    normal = NormalDist()
    deviation = SMEARED / normal.inv_cdf(1 - far / 2)
    expected = 2 * normal.cdf(-VERY_FAR / deviation)
    return very_far > max(LEAST_VERY_FAR * far, LEAST_EXCESS * expected)
