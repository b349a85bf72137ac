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

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.operators import Blocks, Disk, GaussianBlur, Operator
from dga.images import HALF_RANGE

Array = NDArray[np.float64]
TILE = 224
"""Pixels a side of the parts whose spectra are averaged, at most."""
REPEATED = 0.38
"""Least share, 0 to 1, of rows and of columns that repeat the one before, where there are blocks;
of ImageNet-C's weakest pixelation it is 0.40."""
SAVED_CONTRAST, MOST_OBLONG = 1.8, 0.03
"""Differences across borders of blocks that were saved, over others, and difference of their sides;
of 100 undamaged photographs and 154 others none has as much on both axes for equal sides."""
SMALLEST_BLOCK, LARGEST_BLOCK, JPEG_SIDES = 1.6, 24, (8, 16)
"""Pixels a side of blocks that were saved, and those of JPEG's own."""
MOST_BLOCKS = 1000
"""Along a side, of blocks that were saved: more would take long to try."""
FLOOR = 1e-4
"""Least power of a transfer function, 1 at frequency 0: noise and rounding hide deeper zeros."""
POWER_FLOOR, RING_FLOOR = 0.1, 1e-3
"""Added to power before its logarithm, on the plane and by rings: well below that of rounding."""
RADII = tuple(np.arange(1.5, 13.01, 0.25).tolist())
"""Candidates: disks' radii in pixels."""
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

MOST_ENLARGED = 3.0
"""Pixels of the widest blur that an enlarged picture passes for; of wider ones too few frequencies
tell."""
FINEST, MOST_SQUARE = (0.25, 0.4), 0.4
"""Cycles a pixel of the finest detail, and by how much its natural log power differs between axes
and diagonals behind glass, at most; of enlarged pictures it mostly differs by more."""
DETAIL_BANDS, MOST_FALL = ((0.03, 0.07), (0.12, 0.22), (0.25, 0.4)), 4.8
"""Cycles a pixel of coarse, middle and fine detail, and natural log power of the coarse over the
others, of which the finest counts half, from which a picture is blurred. Under a veil 3 of 100 have
as much; 11 of 13 blurred pictures that looked unevenly veiled have."""
SOFT_END, LENS_END, MOST_DIAGONAL = (3 / math.tau, 3.5 / math.tau), (0.6, 1.2), -1.0
"""Where an enlarged picture ends, in cycles a deviation of the Gaussian or a radius of the lens
that it looks like, and natural log power along diagonals over that along the axes there. Of
Gaussians it is above -0.7, of one lens of 3 px in 20 below -1, of the enlarged always."""


def measure_blocks(x: Tensor, is_page: bool = False) -> Blocks | None:
    """Where rows and columns of blocks begin, in ``[3, H, W]``; None without blocks.

    Blocks that were saved as JPEG no longer repeat their pixels; their borders still show, if not
    among those of a page.
    """
    rows, columns = find_begins(x), find_begins(x.transpose(1, 2))
    if rows and columns:
        return Blocks(rows, columns)
    return None if is_page else measure_saved_blocks(x)


def measure_saved_blocks(x: Tensor) -> Blocks | None:
    """Blocks of one size all over ``[3, H, W]``, by the differences across their borders.

    They are SAVED_CONTRAST times those between other neighbours, along rows and columns.
    """
    rows, columns = (_fit_block_count(x.diff(dim=dim).abs().mean((0, 3 - dim))) for dim in (1, 2))
    if not rows or not columns:
        return None
    height, width = x.shape[1] / len(rows), x.shape[2] / len(columns)
    is_jpeg = any(abs(height - side) < 0.1 for side in JPEG_SIDES)
    return None if is_jpeg or abs(height / width - 1) > MOST_OBLONG else Blocks(rows, columns)


def _fit_block_count(difference: Tensor) -> tuple[int, ...]:
    """Where blocks of one size begin, at whose borders mean differences, ``[n - 1]``, are largest.

    Empty where they are not large enough. A picture of n pixels made of m blocks has its pixel i in
    block (i + 1/2) m / n.
    """
    side = len(difference) + 1
    pixels, best, begins = np.arange(side) + 0.5, SAVED_CONTRAST, tuple[int, ...]()
    values = difference.double().cpu().numpy()
    fewest = max(2, math.ceil(side / LARGEST_BLOCK))
    for count in range(fewest, min(MOST_BLOCKS, int(side / SMALLEST_BLOCK)) + 1):
        is_border = np.diff((pixels * count / side).astype(int)) > 0
        contrast = values[is_border].mean() / max(values[~is_border].mean(), 1e-9)
        if contrast > best:
            best, begins = contrast, (0, *(1 + np.flatnonzero(is_border)).tolist())
    return begins


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
    if np.median(heights) < 2:  # as of a page, most of whose repeated rows are its lines' gaps
        return ()
    counts = np.maximum(1, np.round(heights / np.median(heights))).astype(int)
    divided = [
        begin + np.round(np.arange(count) * height / count)
        for begin, height, count in zip(begins, heights, counts, strict=True)
    ]
    return tuple(np.concatenate(divided).astype(int).tolist())


def measure_blur(x: Tensor) -> Operator | None:
    """The blur of ``[3, H, W]`` in [-1, 1]: soft, lens, motion, zoom or glass.

    None if unclear, and of an enlarged picture, whose detail is not blurred but missing.
    """
    from dga.explanation.glass import measure_glass  # here: the page must not wait for scipy
    from dga.explanation.motion import measure_motion
    from dga.explanation.zoom import measure_zoom

    power = compute_power_spectrum(x)
    spectrum = compute_radial_spectrum(power)
    soft, lens = measure_gaussian(*spectrum), measure_disk(*spectrum)
    if soft and is_enlarged(power, soft.sigma, SOFT_END):
        return None
    if lens and is_enlarged(power, lens.radius, LENS_END):
        return None
    if lens and not soft:
        return lens
    motion = measure_motion(power, x)
    if soft and not motion:
        return soft
    if other := lens or motion or measure_zoom(x):
        return other
    is_round = abs(measure_asymmetry(power, *FINEST)) < MOST_SQUARE
    return measure_glass(x) if is_round else None


def is_blurred(x: Tensor) -> bool:
    """Whether ``[3, H, W]`` has less fine detail than a sharp photograph, whatever its contrast."""
    return measure_softness(x) > MOST_FALL


def measure_softness(x: Tensor) -> float:
    """Natural log power of the coarse detail of ``[3, H, W]`` over that of the finer, whatever its
    contrast: 3.5 in the median of sharp photographs, above 5.5 in 3 of 100."""
    radial, frequency = compute_radial_spectrum(compute_power_spectrum(x))
    is_inside = [(frequency > low) & (frequency < high) for low, high in DETAIL_BANDS]
    coarse, middle, fine = (float(radial[band].mean()) for band in is_inside)
    return coarse - (2 * middle + fine) / 3


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
    frequency, is_used = find_band(len(power), 0, 0.5)
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


def is_enlarged(power: Array, width: float, band: tuple[float, float]) -> bool:
    """Whether a soft picture was small and is enlarged: its spectrum ends at a square, not a ring.

    ``power``: of :func:`compute_power_spectrum`; ``width``: in pixels, of the blur that it looks
    like; ``band``: where that ends, in cycles a ``width``.
    """
    if width > MOST_ENLARGED:
        return False
    return measure_asymmetry(power, band[0] / width, band[1] / width) < MOST_DIAGONAL


def measure_asymmetry(power: Array, low: float, high: float) -> float:
    """Natural log power along a spectrum's diagonals over that along its axes, between frequencies.

    ``low`` and ``high``: in cycles a pixel. 0.0 where there is nothing between them.
    """
    _, is_used = find_band(len(power), low, high)
    down, across = find_axes(len(power))
    angle = np.degrees(np.arctan2(np.abs(down[is_used]), across[is_used]))
    log_power, is_diagonal = np.log(power[is_used] + POWER_FLOOR), np.abs(angle - 45) < 15
    is_axial = np.abs(angle - 45) > 30
    if not is_diagonal.any() or not is_axial.any():
        return 0.0
    return float(log_power[is_diagonal].mean() - log_power[is_axial].mean())


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
def find_band(side: int, low: float, high: float) -> tuple[Array, NDArray[np.bool_]]:
    """Cycles a pixel of a half spectrum that lie between two limits, ``[N]``, and where they are.

    Without the axes, on which borders show.
    """
    down, across = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]
    is_off_axes = (np.abs(down) > 1.5 / side) & (np.abs(across) > 1.5 / side)
    frequency = np.hypot(down, across)
    is_inside = is_off_axes & (frequency > low) & (frequency < high)
    return frequency[is_inside], is_inside


@functools.lru_cache(maxsize=8)
def find_axes(side: int) -> tuple[Array, Array]:
    """Cycles a pixel down and across, at each value of a half spectrum, ``[n, n // 2 + 1]``."""
    down, across = np.meshgrid(np.fft.fftfreq(side), np.fft.rfftfreq(side), indexing="ij")
    return down, across


@functools.lru_cache(maxsize=8)
def _disk_family(rings: int) -> Array:
    """Log power of each disk's transfer function by ring, ``[m, rings]``."""
    from scipy.special import j1  # here: it takes a while

    z = 2 * np.pi * np.array(RADII)[:, None] * (np.arange(rings) + 0.5) / (2 * rings)
    table: Array = np.log((2 * j1(z) / z) ** 2 + FLOOR)
    return table


def cut_middle(x: Tensor, most: int) -> Tensor:
    """The middle of ``[3, H, W]``, at most ``most`` pixels a side."""
    top, left = (max(0, length - most) // 2 for length in x.shape[1:])
    return x[:, top : top + most, left : left + most]
