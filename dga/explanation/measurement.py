"""Damage that is measured in the picture: blocks, a lens, soft blur, motion. No network is used.

Blur leaves its transfer function in the picture's power spectrum, which otherwise falls as a power
of the frequency: log P(f) = a + b log f + c log |H(f)|^2. For each H of a family the line is
fitted: c is near 1 where H is true, and H is certain where c explains much of the variance that a
and b leave. In what follows these two numbers are the *slope* and the *share*, 0 to 1. Limits were
chosen on the photographs of ``tune`` (assets/results/photo/README.md).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.deconvolution import place_at_origin
from dga.explanation.operators import Blocks, Disk, GaussianBlur, MotionBlur, Operator
from dga.images import HALF_RANGE

Array = NDArray[np.float64]
TILE = 224
"""Pixels a side of the parts whose spectra are averaged, at most."""
REPEATED = 0.38
"""Least share, 0 to 1, of rows and of columns that repeat the one before, where there are blocks;
of ImageNet-C's weakest pixelation it is 0.40."""
FLOOR = 1e-4
"""Least power of a transfer function, 1 at frequency 0: noise and rounding hide deeper zeros."""
POWER_FLOOR, RING_FLOOR = 0.1, 1e-3
"""Added to power before its logarithm, on the plane and by rings: well below that of rounding."""
RADII = tuple(np.arange(1.5, 13.01, 0.25).tolist())
ANGLES = tuple(np.arange(0.0, 180.0, 7.5).tolist())
LENGTHS = (3.0, 5.0, 8.0, 12.0, 15.0)
"""Candidates: disks' radii in pixels, angles of motion in degrees, deviations of fading motion in
pixels."""
REFINED_ANGLES = tuple(np.arange(-4.0, 4.1, 0.5).tolist())
REFINED_LENGTHS = (0.9, 1.0, 1.1)
"""Around the best motion: degrees that are added, and factors of its length."""
DISK_SHARE = DISK_SLOPE = 0.6
"""Share and slope from which a disk is certain, its radius exact to a quarter pixel."""
SMALLEST_DISK = 2.25
"""Pixels; smaller ones look like any soft picture."""
SIGMA = (1.75, 10.0)
"""Least and largest deviation in pixels of a Gaussian blur; smaller ones look like glass."""
POWER_LAW = 2.4
"""Exponent by which a sharp photograph's power spectrum falls, on average."""
LEAST_FALL = 5.0
"""Natural log power by which a Gaussian falls below that law before rounding ends it, at least."""
MOST_MISFIT, MOST_RISE = 0.6, 1.0
"""Root mean square of its residuals, and by how much log power rises again with frequency, at
most: after the zeros of a disk it rises by more."""
MOTION_BAND = 0.03, 0.4
"""Cycles a pixel between which motion is looked for."""
MOTION_SHARE, MOTION_SLOPE = 0.18, 0.55
"""Share and slope from which motion is certain, if it has also erased what it erases most."""
DIRECTION_WEIGHT = 0.01
"""Regularisation of the inverse by which the direction of motion is told."""
LONGEST_JUDGED = 512
"""Pixels a side of a picture's middle in which that direction is told, at most."""
MOST_POWER_LEFT = 5.2
"""Natural log power over that of rounding which motion leaves there, at most: 5 of 520 undamaged
photographs have less."""


def measure_blocks(x: Tensor) -> Blocks | None:
    """Where rows and columns of blocks begin, in ``[3, H, W]``; None for few repetitions."""
    rows, columns = find_begins(x), find_begins(x.transpose(1, 2))
    return Blocks(rows, columns) if rows and columns else None


def find_begins(x: Tensor) -> tuple[int, ...]:
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
    counts = np.maximum(1, np.round(heights / np.median(heights))).astype(int)
    divided = [
        begin + np.round(np.arange(count) * height / count)
        for begin, height, count in zip(begins, heights, counts, strict=True)
    ]
    return tuple(np.concatenate(divided).astype(int).tolist())


def measure_blur(x: Tensor) -> Operator | None:
    """The blur of ``[3, H, W]`` in [-1, 1]: soft, lens, motion, zoom or glass; None if unclear."""
    from dga.explanation.glass import measure_glass  # here: the page must not wait for scipy
    from dga.explanation.zoom import measure_zoom

    power = compute_power_spectrum(x)
    spectrum = compute_radial_spectrum(power)
    if (soft := measure_gaussian(*spectrum)) and not measure_motion(power):
        return soft
    if lens := measure_disk(*spectrum):
        return lens
    if motion := measure_motion(power):
        opposite = replace(motion, angle=motion.angle - 180)  # leaves the same spectrum
        return min((motion, opposite), key=lambda one: measure_excess(one, x))
    return measure_zoom(x) or measure_glass(x)


def compute_power_spectrum(x: Tensor) -> Array:
    """Power spectrum of the brightness of ``[3, H, W]``: the mean of square tiles' spectra.

    ``[n, n // 2 + 1]`` for tiles of n pixels a side, at most :data:`TILE`.
    """
    grey = x.mean(0).double()
    side = min(TILE, *grey.shape)
    window = torch.hann_window(side, periodic=False, dtype=torch.float64)
    tiles = grey.unfold(0, side, side).unfold(1, side, side).flatten(0, 1)
    tiles = (tiles - tiles.mean((1, 2), keepdim=True)) * window[:, None] * window * HALF_RANGE
    power: Array = torch.fft.rfft2(tiles).abs().square().mean(0).numpy()
    return power


def compute_radial_spectrum(power: Array) -> tuple[Array, Array]:
    """Mean log power by ring, ``[n // 2]``, and the rings' cycles per pixel."""
    rings = len(power) // 2
    frequency, is_used = _find_band(len(power), 0, 0.5)
    ring = np.minimum((frequency * 2 * rings).astype(int), rings - 1)
    log_power = np.log(power[is_used] + RING_FLOOR)
    count = np.maximum(1, np.bincount(ring, minlength=rings))
    radial = np.bincount(ring, log_power, minlength=rings) / count
    return radial, (np.arange(rings) + 0.5) / (2 * rings)


def measure_gaussian(radial: Array, frequency: Array) -> GaussianBlur | None:
    """A soft blur: log power falls by (2 pi sigma f)^2 below that of a sharp photograph.

    A line in f^2 is fitted up to the frequency where rounding, or compression, takes over.
    ``radial`` and ``frequency``: of :func:`compute_radial_spectrum`.
    """
    radial, frequency = radial[frequency > 0.02], frequency[frequency > 0.02]
    below_law = radial + POWER_LAW * np.log(frequency)
    count = int(np.argmax(below_law < below_law.min() + 1))
    if count < 5:
        return None
    slope, level = np.polyfit(frequency[:count] ** 2, below_law[:count], 1)
    misfit = np.std(below_law[:count] - slope * frequency[:count] ** 2 - level)
    rise = (radial - np.minimum.accumulate(radial))[3:].max()
    sigma = math.sqrt(max(-slope, 0)) / (2 * math.pi)
    is_deep = -slope * frequency[count] ** 2 > LEAST_FALL
    is_soft = is_deep and misfit < MOST_MISFIT and rise < MOST_RISE
    return GaussianBlur(round(sigma, 2)) if is_soft and SIGMA[0] <= sigma <= SIGMA[1] else None


def measure_disk(radial: Array, frequency: Array) -> Disk | None:
    """A lens out of focus, by the zeros of its transfer function in the radial spectrum.

    The highest frequencies hold noise and rounding alone: what is not above them by 0.3 hardly
    counts. The lowest hold the scene.
    """
    family = _disk_family(len(radial))
    is_above_noise = radial > np.median(radial[frequency > 0.4]) + 0.3
    weight = np.where(frequency > 0.02, is_above_noise + 0.05, 0.0)
    power_law = np.stack([weight, weight * np.log(frequency)], 1)
    best, share, slope = fit_spectrum(weight * radial, power_law, weight * family)
    is_certain = share > DISK_SHARE and slope > DISK_SLOPE
    return Disk(RADII[best]) if is_certain and RADII[best] >= SMALLEST_DISK else None


def measure_motion(power: Array) -> MotionBlur | None:
    """Motion, even or fading, by the stripes in the spectrum; its sign is not in it."""
    family, table = _motion_family(len(power))
    best, share, slope = _find_best_motion(power, table)
    if share <= MOTION_SHARE or slope <= MOTION_SLOPE or not is_erased(table[best], power):
        return None
    motion = family[best]
    refined = [
        replace(motion, length=motion.length * factor, angle=motion.angle + turn)
        for factor in REFINED_LENGTHS
        for turn in REFINED_ANGLES
    ]
    best, _, _ = _find_best_motion(power, _motion_powers(refined, len(power)))
    return refined[best]


def _find_best_motion(power: Array, table: NDArray[np.float32]) -> tuple[int, float, float]:
    """Which row of log powers explains a spectrum best; its share and its slope."""
    frequency, is_used = _find_band(len(power), *MOTION_BAND)
    log_power = np.log(power[is_used] + POWER_FLOOR)
    power_law = np.stack([np.ones_like(log_power), np.log(frequency)], 1)
    return fit_spectrum(log_power, power_law, table)


def fit_spectrum(
    log_power: Array, regressors: Array, family: NDArray[np.floating]
) -> tuple[int, float, float]:
    """The row of ``family``, ``[m, N]``, that explains most by least squares; its share and slope.

    ``log_power``: ``[N]``; ``regressors``: what explains it first, ``[N, n]``. Rows with a slope of
    0 or less do not count.
    """
    basis = np.linalg.qr(regressors)[0]
    target = log_power - basis @ (basis.T @ log_power)
    members = family - (family @ basis) @ basis.T
    energy = np.maximum((members**2).sum(1), 1e-12)
    products = members @ target
    shares = products**2 / (energy * max(float(target @ target), 1e-12))
    best = int(np.argmax(np.where(products > 0, shares, 0)))
    return best, float(shares[best]), float(products[best] / energy[best])


@functools.lru_cache(maxsize=8)
def _find_band(side: int, low: float, high: float) -> tuple[Array, NDArray[np.bool_]]:
    """Cycles a pixel of a half spectrum that lie between two limits, ``[N]``, and where they are.

    Without the axes, on which borders show.
    """
    down, across = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]
    is_off_axes = (np.abs(down) > 1.5 / side) & (np.abs(across) > 1.5 / side)
    frequency = np.hypot(down, across)
    is_inside = is_off_axes & (frequency > low) & (frequency < high)
    return frequency[is_inside], is_inside


@functools.lru_cache(maxsize=8)
def _disk_family(rings: int) -> Array:
    """Log power of each disk's transfer function by ring, ``[m, rings]``."""
    from scipy.special import j1  # here: it takes a while

    z = 2 * np.pi * np.array(RADII)[:, None] * (np.arange(rings) + 0.5) / (2 * rings)
    table: Array = np.log((2 * j1(z) / z) ** 2 + FLOOR)
    return table


@functools.lru_cache(maxsize=4)
def _motion_family(side: int) -> tuple[list[MotionBlur], NDArray[np.float32]]:
    """Fading motions, and even ones that are twice as long, at most a third of ``side``.

    With their :func:`_motion_powers`.
    """
    family = [
        MotionBlur(length * factor, angle, one_sided)
        for one_sided, factor in ((True, 1), (False, 2))
        for length in LENGTHS
        if 3 * length * factor < side
        for angle in ANGLES
    ]
    return family, _motion_powers(family, side)


def _motion_powers(motions: Sequence[MotionBlur], side: int) -> NDArray[np.float32]:
    """Log power of each motion's transfer function where the spectrum is used, ``[m, N]``."""
    _, is_used = _find_band(side, *MOTION_BAND)
    rows = []
    for motion in motions:
        transfer = np.fft.rfft2(place_at_origin(motion.kernel, torch.Size((side, side))).numpy())
        rows.append(np.log(np.abs(transfer[is_used]) ** 2 + 10 * FLOOR).astype(np.float32))
    return np.stack(rows)


def is_erased(transfer: NDArray[np.float32], power: Array) -> bool:
    """Whether hardly more than rounding is left where a motion erases most.

    ``transfer``: its row of :func:`_motion_powers`. Stripes of a fence or a field look like motion
    in the slope of a spectrum, but not in this.
    """
    side = len(power)
    frequency, is_used = _find_band(side, *MOTION_BAND)
    erased = (transfer < np.quantile(transfer, 0.3)) & (frequency > 0.08)
    window = np.hanning(side)[:, None] * np.hanning(side)
    rounding = (window**2).sum() / 36  # a twelfth of a level, of three channels
    rounding = np.log(rounding + POWER_FLOOR)
    log_power = np.log(power[is_used][erased] + POWER_FLOOR)
    return bool(np.median(log_power) - rounding < MOST_POWER_LEFT)


def cut_middle(x: Tensor, most: int) -> Tensor:
    """The middle of ``[3, H, W]``, at most ``most`` pixels a side."""
    top, left = (max(0, length - most) // 2 for length in x.shape[1:])
    return x[:, top : top + most, left : left + most]


def measure_excess(operator: MotionBlur, x: Tensor) -> float:
    """By how much the inverse leaves [-1, 1], on average: a wrong direction rings."""
    middle = cut_middle(x, LONGEST_JUDGED)
    restored = operator.solve_proximal(middle, middle, DIRECTION_WEIGHT)
    return float((restored.abs() - 1).clamp(min=0).mean())
