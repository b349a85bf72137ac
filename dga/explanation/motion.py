"""Straight motion during an exposure: how its length, direction and course are measured.

Motion H leaves log |H|^2 in a picture's log power spectrum. Even motion of L pixels leaves
stripes, sinc(u L)^2 of the frequency u along it, which show beside a power law that depends on
direction, too. Motion that fades leaves no stripes, but one of its two directions rings when it is
undone. What is between both, as of a hand that shook, is left alone.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.deconvolution import place_at_origin
from dga.explanation.operators import Motion, MotionBlur
from dga.explanation.spectrum import (
    FLOOR,
    POWER_FLOOR,
    Array,
    Fit,
    Residual,
    find_band,
    fit_residuals,
    project_out,
)
from dga.images import cut_middle

EVEN_LENGTHS = np.exp(np.arange(np.log(3.0), np.log(36.0), 0.07))
EVEN_ANGLES = np.arange(0.0, 180.0, 3.75)
"""Even motions that are tried first, in pixels and degrees."""
EVEN_STRETCHES, EVEN_TURNS = np.arange(-0.08, 0.081, 0.016), np.arange(-3.0, 3.1, 0.75)
"""Tried next: logarithms of factors of the best one's length, and degrees added to its angle."""
EVEN_RANGE = 4.5, 34.0
"""Pixels between which even motion is certain."""
FADING_LENGTHS, FADING_ANGLES = (3.0, 5.0, 8.0, 12.0, 15.0), np.arange(0.0, 180.0, 7.5)
"""Fading motions that are tried first, in pixels and degrees."""
FADING_STRETCHES, FADING_TURNS = (0.9, 1.0, 1.1), np.arange(-4.0, 4.1, 0.5)
"""Tried next: factors of the best one's length, and degrees added to its angle."""
HIGHEST = 0.45
"""Cycles a pixel up to which even motion is looked for."""
ERASED = 0.01
"""Added to |H|^2 before its logarithm: noise fills what was erased."""
BINS = 160
"""Of the frequency along even motion, from 0 to half a cycle a pixel."""
FADING_BAND = 0.03, 0.4
"""Cycles a pixel between which fading motion is looked for."""
CERTAIN_EVEN, CERTAIN_LONG, CERTAIN_FADING = (0.14, 0.55), (0.14, 0.9), (0.18, 0.55)
"""Share and slope from which even motion, long even motion and fading motion are certain."""
LONG = 20.0
"""Length in pixels from which even motion is long: a part that moved has stripes, too. Of 120
undamaged photographs three look moved, all by more than 25 px."""
CLEAR_STRIPES = 0.2
"""Share of even motion from which its stripes are clear."""
EVEN_ODDS, STRIPED_ODDS = 1.25, 1.12
"""Odds from which motion is even though one direction rings more, and where stripes are clear."""
FADING_ODDS = 0.93
"""Odds up to which motion is not even, and fades if one direction rings more. Of 288 even motions
26 passed for fading without it, 6 do; of ImageNet-C's 115 nine are no longer undone."""
ONE_SIDED = 1.45
"""Sidedness from which one direction rings more."""
PLAINLY_ONE_SIDED = 5.0
"""Sidedness from which motion without clear stripes fades whatever the odds. Of 2,340 pictures it
changes one."""
LIKELY_FADING = (0.08, 2.0), (0.3, 1.1)
"""Share and sidedness of fading motion, of which either pair makes it likely."""
LIKELY_EVEN, LIKELY_EVEN_ODDS = 0.12, 0.9
"""Share and odds from which motion is likely even, and is not undone as one that fades."""
PLAIN_DIRECTION = 3.0
"""Sidedness from which it is all the same."""
SHORTEST_LIKELY = 8.0
"""Least length in pixels of likely motion: a hand that shook looks like a shorter one. Of 54 shaken
ones one is taken for it, of 64 undamaged photographs none."""
RINGING_FLOOR = 1e-4
"""Added to the ringing in each direction, pixels in [-1, 1]."""
MOST_POWER_LEFT = 5.2
"""Most natural log power over that of rounding that fading motion leaves where it erases most."""
LONGEST_JUDGED = 512
"""Pixels a side of a picture's middle in which ringing is measured, at most."""


class MotionFits:
    """The even and the fading motion that explain a picture best, each fitted once.

    ``power``: of :func:`~dga.explanation.spectrum.compute_power_spectrum` of ``x``,
    ``[3, H, W]``.
    """

    def __init__(self, power: Array, x: Tensor) -> None:
        self.power, self.x = power, x

    @functools.cached_property
    def even(self) -> Fit[MotionBlur]:
        """Even motion, beside a law that depends on direction."""
        spectrum = Residual.of(self.power, HIGHEST)
        if spectrum is None:
            return Fit(MotionBlur(EVEN_RANGE[0], 0.0))
        coarse = _fit_even(spectrum, EVEN_ANGLES, EVEN_LENGTHS).operator
        angles, lengths = coarse.angle + EVEN_TURNS, coarse.length * np.exp(EVEN_STRETCHES)
        return _fit_even(spectrum, angles, lengths)

    @functools.cached_property
    def fading(self) -> Fit[MotionBlur]:
        """Fading motion, beside a plain law; its sign is open."""
        power, side = self.power, len(self.power)
        family, *residuals = _fading_family(side)
        best, _, slope = fit_residuals(_read_band(power), _plain_law(side), *residuals)
        motion = family[best]
        refined = [
            replace(motion, length=motion.length * factor, angle=motion.angle + turn)
            for factor in FADING_STRETCHES
            for turn in FADING_TURNS
        ]
        best, share, _ = _fit_plainly(power, refined)
        return Fit(refined[best], share, slope)

    @functools.cached_property
    def odds(self) -> float:
        """*Odds*: the share of the even over that of the fading, both beside a plain law."""
        return _fit_plainly(self.power, [self.even.operator])[1] / max(self.fading.share, 1e-9)

    @functools.cached_property
    def is_erased(self) -> bool:
        """Whether hardly more than rounding is left where the fading erases most."""
        side = len(self.power)
        frequency, is_used = find_band(side, *FADING_BAND)
        power = _find_power(self.fading.operator, side)
        is_erased = (power < np.quantile(power, 0.3)) & (frequency > 0.08)
        window = np.hanning(side)[:, None] * np.hanning(side)
        rounding = np.log((window**2).sum() / 36 + POWER_FLOOR)  # a twelfth of a level, 3 channels
        left = np.median(np.log(self.power[is_used][is_erased] + POWER_FLOOR))
        return bool(left - rounding < MOST_POWER_LEFT)

    @functools.cached_property
    def directed(self) -> tuple[MotionBlur, float]:
        """The fading in the direction in which its inverse rings less, and its *sidedness*: how
        many times as much that rings in the other."""
        motion = self.fading.operator
        pair = motion, replace(motion, angle=motion.angle - 180)
        ringing = [measure_ringing(one, self.x) + RINGING_FLOOR for one in pair]
        return pair[ringing.index(min(ringing))], max(ringing) / min(ringing)

    def find_certain(self) -> MotionBlur | None:
        """The motion that is certain, even or fading; None where neither is."""
        even, fading = self.even, self.fading
        is_even = even.exceeds(CERTAIN_LONG if even.operator.length > LONG else CERTAIN_EVEN)
        is_even = is_even and EVEN_RANGE[0] < even.operator.length < EVEN_RANGE[1]
        is_fading = fading.exceeds(CERTAIN_FADING) and self.is_erased
        if not is_even and not is_fading:
            return None
        directed, sidedness = self.directed
        is_one_sided = sidedness > ONE_SIDED
        is_striped = even.share > CLEAR_STRIPES
        least_odds = STRIPED_ODDS if is_striped else EVEN_ODDS
        if is_even and self.odds > (least_odds if is_one_sided else FADING_ODDS):
            return even.operator
        is_likely = is_one_sided and self.odds < FADING_ODDS
        is_plain = sidedness > PLAINLY_ONE_SIDED and not is_striped
        return directed if is_fading and (is_likely or is_plain) else None

    def find_likely(self) -> MotionBlur | None:
        """The fading motion that is likely, though not certain; None where none is."""
        limits = [limit for share, limit in LIKELY_FADING if self.fading.share > share]
        if not limits or not self.is_erased:
            return None
        directed, sidedness = self.directed
        if sidedness <= min(limits) or directed.length <= SHORTEST_LIKELY:
            return None
        is_even = self.even.share > LIKELY_EVEN and self.odds > LIKELY_EVEN_ODDS
        return None if is_even and sidedness < PLAIN_DIRECTION else directed


def _fit_even(spectrum: Residual, angles: Array, lengths: Array) -> Fit[MotionBlur]:
    """The best even motion by least squares, of all angles and lengths.

    For each angle the spectrum is summed by the frequency along it once.
    """
    rows = _log_powers(tuple(lengths))  # [m, BINS]
    shares, slopes = (np.empty((len(angles), len(lengths))) for _ in range(2))
    for row, angle in enumerate(np.radians(angles)):
        along = np.abs(spectrum.across * np.cos(angle) + spectrum.down * np.sin(angle))
        bins = np.minimum((along * 2 * BINS).astype(int), BINS - 1)
        count = np.bincount(bins, minlength=BINS)
        total = np.bincount(bins, spectrum.target, BINS)
        law = np.stack([np.bincount(bins, column, BINS) for column in spectrum.basis.T])
        products = rows @ total
        energy = np.maximum(rows**2 @ count - ((rows @ law.T) ** 2).sum(1), 1e-9)
        shares[row] = np.where(products > 0, products**2 / (energy * spectrum.power), 0)
        slopes[row] = products / energy
    i, j = divmod(int(shares.argmax()), len(lengths))
    motion = MotionBlur(round(float(lengths[j]), 2), float(angles[i]) % 180)
    return Fit(motion, float(shares[i, j]), float(slopes[i, j]))


@functools.lru_cache(maxsize=64)
def _log_powers(lengths: tuple[float, ...]) -> Array:
    """log |H|^2 of even motions by frequency along them, ``[m, BINS]``."""
    u = (np.arange(BINS) + 0.5) / (2 * BINS)
    transfer = np.sinc(u * np.array(lengths)[:, None]) * np.sinc(u)
    return np.log(transfer**2 + ERASED)


def _fit_plainly(power: Array, motions: Sequence[MotionBlur]) -> tuple[int, float, float]:
    """Which motion explains a spectrum best beside a plain power law; its share and its slope."""
    law = _plain_law(len(power))
    residuals = project_out(_make_table(motions, len(power)), law)
    return fit_residuals(_read_band(power), law, *residuals)


def _read_band(power: Array) -> Array:
    """Log power where the spectrum is used for fading motion, ``[n]``."""
    _, is_used = find_band(len(power), *FADING_BAND)
    return np.log(power[is_used] + POWER_FLOOR)


@functools.lru_cache(maxsize=4)
def _plain_law(side: int) -> Array:
    """A power law there, orthonormal, ``[n, 2]``."""
    frequency, _ = find_band(side, *FADING_BAND)
    return np.linalg.qr(np.stack([np.ones_like(frequency), np.log(frequency)], 1))[0]


@functools.lru_cache(maxsize=4)
def _fading_family(side: int) -> tuple[list[MotionBlur], Array, Array]:
    """Fading motions of at most a third of ``side``, with their residuals and energy of
    :func:`project_out`."""
    family = [
        MotionBlur(length, float(angle), one_sided=True)
        for length in FADING_LENGTHS
        if 3 * length < side
        for angle in FADING_ANGLES
    ]
    return family, *project_out(_make_table(family, side), _plain_law(side))


def _make_table(motions: Sequence[MotionBlur], side: int) -> NDArray[np.float32]:
    """Log power of each motion's transfer function where the spectrum is used, ``[m, n]``."""
    rows = [np.log(_find_power(one, side) + 10 * FLOOR) for one in motions]
    return np.stack(rows).astype(np.float32)


def _find_power(motion: MotionBlur, side: int) -> Array:
    """|H|^2 where the spectrum is used for fading motion, ``[n]``."""
    _, is_used = find_band(side, *FADING_BAND)
    columns, kernel = is_used.any(0), motion.kernel
    if len(kernel) > side:
        kernel = place_at_origin(kernel, torch.Size((side, side)))
    along = np.fft.rfft(kernel.numpy(), side)[:, columns]
    transfer = np.fft.fft(along, side, axis=0)[is_used[:, columns]]
    return transfer.real**2 + transfer.imag**2


def measure_ringing(motion: Motion, x: Tensor) -> float:
    """By how much the inverse leaves [-1, 1], on average: a wrong direction rings."""
    middle = cut_middle(x, LONGEST_JUDGED)
    restored = motion.solve_proximal(middle, middle, 0.001)
    return float((restored.abs() - 1).clamp(min=0).mean())
