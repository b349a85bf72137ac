"""One method against another, on the photographs that both have."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dga.corruptions import CLEAN
from dga.lab.analysis.statistics import Estimate, Floats, estimate_mean, is_in_group, list_members

Comparison = dict[str, Any]
"""A row of a comparison: JSON types by name, accuracies in percent and differences in points."""


def compare_methods(
    lines: pd.DataFrame, method: str, other: str, groups: Sequence[str], is_mixed: bool
) -> Iterator[Comparison]:
    """One method against another, a row for each group of corruptions or severities.

    Only photographs count that both methods read under every corruption that both have. ``lines``:
    with the columns of :class:`~dga.lab.analysis.saved_runs.Run`; ``is_mixed``: whether
    they are of a mixed stream, in which each photograph comes once.
    """
    pair = lines[lines["method"].isin((method, other))]
    pair = pair[pair.groupby(["corruption", "path"])["method"].transform("nunique") == 2]
    size = pair.groupby("path")["corruption"].transform("size")
    pair = pair[size == (2 if is_mixed else 2 * pair["corruption"].nunique())]
    if pair.empty:
        return
    measured = set(pair["corruption"])
    for group in groups:
        part = pair[is_in_group(pair, group)]
        members = [] if is_mixed else list(list_members(group, measured))
        if part.empty or not set(members) <= measured:
            continue
        both = part.pivot(index=["corruption", "path"], columns="method")
        right, other_right = (_read_outcomes(both, name, members) for name in (method, other))
        gain = estimate_mean(right - other_right)
        yield {
            "method": method,
            "other": other,
            "group": group,
            "photographs": gain.photographs,
            "pictures": len(both),
            **_to_percent(estimate_mean(right), "right"),
            **_to_percent(estimate_mean(other_right), "other_right"),
            **_to_percent(gain, "gain"),
            **_compare_pictures(both, method, other),
        }


def _read_outcomes(both: pd.DataFrame, method: str, corruptions: list[str]) -> Floats:
    """1 for right, 0 for wrong, by corruption and photograph ``[C, P]``; without any ``[1, P]``."""
    outcomes = both["correct"][method].astype(np.float32)
    if not corruptions:
        return outcomes.droplevel("corruption").sort_index().to_numpy()[None]
    return outcomes.unstack("path").loc[corruptions].to_numpy()


def _compare_pictures(both: pd.DataFrame, method: str, other: str) -> Comparison:
    """Counts and means over pictures; ``both``: a row for each, its columns by field and method."""
    is_right, is_other_right = (both["correct"][name] == 1 for name in (method, other))
    damaged = both[both.index.get_level_values("corruption") != CLEAN]
    return {
        "gained": int((is_right & ~is_other_right).sum()),
        "lost": int((is_other_right & ~is_right).sum()),
        "unchanged": int((both["unchanged"][method] == 1).sum()),
        "same_reading": int((both["prediction"][method] == both["prediction"][other]).sum()),
        "psnr": _mean(damaged["psnr"][method]),
        "other_psnr": _mean(damaged["psnr"][other]),
        "seconds": _mean(both["seconds"][method]),
    }


def _to_percent(estimate: Estimate, name: str) -> Comparison:
    """An estimate and its interval in percent, as the fields NAME, NAME_low and NAME_high."""
    names = (name, f"{name}_low", f"{name}_high")
    return {key: round(100 * value, 3) for key, value in zip(names, estimate[:3], strict=True)}


def _mean(values: pd.Series) -> float | None:
    mean = values.astype(float).mean()
    return None if pd.isna(mean) else round(mean, 3)
