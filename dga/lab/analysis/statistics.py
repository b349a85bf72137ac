"""Paired bootstrap over photographs.

Intervals are percentile intervals of B. Efron, "Bootstrap methods: another look at
the jackknife", 1979. A photograph is resampled with all its corruptions and under all
methods, because its outcomes are anything but independent.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.corruptions import CLEAN
from dga.lab.analysis.names import ALL, GROUPS, MEAN

RESAMPLES = 2000
LEVEL = 0.95
Floats = NDArray[np.float32]


class Estimate(NamedTuple):
    """A mean, its 95 % interval, and the number of photographs over which it was taken."""

    value: float
    low: float
    high: float
    photographs: int


def is_in_group(lines: pd.DataFrame, group: str) -> pd.Series:
    """Which lines belong to a group; a digit is a severity."""
    if group.isdigit():
        return lines["severity"] == int(group)
    names = list_members(group, lines["corruption"].unique())
    return lines["corruption"].isin(names) | (group == ALL)


def list_members(group: str, measured: Iterable[str]) -> tuple[str, ...]:
    """The kinds of damage in a group; ``mean`` has all that were measured where none is its own."""
    names = GROUPS.get(group, (group,))
    if group == MEAN and not set(names) & set(measured):
        return tuple(sorted({*measured} - {CLEAN}))
    return names


@lru_cache(maxsize=8)
def draw_resamples(photographs: int) -> Floats:
    """How often each resample draws each photograph, float32 ``[1 + RESAMPLES, P]``.

    The first row is the sample itself, every photograph once.
    """
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(photographs, np.full(photographs, 1 / photographs), size=RESAMPLES)
    weights = np.concatenate([np.ones((1, photographs)), drawn]).astype(np.float32)
    weights.flags.writeable = False
    return weights


def estimate_mean(values: Floats) -> Estimate:
    """The mean of outcomes by corruption and photograph, ``[C, P]``."""
    photographs = values.shape[1]
    totals = draw_resamples(photographs) @ values.T.astype(np.float32)  # [R, C]
    draws = (totals.astype(np.float64) / photographs).mean(axis=1)
    low, high = np.quantile(draws[1:], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Estimate(float(draws[0]), float(low), float(high), photographs)
