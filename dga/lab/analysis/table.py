"""A table as people read it, in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dga.io.numbers import format_signed
from dga.lab.analysis.statistics import Estimate

DASH = "\N{EN DASH}"
EMPTY_CELL = DASH
Cells = dict[str, str]
"""A row, by column."""


@dataclass(frozen=True)
class Table:
    """A table of strings, :data:`EMPTY_CELL` where nothing was measured.

    ``caption``: how to read it; ``commands``: those that made its data.
    """

    kind, ending = "table", "md"

    title: str
    caption: str
    rows: list[Cells]
    commands: tuple[str, ...]

    def to_markdown(self) -> str:
        """The title, the table and the caption, as Markdown."""
        table = to_markdown(pd.DataFrame(self.rows))
        return "\n".join([f"### {self.title}", "", table, "", self.caption, ""])

    def save(self, path: Path) -> None:
        """Write Markdown."""
        path.write_text(self.to_markdown(), encoding="utf-8")


def to_markdown(texts: pd.DataFrame) -> str:
    """A table of strings as Markdown."""
    head = [str(column) for column in texts.columns]
    rows = [head, ["---"] * len(head), *texts.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def format_estimate(estimate: Estimate | None, has_interval: bool = True) -> str:
    """An estimate of a share of 1 in percent: ``32.4 (30.1–34.6)``."""
    if estimate is None:
        return EMPTY_CELL
    text = f"{100 * estimate.value:.1f}"
    if has_interval:
        text += f" ({100 * estimate.low:.1f}{DASH}{100 * estimate.high:.1f})"
    return text


def format_points(estimate: Sequence[float] | None, scale: float = 100, digits: int = 1) -> str:
    """A difference and its interval in percentage points: ``+4.8 (+2.1 to +7.4)``."""
    if estimate is None:
        return EMPTY_CELL
    value, low, high = (format_signed(scale * v, digits) for v in estimate[:3])
    return f"{value} ({low} to {high})"
