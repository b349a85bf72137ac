"""A short table of a run, for the terminal."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.tables.table import to_markdown
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES
from dga.evaluation.results_file import ResultRow


def summarise(rows: Sequence[ResultRow]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method.

    Families and the mean of 15 stand there once all of theirs are measured.
    """
    frame = pd.DataFrame(rows)
    table = frame.pivot_table("correct", "corruption", "method", sort=False)
    groups = {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    means = {title: table.reindex(group).mean(skipna=False) for title, group in groups.items()}
    measured = pd.DataFrame(means).T.dropna(how="all")
    return _to_markdown(pd.concat([table, measured])[frame["method"].unique()], "corruption")


def summarise_stream(rows: Sequence[ResultRow]) -> str:
    """A Markdown table of a mixed stream: accuracy in percent by severity, family and method."""
    frame = pd.DataFrame(rows)
    groups = {"**all**": frame, CLEAN: frame[frame["corruption"] == CLEAN]}
    groups |= {f"severity {n}": frame[frame["severity"] == n] for n in SEVERITIES}
    groups |= {f: frame[frame["corruption"].isin(names)] for f, names in FAMILIES.items()}
    means = {t: part.groupby("method")["correct"].mean() for t, part in groups.items() if len(part)}
    return _to_markdown(pd.DataFrame(means).T[frame["method"].unique()], "pictures")


def _to_markdown(shares: pd.DataFrame, head: str) -> str:
    """Percentages with one decimal; nothing for what was not measured."""
    texts = (100 * shares.astype(float)).map("{:.1f}".format).replace("nan", "")
    return to_markdown(texts.rename_axis(head).reset_index())
