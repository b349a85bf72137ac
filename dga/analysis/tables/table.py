"""A table as people read it (Markdown) and as numbers (CSV)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dga.analysis.names import group_title
from dga.analysis.statistics import Estimate

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
NOTHING = DASH
Cells = dict[str, Any]
"""A row, by column."""


@dataclass(frozen=True)
class Table:
    """``shown``: strings, :data:`NOTHING` where nothing was measured; ``numbers``: the
    same and more as numbers, empty where nothing was measured; ``commands`` made it;
    ``missing``: what was not run.
    """

    name: str
    title: str
    caption: str
    shown: pd.DataFrame
    numbers: pd.DataFrame
    commands: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Title, table, caption."""
        head = [str(column) for column in self.shown.columns]
        rows = [head, ["---"] * len(head), *self.shown.astype(str).to_numpy().tolist()]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([f"### {self.title}", "", *lines, "", self.caption, ""])

    def write(self, folder: Path) -> dict[str, Path]:
        """``NAME.md`` and ``NAME.csv`` in ``folder``; returns their paths by ending."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = {ending: folder / f"{self.name}.{ending}" for ending in ("md", "csv")}
        paths["md"].write_text(self.to_markdown(), encoding="utf-8")
        self.numbers.to_csv(paths["csv"], index=False, lineterminator="\n", encoding="utf-8")
        return paths


@dataclass
class Rows:
    """A table's rows as they are added: as people read them, and as numbers."""

    shown: list[Cells] = field(default_factory=list)
    numbers: list[Cells] = field(default_factory=list)

    def add(self, shown: Cells, numbers: Cells) -> None:
        """One row of each."""
        self.shown.append(shown)
        self.numbers.append(numbers)

    def add_groups(
        self,
        head: Cells,
        key: Cells,
        estimates: Mapping[str, Estimate | None],
        texts: Mapping[str, str],
        name: str = "accuracy",
    ) -> None:
        """``head`` and a text a group make one shown row; ``key`` begins a numbers row a group."""
        self.shown.append({**head, **{group_title(g): text for g, text in texts.items()}})
        self.numbers += [
            {**key, "group": group, **columns(estimate, name)}
            for group, estimate in estimates.items()
        ]

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Both, for :class:`Table`."""
        return pd.DataFrame(self.shown), pd.DataFrame(self.numbers)


def percent(estimate: Estimate | None, interval: bool = True) -> str:
    """``32.4 (30.1–34.6)`` from shares of 1."""
    if estimate is None:
        return NOTHING
    text = f"{100 * estimate.value:.1f}"
    if interval:
        text += f" ({100 * estimate.low:.1f}{DASH}{100 * estimate.high:.1f})"
    return text


def points(estimate: Estimate | None, scale: float = 100, digits: int = 1) -> str:
    """A difference in percentage points: ``+4.8 (+2.1 to +7.4)``."""
    if estimate is None:
        return NOTHING
    bounds = (estimate.value, estimate.low, estimate.high)
    value, low, high = (signed(scale * v, digits) for v in bounds)
    return f"{value} ({low} to {high})"


def signed(value: float, digits: int = 1) -> str:
    """With its sign (a true minus): ``+4.8``; ``0.0`` has none."""
    text = f"{value:+.{digits}f}".replace("-", MINUS)
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text


def correlation(estimate: Estimate | None) -> str:
    """``+0.31 (+0.22 to +0.40)``."""
    return points(estimate, scale=1, digits=2)


def paper_percent(value: float | None) -> str:
    """The paper's two decimals as whole percent."""
    return NOTHING if value is None else f"{100 * value:.0f}"


def number(value: float | None, digits: int = 2) -> str:
    """A plain number; nothing for nothing."""
    return NOTHING if value is None or value != value else f"{value:.{digits}f}"


def columns(estimate: Estimate | None, name: str = "accuracy", scale: float = 100) -> Cells:
    """An estimate as CSV columns: in percent (or points), with its interval."""
    names = (name, f"{name}_low", f"{name}_high")
    if estimate is None:
        return dict.fromkeys((*names, "photographs"))
    values = (estimate.value, estimate.low, estimate.high)
    cells = {key: round(scale * value, 3) for key, value in zip(names, values, strict=True)}
    return {**cells, "photographs": estimate.photographs}


def bare_columns(estimate: Estimate | None, name: str) -> Cells:
    """The same without the number of photographs."""
    cells = columns(estimate, name)
    del cells["photographs"]
    return cells


def paper_column(value: float | None) -> float | None:
    """The paper's share of 1 as a percentage for the CSV."""
    return None if value is None else round(100 * value, 3)
