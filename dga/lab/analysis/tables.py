"""Tables as people read them, in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.io.numbers import format_signed
from dga.lab.analysis.comparisons import Comparison
from dga.lab.analysis.names import format_group, format_method


def to_markdown(texts: pd.DataFrame) -> str:
    """A table of strings as Markdown."""
    head = [str(column) for column in texts.columns]
    rows = [head, ["---"] * len(head), *texts.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def tabulate_comparisons(rows: Iterable[Comparison]) -> str:
    """Rows of :func:`dga.lab.analysis.comparisons.compare_methods` as Markdown."""
    cells = [
        {
            "Method": format_method(row["method"]),
            "Against": format_method(row["other"]),
            "Pictures": format_group(row["group"]),
            "Right, %": f"{row['right']:.1f}",
            "Against, %": f"{row['other_right']:.1f}",
            "Difference, points": format_gain(row),
            "Gained / lost": f"{row['gained']} / {row['lost']}",
            "Seconds": f"{row['seconds']:.2f}",
            "Photographs": str(row["photographs"]),
        }
        for row in rows
    ]
    return to_markdown(pd.DataFrame(cells))


def format_gain(row: Comparison) -> str:
    """A difference and its interval in percentage points: ``+4.8 (+2.1 to +7.4)``."""
    value, low, high = (format_signed(row[name]) for name in ("gain", "gain_low", "gain_high"))
    return f"{value} ({low} to {high})"


def summarise_accuracy(lines: Sequence[Mapping[str, Any]], is_stream: bool = False) -> str:
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
