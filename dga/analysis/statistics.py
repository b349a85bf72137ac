"""Paired bootstrap over photographs.

Intervals are percentile intervals of B. Efron, "Bootstrap methods: another look at
the jackknife", 1979. A photograph is resampled with all its corruptions and under all
methods, because its outcomes are anything but independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.analysis.names import GROUPS, in_order

RESAMPLES = 2000
LEVEL = 0.95
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, and over how many photographs it was taken."""

    value: float
    low: float
    high: float
    photographs: int


@dataclass(frozen=True)
class Outcomes:
    """``correct``: float32 ``[methods, C, P]``, 1 or 0, NaN where not measured."""

    methods: tuple[str, ...]
    corruptions: tuple[str, ...]
    photographs: tuple[str, ...]
    correct: Floats

    @classmethod
    def of(cls, lines: pd.DataFrame) -> Outcomes:
        """From lines with the columns path, corruption, method and correct."""
        methods = in_order(lines["method"])
        corruptions = list(dict.fromkeys(lines["corruption"]))
        photographs = sorted(set(lines["path"]))
        table = lines.pivot(index=["method", "corruption"], columns="path", values="correct")
        rows = pd.MultiIndex.from_product([methods, corruptions])
        correct = table.reindex(index=rows, columns=photographs).to_numpy(np.float32)
        correct = correct.reshape(len(methods), len(corruptions), len(photographs))
        return cls(tuple(methods), tuple(corruptions), tuple(photographs), correct)

    def values(self, method: str, corruptions: tuple[str, ...]) -> Floats:
        """Outcomes ``[C, P]`` of one method; NaN rows for corruptions it lacks."""
        absent = np.full(len(self.photographs), np.nan, np.float32)
        if method not in self.methods:
            return np.tile(absent, (len(corruptions), 1))
        rows = dict(zip(self.corruptions, self.correct[self.methods.index(method)], strict=True))
        return np.stack([rows.get(name, absent) for name in corruptions])

    def accuracy(self, method: str, group: str) -> Estimate | None:
        """Mean over a group of :data:`GROUPS`, in [0, 1].

        The mean of a group is the mean of its corruptions' accuracies. ``None``
        unless all of them were measured.
        """
        return estimate(self.values(method, GROUPS[group]))

    def difference(self, method: str, rival: str, group: str) -> Estimate | None:
        """``method`` minus ``rival`` on the images that both have; ``None`` as above."""
        corruptions = GROUPS[group]
        return estimate(self.values(method, corruptions) - self.values(rival, corruptions))


@lru_cache(maxsize=8)
def resample_weights(photographs: int, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """How often each resample draws each photograph, float32 ``[1 + resamples, P]``.

    The first row is the sample itself, every photograph once.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(photographs, np.full(photographs, 1 / photographs), size=resamples)
    weights = np.concatenate([np.ones((1, photographs)), drawn]).astype(np.float32)
    weights.flags.writeable = False
    return weights


def resampled_means(values: Floats, weights: Floats) -> NDArray[np.float64]:
    """Weighted means ``[R, C]`` of ``[C, P]`` under weights ``[R, P]``; NaN is left out."""
    measured = np.isfinite(values)
    total = weights @ np.where(measured, values, 0).T.astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total.astype(np.float64) / (weights @ measured.T.astype(np.float32))


def interval(draws: NDArray[np.float64], photographs: int) -> Estimate:
    """From ``[1 + resamples]``: the sample's own value first, then the resamples'.

    Resamples in which the value does not exist (NaN) are left out.
    """
    rest = draws[1:][np.isfinite(draws[1:])]
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    low, high = np.quantile(rest, tails) if len(rest) else (np.nan, np.nan)
    return Estimate(float(draws[0]), float(low), float(high), photographs)


def estimate(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Estimate | None:
    """Mean of the rows' means of ``[C, P]``; NaN where not measured.

    ``None`` where a row has no value at all.
    """
    if not np.isfinite(values).any(axis=1).all():
        return None
    values = values[:, np.isfinite(values).any(axis=0)]
    weights = resample_weights(values.shape[1], resamples, seed)
    return interval(resampled_means(values, weights).mean(axis=1), values.shape[1])
