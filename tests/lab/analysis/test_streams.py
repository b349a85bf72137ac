"""Mixed streams, permuted controls and pairs: tables with known answers."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dga.corruptions import CORRUPTIONS
from dga.lab.analysis.comparisons import make_comparisons
from dga.lab.analysis.pooled_runs import PooledRuns, pool_runs
from dga.lab.analysis.saved_runs import MissingRun, read_runs
from dga.lab.analysis.tables import make_stream_table
from tests.fixtures.results import ResultLine, line, lines_of, write_run

PERMUTED = "dga-plus:permute=depth:batch=60"
STREAM = {"stream": "wild", "corruptions": list(CORRUPTIONS), "severity": None}


def condition(photograph: int) -> tuple[str, int]:
    severity = photograph % 6
    return (CORRUPTIONS[photograph % 15], severity) if severity else ("clean", 0)


def wild_lines(method: str, photographs: int = 60, **rest: Any) -> list[ResultLine]:
    """DGA+ is right to severity 4, its permuted control to 2, others on clean pictures."""
    best = {"dga-plus": 4, PERMUTED: 2}.get(method, 0)
    rows = []
    for p in range(photographs):
        corruption, severity = condition(p)
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


def test_streams_stay_apart_from_severities_and_other_streams(folder):
    write_run(folder / "five", lines_of("source", lambda p, c: True, 4, ["fog"]))
    write_run(folder / "sorted", wild_lines("source"), **(STREAM | {"stream": "sorted"}))
    write_run(folder / "fog", wild_lines("memo"), **(STREAM | {"corruptions": ["fog"]}))
    pools, left_out = pool_runs(read_runs(folder).evaluations)
    names = [(pooled.severity, pooled.stream, len(pooled.methods)) for pooled in pools]
    assert names == [(5, "", 1), (0, "wild", 4), (0, "sorted", 1)]
    assert left_out == ["fog: differs from wild in corruptions"]
