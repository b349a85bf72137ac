"""The file of results that ships, and how its numbers are written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.pages.shell import SHORT_NAMES
from dga.corruptions import CLEAN
from dga.io.numbers import format_signed
from dga.lab.analysis.names import PLUS, SOURCE, SYSTEMS, format_method
from dga.profiles import get_profile

PAPER = ("dga-guided", "dga")  # with and without guidance; the first that was measured counts
RIVAL = "dda"
LIMIT = get_profile("photo").stopping.max_depth
NAMES = {
    PLUS: SHORT_NAMES["plus"],
    "dga": f"{SHORT_NAMES['paper']}, at most {LIMIT} steps",
    "dga-guided": f"{SHORT_NAMES['paper']}, guided, at most {LIMIT} steps",
    "dga:max_depth=100:horizon=100": f"{SHORT_NAMES['paper']}, up to 100 steps",
    "dga-plus-ensemble": "Averaged readings, with our repair and without",
    RIVAL: SHORT_NAMES["fixed"],
    "tent": "Tent",
    "tent:lr=0": "Batch statistics",
    SOURCE: SYSTEMS[SOURCE],
}
MARKS = {PLUS: "ours", **dict.fromkeys(PAPER, "paper"), RIVAL: "rival"}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """A file of results as ``dga figures`` writes it, or nothing."""

    exhibits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a file's results; there are none where there is no file."""
        if not path.is_file():
            return cls()
        content = json.loads(path.read_text("utf-8"))
        return cls({exhibit["key"]: exhibit for exhibit in content["exhibits"]})

    def find(self, key: str, method: str, other: str, group: str) -> Row | None:
        """One comparison; None where it was not measured."""
        names = (method, other, group)
        rows = self.exhibits.get(key, {}).get("rows", ())
        return next((r for r in rows if (r["method"], r["other"], r["group"]) == names), None)


@dataclass(frozen=True)
class Diagnoses:
    """What ``dga judge-diagnoses`` found of known damage, by kind of it, or nothing."""

    damaged: Sequence[Row] = ()
    undamaged: Row | None = None
    has_networks: bool = False

    @classmethod
    def read(cls, path: Path) -> Diagnoses:
        """Read ``labelled.json`` of a folder of diagnoses; nothing where there is no file."""
        if not path.is_file():
            return cls()
        content = json.loads(path.read_text("utf-8"))
        rows = {row["corruption"]: row for row in content["found"]}
        undamaged = rows.pop(CLEAN, None)
        return cls([*rows.values()], undamaged, content["networks"])


def accuracies(rows: Sequence[Row]) -> dict[str, tuple[float, float, float]]:
    """Each method's accuracy with its interval, of rows of one group."""
    values: dict[str, tuple[float, float, float]] = {}
    for row in rows:
        for method, name in ((row["method"], "right"), (row["other"], "other_right")):
            values.setdefault(method, (row[name], row[f"{name}_low"], row[f"{name}_high"]))
    return values


def full_name(method: str) -> str:
    """The plain name with its abbreviation: Our repair (DGA+), Fixed noise (DDA, tuned)."""
    formal, plain = format_method(method), NAMES.get(method)
    inner = formal.replace(" (", ", ").rstrip(")")
    return f"{plain} ({inner})" if plain and method in MARKS else plain or formal


def points(row: Row, unit: str = " points") -> str:
    """A difference with its interval, rounded once: +18.6 points (13.3 to 23.6)."""
    low, high = (format_signed(row[name]).lstrip("+") for name in ("gain_low", "gain_high"))
    return f"{format_signed(row['gain'])}{unit} ({low} to {high})"
