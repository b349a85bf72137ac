"""A picture behind frosted glass: measured by its spectrum and edges, and put in order again."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import fft, ndimage
from torch import Tensor

from dga.images import HALF_RANGE

Array = NDArray[np.float64]
GLASS_SIGMA, GLASS_FLOOR, GLASS_FALL, GLASS_MISFIT = (0.68, 1.45), -1.8, 3.3, 0.25
"""Glass: deviation in pixels, highest log power at the finest scale, steepest power law, rms."""
GLASS_COHERENCE = 0.6
"""Edges behind glass run less straight than this (0: gradients of every direction, 1: of one)."""
GLASS_SPREAD = 3.9
"""Deviation of all that glass does (two blurs and the exchange between them) by the last blur's."""
CONTRAST = 14.0
"""Deviation in grey levels below which rounding hides what glass does to a spectrum."""
WINDOW = 9
"""Length of the median against glass, in pixels."""


@dataclass(frozen=True)
class Glass:
    """All that glass does, as a Gaussian of ``sigma`` pixels; with mirrored borders cosines
    diagonalise it. Its inverse is a median: a linear one sharpens the disorder."""

    sigma: float
    kind = "glass"
    is_guide = False

    def __str__(self) -> str:
        return f"behind glass that spreads {self.sigma:.1f} px"

    def invert(self, y: Tensor) -> Tensor:
        """A first estimate of x, clipped to [-1, 1]."""
        return settle(y).clamp(-1, 1)

    def apply(self, x: Tensor) -> Tensor:
        """H x for float ``[..., 3, H, W]``."""
        return _from_cosines(_cosines(x) * _transfer(x, self.sigma), x)

    def agree(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """argmin_x |H x - y|^2 + weight |x - z|^2, ``[3, H, W]`` each, exact.

        (DiffPIR, Zhu et al. 2023, Eq. 13.)
        """
        transfer = _transfer(y, self.sigma)
        x = (transfer * _cosines(y) + weight * _cosines(z)) / (transfer**2 + weight)
        return _from_cosines(x, z)


def _cosines(x: Tensor) -> Array:
    spectrum: Array = fft.dctn(x.double().cpu().numpy(), axes=(-2, -1))
    return spectrum


def _from_cosines(spectrum: Array, like: Tensor) -> Tensor:
    return torch.from_numpy(fft.idctn(spectrum, axes=(-2, -1))).to(like)


def _transfer(x: Tensor, sigma: float) -> Array:
    """A Gaussian's transfer function over the cosines of ``[..., H, W]``."""
    rows, columns = (np.arange(side) / (2 * side) for side in x.shape[-2:])
    return np.exp(-2 * (np.pi * sigma) ** 2 * (rows[:, None] ** 2 + columns**2))


def settle(x: Tensor) -> Tensor:
    """Median along columns, then rows, of ``[..., 3, H, W]``: pixels that were exchanged across
    an edge go back to the side of their majority, where a linear inverse sharpens the disorder."""
    planes = x.reshape(-1, *x.shape[-2:]).cpu().numpy()
    for size in ((1, WINDOW, 1), (1, 1, WINDOW)):
        planes = ndimage.median_filter(planes, size)
    return torch.from_numpy(planes).reshape(x.shape).to(x)


def measure_glass(x: Tensor) -> Glass | None:
    """Glass before ``[3, H, W]`` as one Gaussian (of all it does); None where none shows.

    The radial log power spectrum is a power law times the last blur's Gaussian, down to the
    rounding; without that blur the picture's edges would not run straight.
    """
    grey = x.double().mean(0)
    log, rho = _radial_spectrum(grey.numpy() * HALF_RANGE)
    floor = log[rho > 0.42].mean()
    above = (rho > 0.06) & (log > max(floor, -2.5) + 1)
    flat = float(grey.std()) * HALF_RANGE < CONTRAST
    if flat or floor > GLASS_FLOOR or above.sum() < 6:
        return None
    model = np.stack([np.ones_like(rho), np.log(rho), rho**2], 1)[above]
    fit, *_ = np.linalg.lstsq(model, log[above], rcond=None)
    misfit = np.sqrt(np.square(model @ fit - log[above]).mean())
    sigma = math.sqrt(max(-fit[2], 0)) / (2 * math.pi)
    gaussian = GLASS_SIGMA[0] < sigma < GLASS_SIGMA[1] and misfit < GLASS_MISFIT
    if not gaussian or -fit[1] > GLASS_FALL or _coherence(grey, sigma) > GLASS_COHERENCE:
        return None
    return Glass(round(GLASS_SPREAD * sigma, 1))


def _radial_spectrum(grey: Array) -> tuple[Array, Array]:
    """Mean log power of ``[H, W]`` in grey levels, and its cycles per pixel; borders lie on the
    axes, which are left out."""
    height, width = grey.shape
    window = np.hanning(height)[:, None] * np.hanning(width)
    power = np.abs(np.fft.fft2((grey - grey.mean()) * window)) ** 2 / np.square(window).sum()
    rows, columns = np.abs(np.fft.fftfreq(height))[:, None], np.abs(np.fft.fftfreq(width))
    rho = np.hypot(rows, columns)
    keep = (rows > 1.5 / height) & (columns > 1.5 / width) & (rho < 0.5)
    ring, n = (rho[keep] * 96).astype(int), 48
    count = np.bincount(ring, minlength=n)
    log = np.bincount(ring, np.log(power[keep] + 1e-3), minlength=n)
    return log[count > 0] / count[count > 0], ((np.arange(n) + 0.5) / 96)[count > 0]


def _coherence(grey: Tensor, sigma: float) -> float:
    """How straight edges of ``[H, W]`` run without a Gaussian blur of ``sigma``, 0 to 1.

    Of the structure tensor, weighted by energy (Bigun and Granlund 1987).
    """
    sharp = Glass(sigma).agree(torch.zeros_like(grey), grey, 0.01).numpy()
    down, across = np.gradient(sharp)
    yy, xx, xy = (ndimage.gaussian_filter(a, 2.0) for a in (down**2, across**2, down * across))
    return float(np.sqrt((yy - xx) ** 2 + 4 * xy**2).sum() / max((yy + xx).sum(), 1e-12))
