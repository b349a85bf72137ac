"""A short table of a run, for the terminal."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.tables.table import to_markdown
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES
from dga.evaluation.results_file import ResultRow


def summarise(rows: Sequence[ResultRow]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method; median t*.

    Families and the mean of 15 stand there once all of theirs are measured.
    """
    frame = pd.DataFrame(rows)
    table = frame.pivot_table("correct", "corruption", "method", sort=False)
    methods = list(frame["method"].unique())
    adaptive = next((m for m in ("dga-plus", "dga-guided", "dga") if m in methods), None)
    groups = {name: [name] for name in table.index}
    groups |= {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    lines = []
    for title, group in groups.items():
        if not set(group) <= set(table.index):
            continue
        line = {"corruption": title, **_percents(table.loc[group, methods].mean(skipna=False))}
        mine = frame[frame["corruption"].isin(group) & (frame["method"] == adaptive)]
        if len(mine):
            line["median t*"] = f"{mine['depth'].median():.0f}"
            line["t* <= 4"] = f"{(mine['depth'] <= 4).mean():.0%}"
            line["not crossed"] = f"{1 - mine['crossed'].mean():.0%}"
        lines.append(line)
    return to_markdown(pd.DataFrame(lines).fillna(""))


def summarise_stream(rows: Sequence[ResultRow]) -> str:
    """A Markdown table of a mixed stream: accuracy in percent by severity, family and method."""
    frame = pd.DataFrame(rows)
    groups = {"**all**": frame, CLEAN: frame[frame["corruption"] == CLEAN]}
    groups |= {f"severity {n}": frame[frame["severity"] == n] for n in SEVERITIES}
    groups |= {f: frame[frame["corruption"].isin(names)] for f, names in FAMILIES.items()}
    methods = frame["method"].unique()
    lines = [
        {"pictures": title, **_percents(part.groupby("method")["correct"].mean().reindex(methods))}
        for title, part in groups.items()
        if len(part)
    ]
    return to_markdown(pd.DataFrame(lines))


def _percents(shares: pd.Series) -> dict[str, str]:
    """Percentages by method, with one decimal; nothing for what was not measured."""
    return {name: "" if pd.isna(share) else f"{100 * share:.1f}" for name, share in shares.items()}
