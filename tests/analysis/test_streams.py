"""Mixed streams, clean pictures and permuted controls: tables and a figure with known answers."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dga.analysis.pooled import PooledRuns, pool_runs, pool_streams
from dga.analysis.results import MissingRun, read_runs
from dga.analysis.tables import depths as depth_tables
from dga.analysis.tables.streams import clean_table, comparisons, permuted_table, stream_table
from dga.corruptions import CORRUPTIONS
from dga.figures.depths import depths_by_severity
from tests.fixtures.cli import done
from tests.fixtures.results import ResultRow, line, lines_of, write_run

PERMUTED = "dga-plus:permute=depth:batch=60"
STREAM = {"stream": "wild", "corruptions": list(CORRUPTIONS), "severity": None}


def condition(photograph: int) -> tuple[str, int]:
    severity = photograph % 6
    return (CORRUPTIONS[photograph % 15], severity) if severity else ("clean", 0)


def wild_lines(method: str, photographs: int = 60, **rest: Any) -> list[ResultRow]:
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
    (pooled,), left_out = pool_streams(read_runs(folder).evaluations)
    assert left_out == ()
    return pooled


def test_a_stream_is_counted_by_severity_and_family(folder):
    pooled = pooled_stream(folder)
    table = stream_table(pooled)
    assert table.title == "Wild stream, 60 photographs never used for tuning"
    rows = table.shown.set_index("Method")
    assert list(rows.index) == ["Nothing done", "Tent", "DGA+"]
    assert rows.loc["DGA+", "All"].startswith("83.3 (")
    heads = ["Clean", *(f"Severity {n}" for n in range(1, 6))]
    assert rows.loc["DGA+", heads].tolist() == ["100.0"] * 5 + ["0.0"]
    assert rows.loc["Tent", heads].tolist() == ["100.0"] + ["0.0"] * 5
    numbers = table.numbers.set_index(["method", "group"])
    noisy = [p for p in range(60) if condition(p)[1] and p % 15 < 3]
    assert numbers.loc[("source", "noise"), "photographs"] == len(noisy)
    assert table.commands == ("python -m dga evaluate --out wild",)


def test_ours_is_compared_on_the_same_photographs(folder):
    missing = wild_lines("memo", 30, depth=0)
    write_run(folder / "memo", missing, **STREAM)
    table = comparisons(pooled_stream(folder))
    assert table.title.startswith("DGA+ against each rival, wild stream, 60 photographs")
    numbers = table.numbers.set_index(["rival", "group"])
    assert numbers.loc[("tent", "all"), "points"] == pytest.approx(100 * 4 / 6, abs=1e-3)
    low, high = numbers.loc[("tent", "all"), ["points_low", "points_high"]]
    assert 0 < low < 66.7 < high
    assert numbers.loc[("memo", "all"), "photographs"] == 30
    assert PERMUTED not in numbers.index.get_level_values("rival")
    alone = write_run(folder / "one" / "run", wild_lines("source"), **STREAM)
    with pytest.raises(MissingRun, match="no run of dga-plus or dga-guided beside other methods"):
        comparisons(pooled_stream(alone))


def test_own_choices_meet_permuted_ones(folder, tmp_path):
    table = permuted_table(pooled_stream(folder))
    shown = table.shown[["Method", "Minus"]].to_numpy().tolist()
    assert shown == [["DGA+", "DGA+, depth permuted"]]
    numbers = table.numbers.set_index("group")
    assert numbers.loc["all", "points"] == pytest.approx(100 / 3, abs=1e-3)
    assert numbers.loc["all", "permuted"] == 50
    assert numbers.loc[["3", "5"], "points"].tolist() == [100, 0]
    rows = lines_of("dga-plus", lambda p, c: True, 4) + lines_of(PERMUTED, lambda p, c: p < 1, 4)
    write_run(tmp_path / "five" / "run", rows)
    (five,), _ = pool_runs(read_runs(tmp_path / "five").evaluations)
    assert permuted_table(five).numbers.set_index("group").loc["mean", "points"] == 75
    assert five.compared == ["dga-plus"]


def test_streams_stay_apart_from_severities_and_other_streams(folder):
    write_run(folder / "five", lines_of("source", lambda p, c: True, 4, ["fog"]))
    write_run(folder / "sorted", wild_lines("source"), **(STREAM | {"stream": "sorted"}))
    write_run(folder / "fog", wild_lines("memo"), **(STREAM | {"corruptions": ["fog"]}))
    runs = read_runs(folder).evaluations
    assert [pooled.severity for pooled in pool_runs(runs)[0]] == [5]
    streams, left_out = pool_streams(runs)
    assert [(s.stream, len(s.methods)) for s in streams] == [("wild", 4), ("sorted", 1)]
    assert left_out == ("fog: differs from wild in corruptions",)


def test_clean_pictures_count_those_that_came_back(tmp_path):
    rows = lines_of("source", lambda p, c: p < 8, 10, ["clean"])
    rows += lines_of("dga", lambda p, c: p < 7, 10, ["clean"], lambda p, c: p % 2)
    plus = lines_of("dga-plus", lambda p, c: p < 8, 10, ["clean"])
    extra = {"entry": 0, "degradation": "none"}
    rows += [row | extra | {"unchanged": i < 9} for i, row in enumerate(plus)]
    write_run(tmp_path / "clean", rows)
    (pooled,), _ = pool_runs(read_runs(tmp_path).evaluations)
    numbers = clean_table(pooled).numbers.set_index("method")
    assert numbers["unchanged"].to_dict() == {"source": 100, "dga": 50, "dga-plus": 90}
    assert numbers["minus_source"].dropna().to_dict() == {"dga": -10, "dga-plus": 0}


def test_depths_rise_with_severity_in_a_figure(tmp_path):
    for severity in (1, 3, 5):
        rows = lines_of(
            "dga-plus", lambda p, c: True, 9, depth=lambda p, c, s=severity: 3 * s + p - 4
        )
        rows = [row | {"severity": severity, "entry": 2 * severity} for row in rows]
        write_run(tmp_path / str(severity), rows, severity=severity)
    severities, _ = pool_runs(read_runs(tmp_path).evaluations)
    chart = depths_by_severity(severities)
    assert [len(panel.series) for panel in chart.panels] == [2] * 15
    t_star, entry = chart.panels[0].series
    assert (t_star.x, t_star.y, entry.y) == ((1, 3, 5), (3, 9, 15), (2, 6, 10))
    assert (t_star.low[0], t_star.high[0]) == (1, 5)
    assert len(chart.commands) == 3
    table = depth_tables.depths_by_severity(severities)
    assert table.shown.iloc[0].tolist() == ["Gaussian", "3 (k0 2)", "9 (k0 6)", "15 (k0 10)"]
    assert table.numbers["median"].tolist() == [3, 9, 15] * 15
    with pytest.raises(MissingRun, match="two severities"):
        depths_by_severity(severities[:1])


def test_the_command_writes_the_tables_of_a_stream(folder, tmp_path):
    out = tmp_path / "exhibits"
    done("figures", folder / "wild", "--out", out)
    names = [entry["name"] for entry in json.loads((out / "index.json").read_text())["exhibits"]]
    assert names == ["wild", "wild-comparisons", "wild-permuted"]
    assert pd.read_csv(out / "tables" / "wild.csv")["accuracy"].notna().all()
