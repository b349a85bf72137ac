"""A camera that shook: motion along an arc during the exposure, and how it is measured.

A hand moves the picture along a short path whose direction turns and whose speed changes: to second
order an arc of one curvature. Its |H|^2 is looked for in the power spectrum beside a law that
depends on direction, as that of even motion is (:mod:`dga.explanation.motion`). A path that is
turned has a spectrum that is turned, so that on a polar grid one correlation compares all
directions; the best arcs are refined. A path and its reflection at a point have the same spectrum;
the inverse of the right one nearly always rings less.
"""

import functools
import math
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np
import scipy
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.exposure import find_range
from dga.explanation.motion import ERASED, LONGEST_JUDGED, measure_ringing
from dga.explanation.operators import ArcMotion, trace_arc
from dga.explanation.spectrum import Array, Fit, Residual
from dga.images import cut_middle

Spectra = NDArray[np.complex64]
LENGTHS, TURNS = 6 * 1.09 ** np.arange(20), np.radians(np.linspace(0, 183, 10))
SKEWS, ANGLES = (-0.6, -0.2, 0.2, 0.6), np.radians(np.arange(0, 180, 3.75))
"""Arcs that are tried first: pixels, radians, changes of the speed, and directions in radians."""
RING_STEP = 0.005
RINGS = np.arange(0.0225, 0.22, RING_STEP)
"""Cycles a pixel of the polar grid's rings."""
HIGHEST = 0.3
"""Cycles a pixel up to which arcs are refined; above, what an arc leaves is too fine."""
POINTS = 24
"""Of a path, by which its transfer function is computed."""
BRANCHES, BRANCH_STEPS, BEST_STEPS = 6, 80, 120
"""How many of the best arcs are refined, in how many trials each, and the best of them again."""
LEAST_SIDE = 160
"""Pixels; of fewer frequencies some arc explains enough by chance."""
LEAST_COARSE_SHARE = 0.022
"""Share that the best arc on the grid has to reach, or none is refined."""
CERTAIN_ARC = 0.03, 0.65
"""Share and slope from which an arc is certain."""
MOST_RINGING = 0.04
"""Ringing below which it is. Of 115 shaken pictures three have more; of 808 undamaged ones none has
less than 0.078 and passes all else."""
LEAST_TURN, MOST_TURN, MOST_CERTAIN_SKEW, SHORTEST = 25.0, 200.0, 0.9, 7.5
"""Degrees between which an arc turns, most change of its speed, and least length in pixels: what
rain, edges and a small lens leave looks like other arcs."""
LENGTH_RANGE, TURN_RANGE, MOST_SKEW = (3.0, 40.0), (-0.5, 3.6), 0.95
"""Pixels, radians and change of speed beyond which no arc is looked for."""


def find_arc(power: Array, x: Tensor) -> ArcMotion | None:
    """The arc that is certain; None where none is.

    ``power``: of :func:`~dga.explanation.spectrum.compute_power_spectrum` of ``x``,
    ``[3, H, W]``.
    """
    fit = fit_arc(power)
    if fit is None or not fit.exceeds(CERTAIN_ARC):
        return None
    arc = fit.operator
    is_curved = LEAST_TURN < abs(arc.turn) < MOST_TURN and abs(arc.skew) < MOST_CERTAIN_SKEW
    if not is_curved or arc.length < SHORTEST:
        return None
    pair, whole = (arc, arc.mirror()), _stretch(cut_middle(x, LONGEST_JUDGED))
    ringing = [measure_ringing(one, whole) for one in pair]
    return pair[ringing.index(min(ringing))] if min(ringing) < MOST_RINGING else None


def _stretch(x: Tensor) -> Tensor:
    """A picture over the whole of [-1, 1], so that a flat one rings as far beyond as others do."""
    low, high = find_range(x)
    return (2 * (x - low) / max(high - low, 1e-3) - 1).clamp(-1, 1)


def fit_arc(power: Array) -> Fit[ArcMotion] | None:
    """The arc that explains a power spectrum best, or its reflection.

    None where none explains much, too little of the picture is above the noise, or it is small.
    """
    if len(power) < LEAST_SIDE:
        return None
    coarse, residual = Residual.of(power, RINGS[-1]), Residual.of(power, HIGHEST)
    if coarse is None or residual is None:
        return None
    grid = _Grid.of(residual)
    arcs = [grid.refine(arc, 1.0, BRANCH_STEPS) for arc in _list_best(coarse)]
    if not arcs:
        return None
    best = grid.refine(max(arcs, key=lambda arc: grid.explain(arc)[0]), 0.5, BEST_STEPS)
    share, slope = grid.explain(best)
    length, turn, angle, skew = best.tolist()
    turn, angle = math.degrees(turn), math.degrees(angle) % 360
    arc = ArcMotion(round(length, 2), round(turn, 1), round(angle, 1), round(skew, 2))
    return Fit(arc, share, slope)


def _list_best(residual: Residual) -> list[Array]:
    """The best arcs of the polar grid: length, turn, angle, skew, each ``[4]``, in radians.

    None at all where even the best explains too little.
    """
    family, spectra, energies = _make_family()
    ring = ((np.hypot(residual.down, residual.across) - RINGS[0]) / RING_STEP).round().astype(int)
    direction = np.arctan2(residual.down, residual.across) / (ANGLES[1] - ANGLES[0])
    cell = ring.clip(0, len(RINGS) - 1) * len(ANGLES) + direction.round().astype(int) % len(ANGLES)

    def correlate(tables: Spectra, columns: Array) -> Array:
        """The sums of all tables times ``columns``, ``[n, c]``: ``[directions, m, c]``."""
        totals = [np.bincount(cell, one, len(RINGS) * len(ANGLES)) for one in columns.T]
        grid = np.stack(totals, 1).reshape(len(RINGS), len(ANGLES), -1)
        turned = np.fft.rfft(grid, axis=1).swapaxes(0, 1).astype(np.complex64)
        return np.fft.irfft(tables.conj() @ turned, len(ANGLES), axis=0)

    sums = correlate(spectra, np.column_stack([residual.target, residual.basis]))
    products, energy = sums[..., 0], correlate(energies, np.ones((len(cell), 1)))[..., 0]
    energy = np.maximum(energy - (sums[..., 1:] ** 2).sum(-1), 1e-9) * residual.power
    shares = np.where(products > 0, products**2 / energy, 0)  # [directions, m]
    if shares.max() < LEAST_COARSE_SHARE:
        return []
    best = np.argsort(-shares.max(0))[:BRANCHES]
    return [np.insert(family[i], 2, ANGLES[shares[:, i].argmax()]) for i in best]


@functools.lru_cache(maxsize=1)
def _make_family() -> tuple[Array, Spectra, Spectra]:
    """Lengths, turns and skews of the arcs that are tried, ``[m, 3]``, and the Fourier transforms
    over directions of their log power on the polar grid and of its square, ``[k, m, rings]``."""
    family = np.array(list(product(LENGTHS, TURNS, SKEWS)))
    down, across = (RINGS[:, None] * wave(ANGLES) for wave in (np.sin, np.cos))
    at = down.ravel(), across.ravel()
    tables = [_draw_log_power(*at, *np.insert(arc, 2, 0.0)) for arc in family]
    grid = np.stack(tables).reshape(len(family), len(RINGS), len(ANGLES))
    spectra, energies = (
        np.fft.rfft(table).transpose(2, 0, 1).astype(np.complex64) for table in (grid, grid**2)
    )
    return family, spectra, energies


def _draw_log_power(
    down: Array, across: Array, length: float, turn: float, angle: float, skew: float
) -> Array:
    """log |H|^2 of an arc at frequencies in cycles a pixel, ``[n]``."""
    rows, columns, light = trace_arc(length, turn, angle, skew, POINTS)
    phases = np.outer(math.tau * down, rows) + np.outer(math.tau * across, columns)
    phases, light = phases.astype(np.float32), light.astype(np.float32)
    return np.log((np.cos(phases) @ light) ** 2 + (np.sin(phases) @ light) ** 2 + ERASED)


@dataclass(frozen=True)
class _Grid:
    """A residual whose frequencies lie on a grid: one product of matrices gives H at all of them.

    ``down``, ``across``: the grid's cycles a pixel; ``place``: where the frequencies are, by rows.
    """

    residual: Residual
    down: Array
    across: Array
    place: NDArray[np.int64]

    @classmethod
    def of(cls, residual: Residual) -> Self:
        """The grid of a residual's frequencies."""
        down, row = np.unique(residual.down, return_inverse=True)
        across, column = np.unique(residual.across, return_inverse=True)
        return cls(residual, down, across, row * len(across) + column)

    def explain(self, arc: Array) -> tuple[float, float]:
        """Share and slope of an arc: length, turn, angle, skew, in radians."""
        length, turn, angle, skew = arc.tolist()
        rows, columns, light = trace_arc(length, turn, angle, skew, POINTS)
        down = np.exp(1j * math.tau * np.outer(self.down, rows))
        across = np.exp(1j * math.tau * np.outer(self.across, columns))
        transfer = ((down * light) @ across.T).ravel()[self.place]
        return self.residual.explain(np.log(transfer.real**2 + transfer.imag**2 + ERASED))

    def refine(self, arc: Array, scale: float, steps: int) -> Array:
        """The best arc near this one (Nelder and Mead, 1965)."""

        def misfit(tried: Array) -> float:
            is_allowed = LENGTH_RANGE[0] < tried[0] < LENGTH_RANGE[1]
            is_allowed &= TURN_RANGE[0] < tried[1] < TURN_RANGE[1] and abs(tried[3]) < MOST_SKEW
            return -self.explain(tried)[0] if is_allowed else 0.0

        simplex = arc + scale * np.diag([0.06 * arc[0], 0.3, 0.06, 0.25])
        options = {"maxfev": steps, "initial_simplex": np.concatenate([arc[None], simplex])}
        return scipy.optimize.minimize(misfit, arc, method="Nelder-Mead", options=options).x
