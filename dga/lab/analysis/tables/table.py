"""A table as people read it (Markdown) and as numbers (CSV)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dga.io.numbers import format_signed
from dga.lab.analysis.statistics import Estimate

DASH = "\N{EN DASH}"
EMPTY_CELL = DASH
Cells = dict[str, Any]
"""A row, by column."""


@dataclass(frozen=True)
class Table:
    """``texts``: strings, :data:`EMPTY_CELL` where nothing was measured; ``numbers``: the
    same and more as numbers, empty where nothing was measured; ``commands`` made it.
    """

    title: str
    caption: str
    texts: pd.DataFrame
    numbers: pd.DataFrame
    commands: tuple[str, ...]

    def to_markdown(self) -> str:
        """Title, table, caption."""
        return "\n".join([f"### {self.title}", "", to_markdown(self.texts), "", self.caption, ""])

    def write(self, folder: Path, name: str) -> dict[str, Path]:
        """``NAME.md`` and ``NAME.csv`` in ``folder``; returns their paths by ending."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = {ending: folder / f"{name}.{ending}" for ending in ("md", "csv")}
        paths["md"].write_text(self.to_markdown(), encoding="utf-8")
        self.numbers.to_csv(paths["csv"], index=False, lineterminator="\n", encoding="utf-8")
        return paths


def to_markdown(texts: pd.DataFrame) -> str:
    """A table of strings as Markdown."""
    head = [str(column) for column in texts.columns]
    rows = [head, ["---"] * len(head), *texts.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


@dataclass
class Rows:
    """A table's rows as they are added: as people read them, and as numbers."""

    texts: list[Cells] = field(default_factory=list)
    numbers: list[Cells] = field(default_factory=list)

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Texts and numbers as data frames, for :class:`Table`."""
        return pd.DataFrame(self.texts), pd.DataFrame(self.numbers)


def format_estimate(estimate: Estimate | None, interval: bool = True) -> str:
    """``32.4 (30.1–34.6)`` from shares of 1."""
    if estimate is None:
        return EMPTY_CELL
    text = f"{100 * estimate.value:.1f}"
    if interval:
        text += f" ({100 * estimate.low:.1f}{DASH}{100 * estimate.high:.1f})"
    return text


def format_points(estimate: Estimate | None, scale: float = 100, digits: int = 1) -> str:
    """A difference in percentage points: ``+4.8 (+2.1 to +7.4)``."""
    if estimate is None:
        return EMPTY_CELL
    bounds = (estimate.value, estimate.low, estimate.high)
    value, low, high = (format_signed(scale * v, digits) for v in bounds)
    return f"{value} ({low} to {high})"


def format_paper_value(value: float | None) -> str:
    """The paper's two decimals as whole percent."""
    return EMPTY_CELL if value is None else f"{100 * value:.0f}"


def to_paper_column(value: float | None) -> float | None:
    """The paper's share of 1 as a percentage for the CSV."""
    return None if value is None else round(100 * value, 3)


def to_columns(
    estimate: Estimate | None, name: str = "accuracy", scale: float = 100, count: bool = True
) -> Cells:
    """An estimate as CSV columns: in percent (or points), with its interval.

    ``count``: and over how many photographs.
    """
    cells: Cells = dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    if estimate is not None:
        bounds = (estimate.value, estimate.low, estimate.high)
        cells = {key: round(scale * v, 3) for key, v in zip(cells, bounds, strict=True)}
    if count:
        cells["photographs"] = None if estimate is None else estimate.photographs
    return cells
