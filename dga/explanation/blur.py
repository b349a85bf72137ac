"""Blur that is measured in the power spectrum of a picture: of a lens, soft, or of another kind."""

import functools
import math

import numpy as np
import scipy
from torch import Tensor

from dga.explanation.glass import measure_glass
from dga.explanation.motion import MotionFits
from dga.explanation.operators import Disk, GaussianBlur, Operator
from dga.explanation.shake import find_arc
from dga.explanation.spectrum import (
    FLOOR,
    Array,
    Fit,
    compute_power_spectrum,
    compute_radial_spectrum,
    fit_residuals,
    measure_asymmetry,
    project_out,
)
from dga.explanation.zoom import fit_zoom

CERTAIN_ZOOM, LIKELY_ZOOM = (0.025, 0.42), (0.02, 0.3)
"""Share and slope from which a zoom is certain, and from which it is likely."""
RADII = tuple(np.arange(1.5, 13.01, 0.25).tolist())
"""Candidates: disks' radii in pixels."""
CERTAIN_DISK, LIKELY_DISK = (0.6, 0.6), (0.25, 0.4)
"""Share and slope from which a disk is certain, and from which it is likely. The likely ones: of 24
lenses saved as JPEG 85 they are 23, of 64 undamaged photographs none."""
SMALLEST_DISK, SMALLEST_LIKELY = 2.25, 3.0
"""Radius in pixels of either, at least; smaller ones look like any soft picture."""
SIGMA = (1.75, 10.0)
"""Least and largest deviation in pixels of a Gaussian blur; smaller ones look like glass."""
POWER_LAW = 2.4
"""Exponent by which a sharp photograph's power spectrum falls, on average."""
LEAST_FALL = 5.0
"""Least natural log power by which a Gaussian falls below that law before rounding ends it. With 4
six pictures with other blur were taken for one, with 5 none."""
GAUSSIAN_MISFIT = 0.6
"""Most root mean square of its residuals, in natural log power."""
MOST_RISE = 1.0
"""Most natural log power that it gains again with frequency; after a disk's zeros it gains more."""
DETAIL_BANDS = (0.03, 0.07), (0.12, 0.22), (0.25, 0.4)
"""Cycles a pixel of coarse, middle and fine detail."""
MOST_FALL = 4.8
"""Softness (:func:`measure_softness`) from which a picture counts as blurred."""
LEAST_SHAKEN = 3.4
"""Softness below which no arc is looked for, as in four of ten undamaged photographs. Of 300 shaken
by 3 to 24 px, as they are and saved as JPEG 85, none has less than 3.6."""
ENLARGED_END = 0.8, 1.2
"""Where an enlarged picture's spectrum ends, at a square and not at a ring: in cycles a radius of
the lens that fits it best."""
ENLARGED_LENS, ENLARGED_SOFT = (3.0, -1.0), (3.75, -0.75)
"""The largest such radius in pixels, and the most natural log power along diagonals over that along
axes there, of an enlarged picture that passes for a lens, or for a Gaussian. JPEG makes spectra
square, too. Of 96 pictures that were enlarged 4 or 5 times and saved as JPEG 95 or 85 three pass
(of 96 others 35 with the lens's limits for both), of 96 under a Gaussian of 2.25 or 2.75 px, so
saved, 22 are seen (of the others 65). The former are common."""


class BlurFits:
    """What may have blurred a picture, ``[3, H, W]`` in [-1, 1]: each kind is fitted once."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.power = x, compute_power_spectrum(x)
        self.radial = compute_radial_spectrum(self.power)

    @functools.cached_property
    def lens(self) -> Fit[Disk]:
        """A lens out of focus."""
        return fit_disk(*self.radial)

    @functools.cached_property
    def softness(self) -> float:
        """How little of its fine detail is left (:func:`measure_softness`)."""
        return measure_softness(*self.radial)

    @property
    def has_lens(self) -> bool:
        """Whether that is certain."""
        is_large = self.lens.operator.radius >= SMALLEST_DISK
        return self.lens.exceeds(CERTAIN_DISK) and is_large

    @functools.cached_property
    def soft(self) -> GaussianBlur | None:
        """A Gaussian blur."""
        return measure_gaussian(*self.radial)

    @functools.cached_property
    def is_enlarged(self) -> bool:
        """Whether the picture was small and is enlarged, where it looks soft or out of focus."""
        if self.soft:
            return self._ends_at_square(*ENLARGED_SOFT)
        return self.has_lens and self._ends_at_square(*ENLARGED_LENS)

    @functools.cached_property
    def motion(self) -> MotionFits:
        """Even and fading motion."""
        return MotionFits(self.power, self.x)

    @functools.cached_property
    def zoom(self) -> Fit[Operator]:
        """A zoom during the exposure."""
        return fit_zoom(self.x)

    def find_certain(self) -> Operator | None:
        """The blur that is certain: soft, lens, motion, zoom or a shaken camera.

        None if unclear, and of an enlarged picture, whose detail is not blurred but missing. A
        shaken camera only where nothing else is likely: other blur looks like short arcs.
        """
        soft, has_lens, lens = self.soft, self.has_lens, self.lens.operator
        if self.is_enlarged:
            return None
        if has_lens and not soft:
            return lens
        motion = self.motion.find_certain()
        if soft and not motion:
            return soft
        if has_lens or motion:
            return lens if has_lens else motion
        if self.zoom.exceeds(CERTAIN_ZOOM):
            return self.zoom.operator
        is_sharp = self.softness < LEAST_SHAKEN
        return None if is_sharp or self.list_likely() else find_arc(self.power, self.x)

    def measure_glass(self) -> float | None:
        """By how many pixels rough glass spreads, where no blur is certain; None without glass."""
        if self.is_enlarged:
            return None
        return measure_glass(self.x, self.power, self.softness)

    def list_likely(self) -> list[Operator]:
        """What is likely where nothing is certain: a lens, fading motion, a zoom.

        Noise and JPEG hide most of a blur's trace. Which it was, if any, others have to judge.
        """
        likely = list[Operator]()
        lens = self.lens.operator
        has_lens = self.lens.exceeds(LIKELY_DISK) and lens.radius >= SMALLEST_LIKELY
        if has_lens and not self._ends_at_square(*ENLARGED_LENS):
            likely.append(lens)
        if motion := self.motion.find_likely():
            likely.append(motion)
        if self.zoom.exceeds(LIKELY_ZOOM):
            likely.append(self.zoom.operator)
        return likely

    def _ends_at_square(self, most_radius: float, most: float) -> bool:
        """Whether the spectrum ends at a square, as an enlarged picture's does."""
        radius = self.lens.operator.radius
        low, high = (end / radius for end in ENLARGED_END)
        return radius <= most_radius and measure_asymmetry(self.power, low, high) < most


def is_blurred(x: Tensor) -> bool:
    """Whether ``[3, H, W]`` has less fine detail than a sharp photograph, whatever its contrast."""
    return measure_softness(*compute_radial_spectrum(compute_power_spectrum(x))) > MOST_FALL


def measure_softness(radial: Array, frequency: Array) -> float:
    """Natural log power of a picture's coarse detail over that of the finer, whatever its contrast.

    ``radial`` and ``frequency``: of :func:`compute_radial_spectrum`.
    """
    is_inside = [(frequency > low) & (frequency < high) for low, high in DETAIL_BANDS]
    coarse, middle, fine = (float(radial[band].mean()) for band in is_inside)
    return coarse - (2 * middle + fine) / 3


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
    is_soft = is_deep and misfit < GAUSSIAN_MISFIT and rise < MOST_RISE
    return GaussianBlur(round(sigma, 2)) if is_soft and SIGMA[0] <= sigma <= SIGMA[1] else None


def fit_disk(radial: Array, frequency: Array) -> Fit[Disk]:
    """A lens out of focus, by the zeros of its transfer function in the radial spectrum.

    The highest frequencies hold noise and rounding alone: what is not above them by 0.3 hardly
    counts. The lowest hold the scene.
    """
    family = _disk_family(len(radial))
    is_above_noise = radial > np.median(radial[frequency > 0.4]) + 0.3
    weight = np.where(frequency > 0.02, is_above_noise + 0.05, 0.0)
    basis = np.linalg.qr(np.stack([weight, weight * np.log(frequency)], 1))[0]  # a power law
    best, share, slope = fit_residuals(weight * radial, basis, *project_out(weight * family, basis))
    return Fit(Disk(RADII[best]), share, slope)


@functools.lru_cache(maxsize=8)
def _disk_family(rings: int) -> Array:
    """Log power of each disk's transfer function by ring, ``[m, rings]``."""
    z = 2 * np.pi * np.array(RADII)[:, None] * (np.arange(rings) + 0.5) / (2 * rings)
    return np.log((2 * scipy.special.j1(z) / z) ** 2 + FLOOR)
