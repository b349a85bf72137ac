"""The power spectrum of a picture, in which blur leaves its transfer function.

Without blur it falls as a power of the frequency: log P(f) = a + b log f + c log |H(f)|^2. For each
H of a family the line is fitted: c is near 1 where H is true, and H is certain where c explains
much of the variance that a and b leave. These two numbers are the *slope* and the *share*, 0 to 1.
"""

import functools
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.images import HALF_RANGE

Array = NDArray[np.float64]
Blur = TypeVar("Blur", covariant=True)
TILE = 224
"""Pixels a side of the parts whose spectra are averaged, at most."""
FLOOR = 1e-4
"""Least power of a transfer function, 1 at frequency 0: noise and rounding hide deeper zeros."""
POWER_FLOOR = 0.1
"""Added to power on the plane before its logarithm: well below that of rounding."""
RING_FLOOR = 1e-3
"""Added to power by rings before its logarithm."""
LOWEST = 0.02
"""Cycles a pixel above which motion is looked for."""
LEAST_RANGE = 0.08
"""Cycles a pixel up to which the picture has to be above the noise, at least."""
ABOVE_NOISE = 0.7
"""Natural log power over that of the finest scale where a spectrum still holds the picture."""


@dataclass(frozen=True)
class Fit(Generic[Blur]):
    """The member of a family that explains a spectrum best, with its share and its slope."""

    operator: Blur
    share: float = 0.0
    slope: float = 0.0

    def exceeds(self, least: tuple[float, float]) -> bool:
        """Whether its share and its slope exceed these."""
        return self.share > least[0] and self.slope > least[1]


@dataclass(frozen=True)
class Residual:
    """What a law that depends on direction leaves of a log power spectrum.

    ``target``: ``[n]``, at frequencies ``down`` and ``across`` in cycles a pixel; ``basis``: the
    law, orthonormal, ``[n, m]``.
    """

    target: Array
    basis: Array
    down: Array
    across: Array

    @classmethod
    def of(cls, power: Array, highest: float) -> "Residual | None":
        """Up to ``highest`` cycles a pixel. None where too little is above the noise."""
        side = len(power)
        radial, rings = compute_radial_spectrum(power)
        noise = max(float(np.median(radial[rings > 0.42])), 0.0)
        is_above = (radial > noise + ABOVE_NOISE) & (rings > LOWEST)
        end = float(rings[is_above].max(initial=0.0))
        if end < LEAST_RANGE:
            return None
        _, is_used = find_band(side, LOWEST, min(highest, end))
        basis, down, across = _make_directed_law(side, min(highest, end))
        log_power = np.log(power[is_used] + POWER_FLOOR)
        return cls(log_power - basis @ (basis.T @ log_power), basis, down, across)

    @property
    def power(self) -> float:
        """The sum of its squares."""
        return max(float(self.target @ self.target), 1e-12)

    def explain(self, log_power: Array) -> tuple[float, float]:
        """Share and slope of a transfer function's log power, ``[n]``; 0 and 0 below a slope of
        0."""
        law, along = self.basis.T @ log_power, float(self.target @ log_power)
        energy = max(float(log_power @ log_power - law @ law), 1e-12)
        return (along**2 / (energy * self.power), along / energy) if along > 0 else (0.0, 0.0)


@functools.lru_cache(maxsize=8)
def _make_directed_law(side: int, highest: float) -> tuple[Array, Array, Array]:
    """A :class:`Residual`'s ``basis``, and the frequencies ``down`` and ``across``."""
    frequency, is_used = find_band(side, LOWEST, highest)
    down, across = (axis[is_used] for axis in find_axes(side))
    turn = np.arctan2(down, across)
    law = [np.ones_like(frequency), np.log(frequency), frequency**2]
    law += [wave(n * turn) for n in (2, 4) for wave in (np.cos, np.sin)]
    basis = np.linalg.qr(np.stack(law, 1))[0]
    return np.asfortranarray(basis), down, across  # columns are read one by one


def compute_power_spectrum(x: Tensor) -> Array:
    """Power spectrum of the brightness of ``[3, H, W]``: the mean of square tiles' spectra.

    ``[n, n // 2 + 1]`` for tiles of n pixels a side, at most :data:`TILE`.
    """
    grey = x.mean(0).double()
    side = min(TILE, *grey.shape)
    window = torch.hann_window(side, periodic=False, dtype=torch.float64)
    tiles = grey.unfold(0, side, side).unfold(1, side, side).flatten(0, 1)
    tiles = (tiles - tiles.mean((1, 2), keepdim=True)) * window[:, None] * window * HALF_RANGE
    return torch.fft.rfft2(tiles).abs().square().mean(0).numpy()


def compute_radial_spectrum(power: Array) -> tuple[Array, Array]:
    """Mean log power by ring, ``[n // 2]``, and the rings' cycles per pixel."""
    rings = len(power) // 2
    frequency, is_used = find_band(len(power), 0, 0.5)
    ring = np.minimum((frequency * 2 * rings).astype(int), rings - 1)
    log_power = np.log(power[is_used] + RING_FLOOR)
    count = np.maximum(1, np.bincount(ring, minlength=rings))
    radial = np.bincount(ring, log_power, minlength=rings) / count
    return radial, (np.arange(rings) + 0.5) / (2 * rings)


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


def project_out(family: NDArray[np.floating], basis: Array) -> tuple[Array, Array]:
    """Project an orthonormal ``basis``, ``[N, n]``, out of ``family``, ``[m, N]``.

    Returns the residuals, ``[m, N]``, and the energy of each, ``[m]``.
    """
    residuals = family - (family @ basis) @ basis.T
    return residuals, np.maximum((residuals**2).sum(1), 1e-12)


def fit_residuals(
    log_power: Array, basis: Array, residuals: Array, energy: Array
) -> tuple[int, float, float]:
    """The member of a family that explains most by least squares; its share and slope.

    ``log_power``: ``[N]``; ``basis``: what explains it first, of :func:`project_out`, as the
    family's ``residuals`` and their ``energy``. Members with a slope of 0 or less do not count.
    """
    target = log_power - basis @ (basis.T @ log_power)
    products = residuals @ target
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
