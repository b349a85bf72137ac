"""A picture seen through moving water: how its waves are measured, and how they are undone.

Light that leaves water is bent by the slope of its surface. So a wave shifts the picture back and
forth along the way it runs: it is stretched and squeezed in turn, and the directions of its
gradients swing with it. A peak in the Fourier transform of that swing begins a wave, and all waves
are refined together by maximum likelihood: directions that were spread evenly follow an angular
central Gaussian distribution after a linear map (Tyler, 1987).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.operators import Operator, conjugate_gradients
from dga.explanation.spectrum import Array
from dga.images import HALF_RANGE, cut_middle

WAVELENGTHS = 12.0, 31.0
"""Pixels between which waves are looked for."""
LEAST_PEAKS = 7.0, 5.0, 5.0
"""How far each wave that is looked for has to stand out of what swings across it: a multiple of its
root mean square."""
FIRST_SLOPES, MOST_SLOPE = (0.4, 1.1), 1.5
"""Shares by which a wave stretches the picture at most, from which it is refined, and the largest.
Beyond 1 the picture is folded; from one side of that the other is not reached."""
LEAST_GAIN, LEAST_GAIN_OF_WAVE = 0.045, 0.0165
"""By how much all waves, and each, have to raise the mean log likelihood of the directions."""
LEAST_FIRST_GAIN = 0.0075
"""By how much the first wave has to raise it before it is refined, which takes time: those of 160
rippled photographs raise it by 0.013 and more, of 30 undamaged ones with a peak 22 by less."""
TILES, LEAST_SHARE = 4, 0.93
"""Into how many tiles a side a picture is cut, and the share of them in which the likelihood has to
rise: a fence or a roof, which may look like waves, does not fill a picture."""
AGREEMENT = 0.15, 0.9
"""Between which the slope of the gradients' log power, which no wave is measured by, against what
the waves make of it has to lie: a printed pattern follows them wholly. Of 120 photographs none
passes all of these limits, as they are and as JPEG 85; of 40 under ripples 5, 4, 3 and 2, saved as
JPEG 85, 40, 39, 33 and 9 do."""
LEAST_GAP = 0.004
"""Cycles a pixel between two waves, at least; nearer ones are one."""
SHADING_SIGMA = 15.0
"""Deviation in pixels of the Gaussian beyond which gradients differ with what is shown."""
STEP, SAMPLES, LARGEST = 3, 12_000, 1024
"""Pixels between the places whose swing is transformed; how many pixels are refined with; and of
how many a side, at most, waves are measured in."""
LEAST_SIDE = 96
"""Pixels; a smaller picture has too few waves."""
BLUNTNESS = 0.02
"""Added to squares before their logarithm: blur and rounding dull the sharpest folds."""
PART_SIDE, MARGIN = 512, 64
"""Pixels a side of the parts in which a picture beyond :data:`LARGEST` is inverted, and around
each."""
WEIGHT, SOLVER_STEPS = 0.01, 12
"""Weight of the first estimate in the inverse, and how many steps conjugate gradients take."""


class Wave(NamedTuple):
    """Waves of one length and direction.

    ``down``, ``across``: their frequency in cycles a pixel; ``sway``: how far they shift the
    picture at most, in pixels; ``phase``: in radians, at the first pixel.
    """

    down: float
    across: float
    sway: float
    phase: float

    def move_origin(self, top: float, left: float) -> Wave:
        """The wave in a part of the picture that begins at a row and a column."""
        return self._replace(phase=self.phase + math.tau * (self.down * top + self.across * left))


@dataclass(frozen=True)
class Ripples(Operator):
    """Water in front of a picture, whose waves shift it."""

    waves: tuple[Wave, ...]
    kind = "ripples"

    def measure_strength(self, height: int = 0, width: int = 0) -> float:
        """The root mean square of the shift, in pixels."""
        return math.sqrt(sum(wave.sway**2 for wave in self.waves) / 2)

    def __str__(self) -> str:
        return f"seen through ripples that shift it by {self.measure_strength():.1f} px"

    def invert(self, y: Tensor) -> Tensor:
        """Each pixel is put back where it was; where none was seen, what came is kept."""
        if max(y.shape[1:]) > LARGEST:
            return self._invert_by_parts(y)
        rays = _Rays.trace(self.waves, y)
        weight = rays.put_back(torch.ones_like(y[:1]))
        estimate = (rays.put_back(y) + WEIGHT * y) / (weight + WEIGHT)
        return rays.solve_proximal(estimate, y, WEIGHT).clamp(-1, 1)

    def _invert_by_parts(self, y: Tensor) -> Tensor:
        """:meth:`invert` for a large picture, in a third of the time and little memory."""
        result = torch.empty_like(y)
        for top, left in itertools.product(*(range(0, side, PART_SIDE) for side in y.shape[1:])):
            bottom, right = top + PART_SIDE, left + PART_SIDE
            first_row, first_column = max(0, top - MARGIN), max(0, left - MARGIN)
            part = y[:, first_row : bottom + MARGIN, first_column : right + MARGIN]
            waves = tuple(wave.move_origin(first_row, first_column) for wave in self.waves)
            inverse = Ripples(waves).invert(part)[:, top - first_row :, left - first_column :]
            result[:, top:bottom, left:right] = inverse[:, :PART_SIDE, :PART_SIDE]
        return result

    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        return _Rays.trace(self.waves, y).solve_proximal(z, y, weight)


class _Rays(NamedTuple):
    """Which four pixels each pixel of a rippled picture shows, and how much of each.

    ``first``: the number of the upper left one, row by row, int64 ``[H W]``; ``shares``: of that,
    the one on its right, and the two below, 0 to 1, ``[4, H W]``; ``steps``: from the first to
    each.
    """

    first: Tensor
    shares: Tensor
    steps: tuple[int, int, int, int]

    @classmethod
    def trace(cls, waves: Iterable[Wave], y: Tensor) -> _Rays:
        """Those of ``[3, H, W]``, on its device; beyond its borders its mirror image is seen."""
        height, width = y.shape[-2:]
        rows, columns = np.arange(height)[:, None], np.arange(width)
        sources = np.zeros((2, height, width)) + np.broadcast_arrays(rows, columns)
        for down, across, sway, phase in waves:
            shift = sway * np.sin(math.tau * (down * rows + across * columns) + phase)
            length = math.hypot(down, across)
            for source, way in zip(sources, (down, across), strict=True):
                source += shift * way / length
        upper, low = _split_at_pixels(sources[0], height - 1)
        left, right = _split_at_pixels(sources[1], width - 1)
        products = [one * two for one in (1 - low, low) for two in (1 - right, right)]
        shares = torch.from_numpy(np.stack(products).reshape(4, -1))
        first = torch.from_numpy((upper * width + left).astype(np.int64).ravel())
        return cls(first.to(y.device), shares.to(y), (0, 1, width, width + 1))

    def look_through(self, x: Tensor) -> Tensor:
        """``[C, H, W]`` as it is seen through the water."""
        flat, first = x.flatten(-2), self.first.expand(len(x), -1)
        rays = zip(self.steps, self.shares, strict=True)
        return sum(flat[:, step:].gather(1, first) * share for step, share in rays).view_as(x)

    def put_back(self, y: Tensor, power: int = 1) -> Tensor:
        """The adjoint: for each pixel of ``[C, H, W]`` the sum of what it was seen as."""
        flat, first, total = y.flatten(-2), self.first.expand(len(y), -1), torch.zeros_like(y)
        for step, share in zip(self.steps, self.shares, strict=True):
            total.flatten(-2)[:, step:].scatter_add_(1, first, flat * share**power)
        return total

    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """:meth:`Operator.solve_proximal`."""
        diagonal = self.put_back(torch.ones_like(y[:1]), power=2) + weight
        return conjugate_gradients(
            lambda x: self.put_back(self.look_through(x)) + weight * x,
            z,
            residual=self.put_back(y - self.look_through(z)),
            steps=SOLVER_STEPS,
            precondition=lambda r: r / diagonal,
        )


def _split_at_pixels(places: Array, last: int) -> tuple[Array, Array]:
    """The pixel before each place along a side that ends at ``last``, and how far it lies beyond.

    Both of the shape of ``places``; the second is 0 to 1.
    """
    mirrored = last - np.abs(last - np.abs(places.clip(-last, 2 * last)))
    before = np.floor(mirrored).clip(0, last - 1)
    return before, mirrored - before


def find_ripples(x: Tensor) -> Ripples | None:
    """The ripples through which a picture, ``[3, H, W]`` in [-1, 1], was seen; None without any."""
    if min(x.shape[1:]) < LEAST_SIDE:
        return None
    middle = cut_middle(x, LARGEST)
    directions = _Directions.of(middle)
    sample, waves = directions.thin(), torch.zeros(0, 4, dtype=torch.float64)
    likelihood = likelihood_without = sample.measure_likelihood(waves)
    for least_peak in LEAST_PEAKS:
        starts = directions.find_peak(waves, least_peak)
        if not starts or (not len(waves) and not sample.is_raised_by(starts[0], likelihood)):
            break
        refinements = [sample.refine(torch.cat([waves, start[None]])) for start in starts]
        best, refined = max(refinements, key=lambda refinement: refinement[0])
        if not _is_plausible(refined) or best - likelihood < LEAST_GAIN_OF_WAVE:
            break
        waves, likelihood = refined, best
    if likelihood - likelihood_without < LEAST_GAIN or not directions.is_explained_by(waves):
        return None
    offsets = [
        -((side - cut) // 2) for side, cut in zip(x.shape[1:], middle.shape[1:], strict=True)
    ]
    moved = (Wave(*wave).move_origin(*offsets) for wave in waves.tolist())
    return Ripples(tuple(map(_round_wave, moved)))


def _is_plausible(waves: Tensor) -> bool:
    """Whether refined waves, ``[n, 4]``, kept to their range, and none lies upon another."""
    lengths = 1 / waves[:, :2].norm(dim=1)
    is_inside = (lengths > WAVELENGTHS[0]) & (lengths < WAVELENGTHS[1])
    is_inside &= math.tau / lengths * waves[:, 2].abs() < MOST_SLOPE + 0.1
    gaps = torch.pdist(torch.cat([waves[:, :2], -waves[:, :2]]))
    return bool(is_inside.all()) and float(gaps.min()) > LEAST_GAP


def _round_wave(wave: Wave) -> Wave:
    """The same wave, with a shift that is not negative, in as many digits as tell."""
    down, across, sway, phase = wave
    phase = (phase + math.pi * (sway < 0)) % math.tau
    return Wave(round(down, 6), round(across, 6), round(abs(sway), 2), round(phase, 2))


class _Stretch(NamedTuple):
    """Into what waves turn a small square at some pixels: 1 + the derivative of the shift.

    The elements of symmetric matrices, of one shape.
    """

    down: Tensor
    mixed: Tensor
    across: Tensor

    @classmethod
    def of(cls, waves: Tensor, rows: Tensor, columns: Tensor) -> _Stretch:
        frequencies = waves[:, :2]
        turns = math.tau * frequencies.norm(dim=1)
        phases = math.tau * (frequencies @ torch.stack([rows, columns]).flatten(1))
        slopes = (waves[:, 2] * turns)[:, None] * torch.cos(phases + waves[:, 3:])
        down, across = math.tau * frequencies.T / turns
        elements = torch.stack([down**2, down * across, across**2]) @ slopes
        first, mixed, last = elements.view(3, *rows.shape)
        return cls(1 + first, mixed, 1 + last)

    def undo(self, down: Tensor, across: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors as they were before, times the determinant."""
        return self.across * down - self.mixed * across, self.down * across - self.mixed * down

    def compute_log_determinant(self) -> Tensor:
        return ((self.down * self.across - self.mixed**2) ** 2 + BLUNTNESS).log() / 2


class _Band(NamedTuple):
    """The frequencies at which waves are looked for in a spectrum, ``[n]`` each.

    ``down``, ``across``: in cycles a pixel; ``numbers``, ``opposites``: of their values and of
    those at the opposite frequencies, row by row; ``turn``: what turns the swing along a wave to
    the real axis, and that across it to the imaginary one.
    """

    down: Array
    across: Array
    numbers: NDArray[np.int64]
    opposites: NDArray[np.int64]
    turn: NDArray[np.complex128]

    @classmethod
    @functools.lru_cache(maxsize=8)
    def of(cls, height: int, width: int) -> _Band:
        """Those of a spectrum of so many rows and columns."""
        down, across = np.meshgrid(
            *(np.fft.fftfreq(side, STEP) for side in (height, width)), indexing="ij"
        )
        length = 1 / np.hypot(down, across).clip(1e-9)
        rows, columns = np.nonzero((length > WAVELENGTHS[0]) & (length < WAVELENGTHS[1]))
        down, across = down[rows, columns], across[rows, columns]
        opposites = -rows % height * width + -columns % width
        turn = np.exp(-2j * np.arctan2(down, across))
        return cls(down, across, rows * width + columns, opposites, turn)


class _Directions(NamedTuple):
    """The gradients at some pixels: their unit vectors, weights and places, of one shape."""

    down: Tensor
    across: Tensor
    weight: Tensor
    log_power: Tensor
    rows: Tensor
    columns: Tensor

    @classmethod
    def of(cls, x: Tensor) -> _Directions:
        """Those of a picture, ``[3, H, W]`` in [-1, 1], smoothed by a Gaussian of 1 px."""
        grey = x.mean(0).double().numpy() * HALF_RANGE
        down, across = (scipy.ndimage.gaussian_filter(grey, 1, order) for order in ((1, 0), (0, 1)))
        power = down**2 + across**2
        weight = power / (power + np.median(power) / 2 + 0.25)
        length = np.sqrt(power) + 1e-9
        fields = down / length, across / length, weight, np.log(power + 1), *np.indices(grey.shape)
        return cls(*(torch.from_numpy(field).double() for field in fields))

    def thin(self) -> _Directions:
        """Those of about :data:`SAMPLES` pixels, flat."""
        stride = max(1, math.isqrt(self.weight.numel() // SAMPLES))
        return _Directions(*(field[::stride, ::stride].flatten() for field in self))

    def find_peak(self, waves: Tensor, least: float) -> list[Tensor]:
        """Where to begin to refine the wave that shows most beside ``waves``, ``[4]`` each.

        ``least``: by how much it has to stand out (:data:`LEAST_PEAKS`); none where none does.
        """
        down, across = _Stretch.of(waves, self.rows, self.columns).undo(self.down, self.across)
        swing = self.weight * torch.complex(across, down).sgn() ** 2
        swing = scipy.ndimage.uniform_filter(swing.numpy(), STEP)[::STEP, ::STEP]
        window = np.outer(*(np.hanning(side) for side in swing.shape))
        sides = [2 ** math.ceil(math.log2(2 * side)) for side in swing.shape]
        spectrum = np.fft.fft2((swing - swing.mean()) * window, sides).ravel()
        band = _Band.of(*sides)
        forwards, backwards = spectrum[band.numbers], spectrum[band.opposites].conj()
        along, beside = (
            band.turn * forwards + sign * band.turn.conj() * backwards for sign in (1, -1)
        )
        peaks = np.where(band.across >= 0, np.abs(along), 0)
        best = int(peaks.argmax())
        if not peaks[best] > least * np.sqrt((np.abs(beside) ** 2).mean()):
            return []
        frequency, phase = (band.down[best], band.across[best]), np.angle(along[best])
        sways = [slope / (math.tau * math.hypot(*frequency)) for slope in FIRST_SLOPES]
        return [torch.tensor([*frequency, sway, phase], dtype=torch.float64) for sway in sways]

    def compute_gains(self, waves: Tensor) -> Tensor:
        """The log likelihood of each direction seen through waves, but for a constant."""
        stretch = _Stretch.of(waves, self.rows, self.columns)
        down, across = stretch.undo(self.down, self.across)
        return stretch.compute_log_determinant() - (down**2 + across**2 + BLUNTNESS).log()

    def measure_likelihood(self, waves: Tensor) -> float:
        """The weighted mean of the log likelihood."""
        return float((self.weight * self.compute_gains(waves)).sum() / self.weight.sum())

    def is_raised_by(self, start: Tensor, likelihood: float) -> bool:
        """Whether a wave, ``[4]``, as it begins or half as strong, raises a likelihood enough."""
        gentle = start * torch.tensor([1, 1, 0.5, 1])
        best = max(self.measure_likelihood(wave[None]) for wave in (start, gentle))
        return best - likelihood >= LEAST_FIRST_GAIN

    def refine(self, waves: Tensor) -> tuple[float, Tensor]:
        """The likelihood and the waves near these, ``[n, 4]``, that make it largest (BFGS)."""
        scale = torch.tensor([1e-3, 1e-3, 0.3, 0.3], dtype=torch.float64)
        weight = self.weight / self.weight.sum()

        def compute_misfit(numbers: Array) -> tuple[float, Array]:
            point = torch.tensor(numbers, requires_grad=True)
            scaled = point.view(-1, 4) * scale
            slopes = math.tau * scaled[:, :2].norm(dim=1) * scaled[:, 2].abs()
            excess = (slopes - MOST_SLOPE).clamp(min=0).square().sum()
            cost = excess - (weight * self.compute_gains(scaled)).sum()
            (gradient,) = torch.autograd.grad(cost, point)
            return cost.item(), gradient.numpy()

        start, options = (waves / scale).flatten().numpy(), {"maxiter": 40}
        best = scipy.optimize.minimize(
            compute_misfit, start, jac=True, method="BFGS", options=options
        )
        return -float(best.fun), torch.from_numpy(best.x).view(-1, 4) * scale

    def is_explained_by(self, waves: Tensor) -> bool:
        """Whether waves raise the likelihood in nearly every part, and explain gradients' power."""
        seen = self.compute_gains(waves)
        gains = self.weight * (seen - self.compute_gains(waves[:0]))
        strips = gains.tensor_split(TILES, 0)
        tiles = [float(tile.sum()) for strip in strips for tile in strip.tensor_split(TILES, 1)]
        if sum(tile > 0 for tile in tiles) < LEAST_SHARE * len(tiles):
            return False
        expected = seen + _Stretch.of(waves, self.rows, self.columns).compute_log_determinant()
        fields = (field.numpy() for field in (expected, self.log_power))
        expected, power = (
            field - scipy.ndimage.gaussian_filter(field, SHADING_SIGMA) for field in fields
        )
        weighted = self.weight.numpy() * expected
        slope = float((weighted * power).sum() / (weighted * expected).sum())
        return AGREEMENT[0] < slope < AGREEMENT[1]
