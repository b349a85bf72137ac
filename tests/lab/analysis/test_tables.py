"""Tables, of severities and of mixed streams: what they print, and what they leave empty."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dga.corruptions import CORRUPTIONS
from dga.lab.analysis.comparisons import make_comparisons
from dga.lab.analysis.pooled_runs import PooledRuns, pool_runs
from dga.lab.analysis.saved_runs import MissingRun, read_runs
from dga.lab.analysis.table import EMPTY_CELL, Table
from dga.lab.analysis.tables import make_stream_table, make_table_1
from tests.fixtures.results import ResultLine, line, lines_of, write_run


def _pooled(tmp_path: Path, *groups: list[dict], **config: object) -> PooledRuns:
    write_run(tmp_path / "run", [row for group in groups for row in group], **config)
    return pool_runs(read_runs(tmp_path).evaluations)[0][0]


def _row(table: Table, **cells: str) -> dict[str, str]:
    rows = pd.DataFrame(table.rows)
    for column, text in cells.items():
        rows = rows[rows[column] == text]
    assert len(rows) == 1
    return rows.iloc[0].to_dict()


def test_table_1_by_hand(tmp_path):
    """Right on 2 of 8 (source), 4 (DGA + G) and 8 photographs (an outsider)."""
    pooled = _pooled(
        tmp_path,
        lines_of("source", lambda p, c: p < 2, 8),
        lines_of("dga-guided", lambda p, c: p < 4, 8),
        lines_of("mine", lambda p, c: True, 8),
    )
    table = make_table_1(pooled)
    mine = _row(table, Method="mine")
    assert mine["Paper, severity 5 (%)"] == EMPTY_CELL
    assert mine["Accuracy (%)"].startswith("100.0")
    source = _row(table, Method="Nothing done")
    ours = _row(table, Method="DGA + G")
    assert source["Accuracy (%)"].startswith("25.0 (")
    assert (source["Paper, severity 5 (%)"], source["Gain over doing nothing"]) == (
        "33",
        EMPTY_CELL,
    )
    assert ours["Gain over doing nothing"].startswith("+25.0 (")
    assert (ours["Seconds"], ours["Photos"]) == ("0.250", "8")


def test_the_whole_is_compared_with_each_stage_left_out(tmp_path):
    without = "dga-plus:exposure=false"
    rows = [
        row
        for method, right in {"source": 2, without: 4, "dga-plus": 6}.items()
        for row in lines_of(method, lambda p, c, right=right: p < right, 10)
    ]
    pooled = _pooled(tmp_path, rows)
    table = make_comparisons(pooled)
    row = _row(table, Method="DGA+", Minus="DGA+, without exposure")
    assert row["Mean of 15"].startswith("+20.0")
    assert pooled.methods_to_compare == ["source", "dga-plus"]  # and so in no other table


# Mixed streams


PERMUTED = "dga-plus:permute=depth:batch=60"
STREAM = {"stream": "wild", "corruptions": list(CORRUPTIONS), "severity": None}


def wild_lines(method: str, photographs: int = 60, **rest: Any) -> list[ResultLine]:
    """DGA+ is right to severity 4, its permuted control to 2, others on clean pictures."""
    best = {"dga-plus": 4, PERMUTED: 2}.get(method, 0)
    rows = []
    for p in range(photographs):
        severity = p % 6
        corruption = CORRUPTIONS[p % 15] if severity else "clean"
        rows.append(line(p, corruption, method, severity <= best, severity=severity, **rest))
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ("source", "tent", "dga-plus", PERMUTED)
    rows = [row for name in names for row in wild_lines(name)]
    write_run(tmp_path / "wild", rows, **STREAM)
    return tmp_path


def pooled_stream(folder: Path) -> PooledRuns:
    (pooled,), left_out = pool_runs(read_runs(folder).evaluations)
    assert left_out == []
    return pooled


def test_a_stream_is_counted_by_severity_and_family(folder):
    pooled = pooled_stream(folder)
    table = make_stream_table(pooled)
    assert table.title == "Mixed stream, 60 photographs never used for tuning"
    rows = pd.DataFrame(table.rows).set_index("Method")
    assert list(rows.index) == ["Nothing done", "Tent", "DGA+"]
    assert rows.loc["DGA+", "All"].startswith("83.3 (")
    heads = ["Clean", *(f"Severity {n}" for n in range(1, 6))]
    assert rows.loc["DGA+", heads].tolist() == ["100.0"] * 5 + ["0.0"]
    assert rows.loc["Tent", heads].tolist() == ["100.0"] + ["0.0"] * 5
    assert table.commands == ("python -m dga evaluate --out wild",)


def test_ours_is_compared_on_the_same_photographs(folder):
    missing = wild_lines("memo", 30, depth=0)
    write_run(folder / "memo", missing, **STREAM)
    table = make_comparisons(pooled_stream(folder))
    assert table.title.startswith("DGA+ against each rival, mixed stream, 60 photographs")
    gains = pd.DataFrame(table.rows).set_index("Minus")["All"]
    assert gains["Tent"].startswith("+66.7 (+")
    assert "MEMO" in gains
    alone = write_run(folder / "one" / "run", wild_lines("source"), **STREAM)
    with pytest.raises(MissingRun, match="no run of dga-plus or dga-guided beside other methods"):
        make_comparisons(pooled_stream(alone))
