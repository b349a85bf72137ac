"""A picture behind frosted glass, and how it is recognised.

Such glass blurs, exchanges neighbouring pixels at random, and blurs again (ImageNet-C's model).
:func:`measure_glass` finds its last blur in the power spectrum of the picture. What was where
cannot be measured: the denoiser that straightens warped pictures undoes it (:mod:`dga.mending`).
The limits were chosen in sight of that model, on the photographs of ``tune``
(assets/results/photo/README.md).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from torch import Tensor

from dga.explanation.spectrum import RING_FLOOR, Array, measure_asymmetry
from dga.images import HALF_RANGE

MOST_SIGMA = 1.45
"""Largest deviation, in pixels, of the glass's last blur; ImageNet-C's are 0.7 to 1.5."""
FINE_POWER, FALL_OF_FINE_POWER = 0.8, 1.5
"""Most natural log power at the finest scale, and by how much it falls for each pixel of the last
blur's deviation. Of 120 small lenses 21 passed for glass without it, six do."""
ROUNDING_POWER = -2.5
"""Natural log power of grey levels, 0 to 255, that rounding leaves at the finest scale."""
STEEPEST_FALL = 3.3
"""Exponent of the steepest power law that a photograph's power spectrum follows."""
MOST_MISFIT = 0.25
"""Root mean square of the fit's residuals, in natural log power, up to which it holds."""
MOST_COHERENCE = 0.6
"""Edges behind glass are less coherent than this (0: gradients of every direction, 1: of one)."""
WHOLE_SIGMA = 3.9
"""Deviation of all that glass does (two blurs and the exchange between them), as a multiple of the
last blur's."""
LEAST_CONTRAST = 14.0
"""Deviation in grey levels, 0 to 255, below which rounding hides what glass does to a spectrum."""


class Trace(NamedTuple):
    """What glass leaves in a picture: as its blur was rounded, or saved as JPEG.

    Logarithms are natural, of the power of grey levels from 0 to 255.
    """

    floor: tuple[float, float]
    """Log power at the finest scale, which glass has blurred."""
    margin: float
    """By how much log power has to exceed that, or rounding, to be fitted."""
    least_sigma: float
    """Least deviation of the last blur, in pixels."""
    least_softness: float
    band: tuple[float, float]
    """Cycles a pixel at which the spectrum has to be round."""


TRACES = (
    Trace((-math.inf, -1.8), 1.0, 0.68, -math.inf, (0.25, 0.4)),
    Trace((-2.4, 0.0), 2.0, 0.6, 5.2, (0.12, 0.25)),
)
"""Of 60 photographs behind glass 5, 4 and 3 saved as JPEG 85 the first finds 0, 1 and 0, both 52,
41 and 31; of 375 undamaged ones none."""
MOST_SQUARE = 0.4
"""Most difference of natural log power between axes and diagonals of a round spectrum; enlarged
pictures mostly have more. Of 24 enlarged ones 13 passed for glass without it, 7 do."""


def measure_glass(x: Tensor, power: Array, softness: float) -> float | None:
    """By how many pixels glass in front of ``[3, H, W]`` in [-1, 1] spreads; None without glass.

    Above the power of rounding, or of JPEG, the radial spectrum of such a picture is a power law
    times the last blur's Gaussian: log P(f) = a + b log f + c f^2, fitted by least squares.
    Besides, its spectrum is round, unlike an enlarged picture's, and its edges are crooked even
    after that blur is undone. ``power`` and ``softness``: its power spectrum, and what
    :func:`~dga.explanation.blur.measure_softness` finds in it.
    """
    grey = x.double().mean(0)
    if float(grey.std()) * HALF_RANGE < LEAST_CONTRAST:
        return None
    log_power, frequency = _radial_spectrum(grey.numpy() * HALF_RANGE)
    floor = log_power[frequency > 0.42].mean()
    for trace in TRACES:
        least, most = trace.floor
        is_round = abs(measure_asymmetry(power, *trace.band)) < MOST_SQUARE
        if not (least < floor <= most and is_round and softness > trace.least_softness):
            continue
        sigma = _fit_last_blur(log_power, frequency, max(floor, ROUNDING_POWER) + trace.margin)
        has_erased_detail = floor <= FINE_POWER - FALL_OF_FINE_POWER * sigma
        is_glass = trace.least_sigma < sigma < MOST_SIGMA and has_erased_detail
        if is_glass and _coherence(grey, sigma) <= MOST_COHERENCE:
            return round(WHOLE_SIGMA * sigma, 1)
    return None


def _fit_last_blur(log_power: Array, frequency: Array, least: float) -> float:
    """The deviation in pixels of a Gaussian that fits what exceeds a log power; 0 for a misfit."""
    above = (frequency > 0.06) & (log_power > least)
    if above.sum() < 6:
        return 0.0
    model = np.stack([np.ones_like(frequency), np.log(frequency), frequency**2], 1)[above]
    coefficients, *_ = np.linalg.lstsq(model, log_power[above], rcond=None)
    misfit = np.sqrt(np.square(model @ coefficients - log_power[above]).mean())
    does_fit = misfit < MOST_MISFIT and -coefficients[1] <= STEEPEST_FALL
    return math.sqrt(max(-coefficients[2], 0)) / (2 * math.pi) if does_fit else 0.0


def _radial_spectrum(grey: Array) -> tuple[Array, Array]:
    """Mean log power of ``[H, W]`` in grey levels by ring, and the rings' cycles per pixel.

    Borders of the picture show on the axes of the spectrum, which are left out.
    """
    height, width = grey.shape
    window = np.hanning(height)[:, None] * np.hanning(width)
    power = np.abs(np.fft.fft2((grey - grey.mean()) * window)) ** 2 / np.square(window).sum()
    rows, columns = np.abs(np.fft.fftfreq(height))[:, None], np.abs(np.fft.fftfreq(width))
    frequency = np.hypot(rows, columns)
    is_used = (rows > 1.5 / height) & (columns > 1.5 / width) & (frequency < 0.5)
    ring, rings = (frequency[is_used] * 96).astype(int), 48
    count = np.bincount(ring, minlength=rings)
    log_power = np.bincount(ring, np.log(power[is_used] + RING_FLOOR), minlength=rings)
    return log_power[count > 0] / count[count > 0], ((np.arange(rings) + 0.5) / 96)[count > 0]


def _coherence(grey: Tensor, sigma: float) -> float:
    """How straight edges of ``[H, W]`` run once a Gaussian blur of ``sigma`` is undone, 0 to 1.

    The structure tensor's coherence, weighted by energy (Bigun and Granlund, 1987).
    """
    rows, columns = (np.arange(side) / (2 * side) for side in grey.shape)
    transfer = np.exp(-2 * (np.pi * sigma) ** 2 * (rows[:, None] ** 2 + columns**2))
    sharp = scipy.fft.idctn(transfer * scipy.fft.dctn(grey.numpy()) / (transfer**2 + 0.01))
    down, across = np.gradient(sharp)
    yy, xx, xy = (
        scipy.ndimage.gaussian_filter(a, 2.0) for a in (down**2, across**2, down * across)
    )
    return float(np.sqrt((yy - xx) ** 2 + 4 * xy**2).sum() / max((yy + xx).sum(), 1e-12))
