"""A short table of a run, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES
from dga.evaluation.results_file import Line


def summarise(lines: Sequence[Line]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method; median t*."""
    frame = pd.DataFrame(lines)
    table = 100 * frame.pivot_table("correct", "corruption", "method", sort=False)
    methods = list(frame["method"].unique())
    adaptive = next((m for m in ("dga-plus", "dga-guided", "dga") if m in methods), None)
    groups = {name: [name] for name in table.index}
    groups |= {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    rows = [_row(["corruption", *methods, "median t*", "t* <= 4", "not crossed"])]
    rows.append("|" + "---|" * (len(methods) + 4))
    for title, group in groups.items():
        if not set(group) <= set(table.index):
            continue
        cells = [_number(table.loc[group, method].mean(skipna=False)) for method in methods]
        mine = frame[frame["corruption"].isin(group) & (frame["method"] == adaptive)]
        facts = ["", "", ""]
        if len(mine):
            low, late = (mine["depth"] <= 4).mean(), 1 - mine["crossed"].mean()
            facts = [f"{mine['depth'].median():.0f}", f"{low:.0%}", f"{late:.0%}"]
        rows.append(_row([title, *cells, *facts]))
    return "\n".join(rows)


def summarise_stream(lines: Sequence[Line]) -> str:
    """A Markdown table of a mixed stream: accuracy in percent by severity, family and method."""
    frame = pd.DataFrame(lines)
    methods = list(frame["method"].unique())
    groups = {"**all**": frame, CLEAN: frame[frame["corruption"] == CLEAN]}
    groups |= {f"severity {n}": frame[frame["severity"] == n] for n in SEVERITIES}
    groups |= {f: frame[frame["corruption"].isin(names)] for f, names in FAMILIES.items()}
    rows = [_row(["pictures", *methods]), "|" + "---|" * (len(methods) + 1)]
    for title, chosen in groups.items():
        if len(chosen):
            right = 100 * chosen.groupby("method")["correct"].mean()
            rows.append(_row([title, *(_number(right.get(m, float("nan"))) for m in methods)]))
    return "\n".join(rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    """With one decimal; nothing for what was not measured."""
    return "" if pd.isna(value) else f"{value:.1f}"
