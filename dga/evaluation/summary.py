"""A short table of a run, for the terminal."""

from collections.abc import Sequence

import pandas as pd

from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES
from dga.evaluation.results_file import ResultRow


def summarise(rows: Sequence[ResultRow]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method; median t*.

    Families and the mean of 15 stand there once all of theirs are measured.
    """
    frame = pd.DataFrame(rows)
    table = 100 * frame.pivot_table("correct", "corruption", "method", sort=False)
    methods = list(frame["method"].unique())
    adaptive = next((m for m in ("dga-plus", "dga-guided", "dga") if m in methods), None)
    groups = {name: [name] for name in table.index}
    groups |= {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    shown = {}
    for title, group in groups.items():
        if set(group) <= set(table.index):
            facts = ["", "", ""]
            mine = frame[frame["corruption"].isin(group) & (frame["method"] == adaptive)]
            if len(mine):
                low, late = (mine["depth"] <= 4).mean(), 1 - mine["crossed"].mean()
                facts = [f"{mine['depth'].median():.0f}", f"{low:.0%}", f"{late:.0%}"]
            shown[title] = [*_numbers(table.loc[group, methods].mean(skipna=False)), *facts]
    return _markdown(["corruption", *methods, "median t*", "t* <= 4", "not crossed"], shown)


def summarise_stream(rows: Sequence[ResultRow]) -> str:
    """A Markdown table of a mixed stream: accuracy in percent by severity, family and method."""
    frame = pd.DataFrame(rows)
    methods = list(frame["method"].unique())
    groups = {"**all**": frame, CLEAN: frame[frame["corruption"] == CLEAN]}
    groups |= {f"severity {n}": frame[frame["severity"] == n] for n in SEVERITIES}
    groups |= {f: frame[frame["corruption"].isin(names)] for f, names in FAMILIES.items()}
    shown = {
        title: _numbers(100 * own.groupby("method")["correct"].mean().reindex(methods))
        for title, own in groups.items()
        if len(own)
    }
    return _markdown(["pictures", *methods], shown)


def _markdown(head: Sequence[str], rows: dict[str, list[str]]) -> str:
    lines = [head, *([title, *cells] for title, cells in rows.items())]
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([first, "|" + "---|" * len(head), *others])


def _numbers(values: pd.Series) -> list[str]:
    """With one decimal; nothing for what was not measured."""
    return ["" if pd.isna(value) else f"{value:.1f}" for value in values]
