"""Damage that a picture itself tells: blocks, a lens out of focus, motion. No network is asked.

Blur leaves its transfer function in the picture's power spectrum, which otherwise falls as a power
of the frequency: log P(f) = a + b log f + c log |H(f)|^2. For each H of a family the line is
fitted, and the share of what a and b leave unexplained that c explains says how sure it is.
"""

from __future__ import annotations

import functools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.operators import REGULARISATION, Blocks, Disk, Line, Operator
from dga.images import HALF_RANGE

TILE = 224
"""Pixels a side of the parts whose spectra are averaged, at most."""
REPEATED = 0.38
"""Share of rows and of columns that repeat the one before, from which there are blocks."""
FLOOR = 1e-4
"""Of a transfer function's power: noise and rounding hide deeper zeros."""
RADII = tuple(np.arange(1.5, 13.01, 0.25).tolist())
ANGLES = tuple(np.arange(0.0, 180.0, 7.5).tolist())
LENGTHS = (3.0, 5.0, 8.0, 12.0, 15.0)


def measure_blocks(x: Tensor) -> Blocks | None:
    """Where rows and columns begin that do not repeat the one before; None for few repetitions.

    ``x``: ``[3, H, W]``.
    """
    rows = (x[:, 1:] != x[:, :-1]).any(2).any(0)
    columns = (x[:, :, 1:] != x[:, :, :-1]).any(1).any(0)
    if min(1 - rows.float().mean(), 1 - columns.float().mean()) < REPEATED:
        return None
    begins = [(0, *(1 + new.nonzero()[:, 0]).tolist()) for new in (rows, columns)]
    return Blocks(*begins) if min(map(len, begins)) > 1 else None


def power_spectrum(x: Tensor) -> NDArray[np.float64]:
    """Of the brightness of ``[3, H, W]``, ``[n, n // 2 + 1]``, averaged over square tiles."""
    grey = x.mean(0).double()
    side = min(TILE, *grey.shape)
    window = torch.hann_window(side, periodic=False, dtype=torch.float64)
    tiles = grey.unfold(0, side, side).unfold(1, side, side).flatten(0, 1)
    tiles = (tiles - tiles.mean((1, 2), keepdim=True)) * window[:, None] * window * HALF_RANGE
    power: NDArray[np.float64] = torch.fft.rfft2(tiles).abs().square().mean(0).numpy()
    return power


def measure_disk(power: NDArray[np.float64]) -> tuple[Disk, float, float]:
    """The radius by the zeros that its transfer function leaves in the radial spectrum.

    Beside it the share that it explains, 0 to 1, and c, near 1 where H is true.
    """
    n = len(power) // 2
    frequency, used = _frequencies(len(power))
    used = used & (frequency < 0.5)
    ring = np.minimum((frequency[used] * 2 * n).astype(int), n - 1)
    log = np.log(power[used] + 1e-3)
    radial = np.bincount(ring, log, minlength=n) / np.maximum(1, np.bincount(ring, minlength=n))
    at = (np.arange(n) + 0.5) / (2 * n)
    is_above_noise = radial > np.median(radial[at > 0.4]) + 0.3
    weight = np.where(at > 0.02, is_above_noise + 0.05, 0.0)
    shares, slopes = _fit(radial, np.log(at), _disk_family(n), weight)
    best = int(np.argmax(np.where(slopes > 0, shares, 0)))
    return Disk(RADII[best]), float(shares[best]), float(slopes[best])


def measure_line(power: NDArray[np.float64]) -> tuple[Line, float, float]:
    """Motion of either speed by the stripes in the spectrum; its sign is not in it. As above."""
    frequency, used = _line_band(len(power))
    log, members = np.log(power[used] + 0.1), _line_family(len(power))
    table = _line_table(len(power))
    shares, slopes = _fit(log, np.log(frequency[used]), table, np.ones_like(log))
    best = int(np.argmax(np.where(slopes > 0, shares, 0)))
    return members[best], float(shares[best]), float(slopes[best])


def _fit(
    log: NDArray[np.float64],
    log_frequency: NDArray[np.float64],
    table: NDArray[np.floating],
    weight: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share explained and slope of each row of ``table`` ``[m, N]``, by weighted least squares."""
    plain = np.stack([weight, weight * log_frequency])  # [2, N]
    basis = np.linalg.qr(plain.T)[0]  # [N, 2]
    y, members = weight * log, weight * table
    y = y - basis @ (basis.T @ y)
    members = members - (members @ basis) @ basis.T
    energy = np.maximum((members**2).sum(1), 1e-12)
    products = members @ y
    return products**2 / (energy * max(float(y @ y), 1e-12)), products / energy


@functools.lru_cache(maxsize=8)
def _frequencies(side: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Cycles a pixel of each value of a half spectrum; those off the axes, where borders lie."""
    down, across = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]
    off = (np.abs(down) > 1.5 / side) & (np.abs(across) > 1.5 / side)
    frequency = np.hypot(down, across)
    return frequency, off


def _line_band(side: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The same; of those off the axes only the frequencies at which motion is looked for."""
    frequency, off = _frequencies(side)
    return frequency, off & (frequency > 0.03) & (frequency < 0.4)


@functools.lru_cache(maxsize=8)
def _disk_family(rings: int) -> NDArray[np.float64]:
    """Log power of each disk's transfer function by ring, ``[m, rings]``."""
    from scipy.special import j1  # here: it takes a while

    z = 2 * np.pi * np.array(RADII)[:, None] * (np.arange(rings) + 0.5) / (2 * rings)
    table: NDArray[np.float64] = np.log((2 * j1(z) / z) ** 2 + FLOOR)
    return table


@functools.cache
def _line_family(side: int) -> tuple[Line, ...]:
    """One-sided lines, and boxes that are twice as long, at most a third of ``side``."""
    return tuple(
        Line(length * factor, angle, one_sided)
        for one_sided, factor in ((True, 1), (False, 2))
        for length in LENGTHS
        if 3 * length * factor < side
        for angle in ANGLES
    )


@functools.lru_cache(maxsize=4)
def _line_table(side: int) -> NDArray[np.float32]:
    """Log power of each line's transfer function where the spectrum is used, ``[m, N]``."""
    _, used = _line_band(side)
    rows = []
    for member in _line_family(side):
        transfer = np.fft.rfft2(member.kernel.numpy(), s=(side, side))
        rows.append(np.log(np.abs(transfer[used]) ** 2 + 10 * FLOOR).astype(np.float32))
    return np.stack(rows)


SURE_DISK = 0.6
"""Share explained and slope from which a disk is sure, its radius exact to a quarter pixel."""
SMALLEST_DISK = 2.25
"""Pixels; smaller ones look like any soft picture."""
SURE_LINE, STEEP_LINE = 0.18, 0.55
"""Share explained and slope from which motion is sure."""
MOST_LEFT = 5.2
"""Log power over that of rounding which motion leaves, at most: 5 of 520 photographs have less."""


def measure_blur(x: Tensor) -> Operator | None:
    """What blurred ``[3, H, W]``, where its spectrum is sure; None where it is not."""
    from dga.explanation.glass import measure_glass  # here: the page must not wait for scipy
    from dga.explanation.zoom import measure_zoom

    power = power_spectrum(x)
    lens, share, slope = measure_disk(power)
    if share > SURE_DISK and slope > SURE_DISK and lens.radius >= SMALLEST_DISK:
        return lens
    motion, share, slope = measure_line(power)
    if share > SURE_LINE and slope > STEEP_LINE and is_erased(motion, power):
        return min((motion, motion.reverse()), key=lambda o: measure_excess(o, x))
    return measure_zoom(x) or measure_glass(x)


def is_erased(operator: Line, power: NDArray[np.float64]) -> bool:
    """Whether hardly more than rounding is left where the motion erases most.

    Stripes of a fence or a field look like motion in the slope of a spectrum, but not in this.
    """
    side = len(power)
    frequency, used = _line_band(side)
    row = _line_table(side)[_line_family(side).index(operator)]
    erased = (row < np.quantile(row, 0.3)) & (frequency[used] > 0.08)
    window = np.hanning(side)[:, None] * np.hanning(side)
    rounding = np.log((window**2).sum() / 36 + 0.1)  # a twelfth of a level, of three channels
    return bool(np.median(np.log(power[used][erased] + 0.1)) - rounding < MOST_LEFT)


def measure_excess(operator: Line, x: Tensor) -> float:
    """By how much the inverse leaves [-1, 1], on average: a wrong direction rings."""
    mean = x.mean((1, 2), keepdim=True)
    restored = operator.agree(torch.zeros_like(x), x - mean, REGULARISATION) + mean
    return float((restored.abs() - 1).clamp(min=0).mean())
