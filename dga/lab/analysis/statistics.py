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


class CorrectTable:
    """Accuracies of methods, from lines with the columns path, corruption, method and correct.

    They are asked for by group. A group is a name in :data:`~dga.lab.analysis.names.GROUPS`, and
    its value is the mean of the accuracies of its corruptions. On a mixed stream (``is_mixed``),
    in which every photograph comes once, it is a part of the photographs: one of
    :data:`~dga.lab.analysis.names.STREAM_GROUPS`.
    """

    def __init__(self, lines: pd.DataFrame, is_mixed: bool = False) -> None:
        rows = ["method"] if is_mixed else ["method", "corruption"]
        table = lines.pivot(index=rows, columns="path", values="correct")
        self._correct = table.astype(np.float32)  # NaN where not measured
        self._stream = None
        if is_mixed:
            self._stream = lines.drop_duplicates("path").set_index("path").loc[table.columns]

    def estimate_accuracy(self, method: str, group: str) -> Estimate | None:
        """Mean over a group, in [0, 1]; None unless all of its corruptions were measured."""
        return estimate_mean(self._values(method, group))

    def estimate_difference(self, method: str, rival: str, group: str) -> Estimate | None:
        """``method`` minus ``rival`` on the images that both have; None as above."""
        return estimate_mean(self._values(method, group) - self._values(rival, group))

    def _values(self, method: str, group: str) -> Floats:
        """1, 0 or NaN by corruption and photograph, ``[C, P]``; of a stream ``[1, P]``."""
        if self._stream is not None:
            return self._correct.loc[[method]].to_numpy()[:, is_in_group(self._stream, group)]
        measured = self._correct.index.unique("corruption")
        rows = pd.MultiIndex.from_product([[method], list_members(group, measured)])
        return self._correct.reindex(rows).to_numpy()


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


def estimate_mean(values: Floats) -> Estimate | None:
    """The mean of the means of the rows of ``[C, P]``, which hold NaN where nothing was measured.

    None where a row has no value at all; resamples without a value are left out.
    """
    is_measured = np.isfinite(values)
    if not is_measured.any(axis=1).all():
        return None
    has_any = is_measured.any(axis=0)
    values, is_measured = values[:, has_any], is_measured[:, has_any]
    weights = draw_resamples(values.shape[1])  # [R, P]
    totals = weights @ np.where(is_measured, values, 0).T.astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals.astype(np.float64) / (weights @ is_measured.T.astype(np.float32))  # [R, C]
    draws = means.mean(axis=1)
    low, high = np.nanquantile(draws[1:], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Estimate(float(draws[0]), float(low), float(high), values.shape[1])
