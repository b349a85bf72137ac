"""One method against another, on the photographs that both have."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from dga.corruptions import CLEAN, FAMILIES
from dga.lab.analysis.names import MEAN, STREAM_GROUPS, MethodName, format_group, format_method
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.statistics import CorrectTable, Estimate, is_in_group
from dga.lab.analysis.table import EMPTY_CELL, Cells, Table, format_points

COMPARED_METHODS = ("dga-plus", "dga-plus+tent", "dga-guided")
"""The methods of which the table of comparisons holds each against every other one."""
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
    table = CorrectTable(pair, is_mixed)
    for group in groups:
        gain = table.estimate_difference(method, other, group)
        if gain is None:
            continue
        part = pair[is_in_group(pair, group)]
        both = part.pivot(index=["corruption", "path"], columns="method")
        yield {
            "method": method,
            "other": other,
            "group": group,
            "photographs": gain.photographs,
            "pictures": len(both),
            **_to_percent(table.estimate_accuracy(method, group), "right"),
            **_to_percent(table.estimate_accuracy(other, group), "other_right"),
            **_to_percent(gain, "gain"),
            **_compare_pictures(both, method, other),
        }


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


def _to_percent(estimate: Estimate | None, name: str) -> Comparison:
    """An estimate and its interval in percent, as the fields NAME, NAME_low and NAME_high."""
    names = (name, f"{name}_low", f"{name}_high")
    if estimate is None:
        return dict.fromkeys(names)
    return {key: round(100 * value, 3) for key, value in zip(names, estimate[:3], strict=True)}


def _mean(values: pd.Series) -> float | None:
    mean = values.astype(float).mean()
    return None if pd.isna(mean) else round(mean, 3)


def format_gain(row: Comparison) -> str:
    """The difference of :func:`compare_methods` in points: ``+4.8 (+2.1 to +7.4)``."""
    return format_points((row["gain"], row["gain_low"], row["gain_high"]), scale=1)


def make_comparisons(pooled: PooledRuns) -> Table:
    """A table of the differences between methods, on all corruptions and by family.

    Of a mixed stream also by severity. Raises :class:`MissingRun` where no method that is compared
    stands beside another one.
    """
    pairs = dict.fromkeys(_list_pairs(pooled))
    if not pairs:
        raise MissingRun("no run of dga-plus or dga-guided beside other methods")
    groups, lines = STREAM_GROUPS, pooled.lines
    if not pooled.stream:
        groups, lines = (MEAN, *FAMILIES), lines[is_in_group(lines, MEAN)]
    rows = list[Cells]()
    for method, rival in pairs:
        compared = compare_methods(lines, method, rival, groups, bool(pooled.stream))
        gains = {row["group"]: format_gain(row) for row in compared}
        texts = {format_group(group): gains.get(group, EMPTY_CELL) for group in groups}
        rows.append({"Method": format_method(method), "Minus": format_method(rival), **texts})
    return Table(
        f"{format_method(next(iter(pairs))[0])} against each rival, {pooled.description}",
        "Difference in accuracy in points, with 95 % intervals (paired bootstrap over "
        "photographs), on photographs that both have under every corruption. Above 0, the method "
        "of the first column is ahead; an interval that holds 0 decides nothing. Permuted: each "
        "picture gets the choice made for another one of its batch.",
        rows,
        pooled.list_commands(name for pair in pairs for name in pair),
    )


def _list_pairs(pooled: PooledRuns) -> Iterator[tuple[str, str]]:
    """The pairs of methods whose difference is tabled, some of them twice.

    These are ours and each rival; a pair of repair and reader, and either part of it; DGA+, and
    DGA+ without a stage; a method, and its permuted control.
    """
    methods = pooled.methods_to_compare
    for method in COMPARED_METHODS:
        if method in methods:
            yield from ((method, rival) for rival in methods if rival != method)
    for name in map(MethodName.parse, pooled.methods):
        yield from ((name.name, part) for part in name.parts if part in pooled.methods)
        if name.is_permuted and name.without_permutation in pooled.methods:
            yield name.without_permutation, name.name
        elif name.is_plus_changed and name.base in pooled.methods:
            yield name.base, name.name
