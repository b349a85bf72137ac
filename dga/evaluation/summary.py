"""A short table of a run, for the terminal."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.tables.table import to_markdown
from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.evaluation.results_file import ResultLine


def summarise(lines: Sequence[ResultLine], is_stream: bool = False) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method.

    Families and the mean of 15 stand there once all of theirs are measured; of a mixed stream
    also the accuracy on all of it.
    """
    frame = pd.DataFrame(lines)
    table = frame.pivot_table("correct", "corruption", "method", sort=False)
    groups = {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    means = {title: table.reindex(group).mean(skipna=False) for title, group in groups.items()}
    if is_stream:
        means["**all**"] = frame.groupby("method")["correct"].mean()
    measured = pd.DataFrame(means).T.dropna(how="all")
    shares = pd.concat([table, measured])[frame["method"].unique()]
    texts = (100 * shares.astype(float)).map("{:.1f}".format).replace("nan", "")
    return to_markdown(texts.rename_axis("corruption").reset_index())
