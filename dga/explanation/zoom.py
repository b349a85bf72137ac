"""A picture that was zoomed during its exposure: how that is measured, and undone.

The model is ImageNet-C's: the mean of the picture and copies of it, zoomed by 1 to some factor. Its
inverse is a least-squares solution, by a few steps of conjugate gradients.
"""

import functools
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.operators import Operator, conjugate_gradients
from dga.explanation.spectrum import Array, Fit, fit_residuals, project_out

COPIES = 11
"""How many zoomed copies that mean has, as in ImageNet-C; the picture itself counts once more. With
21 copies 35.0 instead of 52.5 % of 40 photographs are read right."""
ZOOM_STEPS = 8
"""Steps of conjugate gradients. That they are few regularises the solution, too."""
FACTORS = np.arange(1.06, 1.42, 0.01)
"""Candidates for the largest factor."""
INNER = 0.15
"""Smallest radius of the log-polar picture, as a share of the largest."""
SMALLEST = 128
"""Shorter side in pixels, at least; smaller undamaged photographs often look zoomed."""


@dataclass(frozen=True)
class Zoom(Operator):
    """Mean of the picture and its copies zoomed by 1 to ``factor`` about the centre."""

    factor: float
    kind = "zoom"
    regularisation = 0.003
    least_relief = 0.2  # of 29 likely zooms saved as JPEG 85 all fall by so much, 22 by 1

    def measure_strength(self, height: int, width: int) -> float:
        return self.factor

    def __str__(self) -> str:
        return f"zoomed up to {self.factor:.2f} times"

    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """Solve it by conjugate gradients."""

        def zoom(x: Tensor) -> Tensor:
            return _apply_zooms(x, self.factor, is_adjoint=False)

        def adjoin(v: Tensor) -> Tensor:
            return _apply_zooms(v, self.factor, is_adjoint=True)

        begin = z.float()
        residual = adjoin(y.float() - zoom(begin))
        solved = conjugate_gradients(
            lambda x: adjoin(zoom(x)) + weight * x, begin, residual, ZOOM_STEPS
        )
        return solved.to(z)


@functools.lru_cache(maxsize=32)
def _make_zooms(
    side: int, factor: float, is_adjoint: bool, device: torch.device
) -> tuple[Tensor, Tensor]:
    """H, or its adjoint, along an axis of ``side`` pixels: a sparse matrix a copy, bilinear.

    The n copies' matrices one below the other, ``[n side, side]``; weighted, one beside the other,
    ``[side, n side]``.
    """
    row = np.arange(side)
    weights = np.r_[2.0, np.ones(COPIES - 1)] / (COPIES + 1)
    copies = []
    for zoom in np.linspace(1, factor, COPIES):
        at = (row - (side - 1) / 2) / zoom + (side - 1) / 2
        low = np.clip(np.floor(at).astype(int), 0, side - 2)
        entries = np.r_[1 - at + low, at - low]
        where = (np.r_[row, row], np.r_[low, low + 1])
        matrix = scipy.sparse.csr_matrix((entries, where), (side, side))
        copies.append(matrix.T if is_adjoint else matrix)
    terms = [weight * copy for weight, copy in zip(weights, copies, strict=True)]
    stacked, beside = _to_torch(scipy.sparse.vstack(copies)), _to_torch(scipy.sparse.hstack(terms))
    return stacked.to(device), beside.to(device)


def _to_torch(matrix: Any) -> Tensor:
    matrix = scipy.sparse.csr_matrix(matrix).astype(np.float32)
    starts, columns, entries = map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls them a beta
        return torch.sparse_csr_tensor(starts, columns, entries, size=matrix.shape)


def _apply_zooms(x: Tensor, factor: float, is_adjoint: bool) -> Tensor:
    """Weighted mean of the zooms of ``[N, H, W]``, or its adjoint: rows first, then columns."""
    n, height, width = x.shape
    stacked, _ = _make_zooms(height, factor, is_adjoint, x.device)
    _, beside = _make_zooms(width, factor, is_adjoint, x.device)
    zoomed = stacked @ x.permute(1, 0, 2).reshape(height, n * width)
    across = zoomed.reshape(-1, height, n, width).permute(0, 3, 2, 1).reshape(-1, n * height)
    return (beside @ across).reshape(width, n, height).permute(1, 2, 0)


def fit_zoom(x: Tensor) -> Fit[Zoom]:
    """The zoom that explains a picture, ``[3, H, W]``, best; it explains nothing of too few or
    equal values, and where it would be the smallest or the largest.

    In log-polar coordinates a zoom is a blur H along log-radius alone. The log power spectrum there
    is fitted by least squares: by wavelength and direction, and for each candidate factor by
    log |H|^2. The factor that explains most of what the other two leave is returned.
    """
    nothing, side = Fit(Zoom(1.0)), min(x.shape[1:])
    if side < SMALLEST:
        return nothing
    is_used, basis, *family = _make_family(side)
    log_power = np.log(_compute_log_polar_power(x.double().mean(0))[is_used] + 1e-8)
    if len(log_power) < 4 * basis.shape[1] or log_power.var() == 0:
        return nothing
    best, share, slope = fit_residuals(log_power, basis, *family)
    is_inside = 0 < best < len(FACTORS) - 1
    return Fit(Zoom(round(float(FACTORS[best]), 2)), share, slope) if is_inside else nothing


def _compute_log_polar_power(grey: Tensor) -> Array:
    """The power spectrum of a grey picture, ``[H, W]``, in log-polar coordinates: of log-radius
    along rows, of angle along columns."""
    height, width = grey.shape
    reach, span = (min(height, width) - 1) / 2, -math.log(INNER)
    radius = reach * torch.linspace(-span, 0, int(reach * span)).double().exp()[:, None]
    angle = torch.arange(int(math.pi * reach)) * (2 * math.pi / int(math.pi * reach))
    at = (radius * angle.cos() * 2 / (width - 1), radius * angle.sin() * 2 / (height - 1))
    polar = F.grid_sample(
        grey[None, None], torch.stack(at, -1)[None], mode="bicubic", align_corners=True
    )[0, 0].numpy()
    polar = (polar - polar.mean()) * np.hanning(len(polar))[:, None]
    return np.abs(np.fft.fft(np.fft.rfft(polar, axis=0), axis=1)) ** 2


@functools.lru_cache(maxsize=4)
def _make_family(side: int) -> tuple[NDArray[np.bool_], Array, Array, Array]:
    """Where that spectrum of a picture, ``side`` pixels on the shorter side, is used; a law of
    wavelength and direction there, orthonormal, ``[n, m]``; and what it leaves of each candidate's
    log power, with its energy, of :func:`~dga.explanation.spectrum.project_out`.
    """
    reach, span = (side - 1) / 2, -math.log(INNER)
    radial = np.arange(int(reach * span) // 2 + 1) / span
    turns = int(math.pi * reach)
    around = np.abs(np.fft.fftfreq(turns, 1 / turns)) / (2 * math.pi)
    wavenumber = np.hypot(radial[:, None], around)
    direction = np.arctan2(around, radial[:, None] + 1e-9)
    is_used = (
        (wavenumber > 1)
        & (wavenumber < min(24, reach / 4))
        & (radial[:, None] > 1.2 / span)
        & (around > 0.3)
    )
    wavenumber, direction = wavenumber[is_used], direction[is_used]
    rings = wavenumber.astype(int)[:, None] == np.unique(wavenumber.astype(int))
    regressors = np.column_stack([rings, np.cos(2 * direction), np.cos(4 * direction)])
    basis = np.linalg.qr(regressors.astype(float))[0]
    rows = np.nonzero(is_used)[0]
    family = np.log(np.stack([_zoom_power(radial, z) for z in FACTORS]) + 0.01)[:, rows]
    return is_used, basis, *project_out(family, basis)


def _zoom_power(frequency: Array, factor: float) -> Array:
    """|H|^2 along log-radius, at cycles per unit of log-radius."""
    shifts = np.log(np.linspace(1, factor, COPIES))
    return np.abs(np.exp(-2j * np.pi * frequency[:, None] * shifts).mean(1)) ** 2
