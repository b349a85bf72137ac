"""What the bench found, as a plain table, CSV and JSON."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd

from dga.io.files import write_json
from dga.record import versions
from dga.speed.measure import BenchReport, TimingRow


def to_text(report: BenchReport) -> str:
    """The table and, below it, what it was measured on."""
    shown = [_shown(row) for row in report.rows]
    cells = [[*shown[0]], *([*row.values()] for row in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    plan = report.plan
    enough = f", or of fewer that took {plan.enough:g} s" if plan.enough else ""
    notes = [
        f"{report.profile} on {report.device}, {report.threads} threads; {plan.steps} steps an "
        f"image, {plan.timed} of them timed; the best of {plan.repeats}{enough}.",
        "faster: than the published way in float32; DGA + G and DGA+ are held against DDA at "
        f"{plan.steps} steps.",
    ]
    return "\n".join([*lines, "", *notes])


def _shown(row: TimingRow) -> dict[str, str]:
    """A line of the table, by column; a dash where nothing was measured."""
    return {
        "task": row.task,
        "batch": str(row.batch),
        "way": row.way,
        "precision": row.precision,
        "s an image": f"{row.seconds:.4f}",
        "networks": "-" if row.networks is None else f"{row.networks:.0%}",
        "memory": "-" if row.memory is None else f"{row.memory / 2**30:.2f} GiB",
        "faster": "-" if row.faster is None else f"{row.faster:.1f} x",
    }


def write(report: BenchReport, out: Path, command: str = "") -> list[Path]:
    """``bench.csv`` and ``bench.json`` in ``out``; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    table, facts = out / "bench.csv", out / "bench.json"
    content = dataclasses.asdict(report)
    pd.DataFrame(content["rows"], dtype=object).to_csv(table, index=False)
    write_json(facts, {"command": command, **content, "versions": versions()})
    return [table, facts]
