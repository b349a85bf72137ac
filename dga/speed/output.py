"""What the bench found, as a plain table, CSV and JSON."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path

from dga.io.files import write_json
from dga.record import versions
from dga.speed.measure import BenchReport, TimingRow

NOTHING = "-"
COLUMNS: dict[str, Callable[[TimingRow], str]] = {
    "task": lambda row: row.task,
    "batch": lambda row: str(row.batch),
    "way": lambda row: row.way,
    "precision": lambda row: row.precision,
    "s an image": lambda row: f"{row.seconds:.4f}",
    "networks": lambda row: _shown(row.networks, "{:.0%}"),
    "memory": lambda row: _shown(row.memory and row.memory / 2**30, "{:.2f} GiB"),
    "faster": lambda row: _shown(row.faster, "{:.1f} x"),
}


def to_text(report: BenchReport) -> str:
    """The table and, below it, what it was measured on."""
    cells = [[*COLUMNS], *([shown(row) for shown in COLUMNS.values()] for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join([*lines, "", *_notes(report)])


def _shown(value: float | None, form: str) -> str:
    return NOTHING if value is None else form.format(value)


def _notes(report: BenchReport) -> list[str]:
    plan = report.plan
    return [
        f"{report.profile} on {report.device}, {report.threads} threads; {plan.steps} steps an "
        f"image, {plan.timed} of them timed; the best of {plan.repeats}"
        + (f", or of fewer that took {plan.enough:g} s." if plan.enough else "."),
        "faster: than the published way in float32; DGA + G and DGA+ are held against DDA at "
        f"{plan.steps} steps.",
    ]


def write(report: BenchReport, out: Path, command: str = "") -> list[Path]:
    """``bench.csv`` and ``bench.json`` in ``out``; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    table, facts = out / "bench.csv", out / "bench.json"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in dataclasses.fields(TimingRow)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in report.rows)
    write_json(facts, {"command": command, **dataclasses.asdict(report), "versions": versions()})
    return [table, facts]
