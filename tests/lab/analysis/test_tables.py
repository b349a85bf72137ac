"""What is compared with what, in severities and in mixed streams; tables as they are printed."""

from pathlib import Path
from typing import Any

import pytest

from dga.corruptions import CORRUPTIONS
from dga.lab.analysis.report import Content, make_report
from dga.lab.analysis.saved_runs import read_runs
from dga.lab.analysis.tables import tabulate_comparisons
from tests.fixtures.results import ResultLine, line, lines_of, write_run


def _rows(folder: Path, key: str) -> list[Content]:
    report = make_report(read_runs(folder).evaluations)
    assert report["left_out"] == []
    (rows,) = (exhibit["rows"] for exhibit in report["exhibits"] if exhibit["key"] == key)
    return rows


def _gains(rows: list[Content], group: str) -> dict[tuple[str, str], float]:
    return {(row["method"], row["other"]): row["gain"] for row in rows if row["group"] == group}


def _by_count(rights: dict[str, int], photographs: int = 10) -> list[ResultLine]:
    """Each method is right on so many of the photographs, under every corruption."""
    return [
        row
        for method, right in rights.items()
        for row in lines_of(method, lambda p, c, right=right: p < right, photographs)
    ]


def test_all_methods_are_compared_with_nothing_done_and_ours_with_each(tmp_path):
    write_run(tmp_path / "run", _by_count({"source": 2, "mine": 4, "dga-guided": 5, "dga-plus": 8}))
    rows = _rows(tmp_path, "severity-5")
    assert _gains(rows, "mean") == {
        ("dga-guided", "source"): 30, ("dga-plus", "source"): 60, ("mine", "source"): 20,
        ("dga-plus", "dga-guided"): 30, ("dga-plus", "mine"): 40,
    }  # fmt: skip
    head, _, *lines = tabulate_comparisons(rows).splitlines()
    assert head.startswith("| Method | Against | Pictures | Right, % | Against, % |")
    assert lines[0].startswith("| DGA + G | Nothing done | Mean of 15 | 50.0 | 20.0 | +30.0 (+")
    assert {text.count("|") for text in (head, *lines)} == {10}


def test_a_method_is_compared_with_its_controls_and_changed_settings(tmp_path):
    """Which else are in no table."""
    permuted, without = "dga-guided:tau=0.3:permute=depth:batch=60", "dga-plus:blocks=false"
    rights = {"source": 2, "dga-guided:tau=0.3": 5, permuted: 4, without: 4, "dga-plus": 6}
    write_run(tmp_path / "run", _by_count(rights))
    gains = _gains(_rows(tmp_path, "severity-5"), "mean")
    assert gains["dga-guided:tau=0.3", permuted] == 10
    assert gains["dga-plus", without] == 20
    assert not {(permuted, "source"), (without, "source")} & set(gains)


@pytest.mark.parametrize(
    ("config", "photographs"), [({}, 5), ({"weights": {"classifier": "c2"}}, 3)]
)
def test_undamaged_photographs_are_pooled_from_runs_that_agree(tmp_path, config, photographs):
    """Damage of each severity stands in a table of its own, so that these need not agree."""
    clean = [*lines_of("source", lambda p, c: p < 2, 5, ["fog", "clean"])]
    clean += lines_of("dga-plus", lambda p, c: True, 5, ["fog", "clean"])
    write_run(tmp_path / "five", [row for row in clean if row["path"] < "cat/n003"])
    few = [row for row in clean if row["path"] >= "cat/n003"]
    write_run(tmp_path / "three", few, severity=3, **config)
    report = make_report(read_runs(tmp_path).evaluations)
    exhibits = {exhibit["key"]: exhibit["rows"][0] for exhibit in report["exhibits"]}
    assert [row["photographs"] for row in exhibits.values()] == [3, 2, photographs]
    undamaged = ["undamaged photographs of three: differs from five in weights"]
    assert report["left_out"] == (undamaged if config else [])


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


def test_a_stream_is_counted_by_severity(folder):
    rows = [row for row in _rows(folder, "wild") if row["other"] == "source"]
    ours = {row["group"]: row["right"] for row in rows if row["method"] == "dga-plus"}
    assert ours["all"] == pytest.approx(83.333)
    assert [ours[group] for group in ("clean", *"12345")] == [100] * 5 + [0]
    assert _gains(rows, "all") == {
        ("tent", "source"): 0, ("dga-plus", "source"): pytest.approx(66.667),
    }  # fmt: skip


def test_ours_is_compared_on_the_photographs_that_both_have(folder):
    write_run(folder / "memo", wild_lines("memo", 30, depth=0), **STREAM)
    rows = [row for row in _rows(folder, "wild") if row["group"] == "all"]
    counts = {row["other"]: row["photographs"] for row in rows if row["method"] == "dga-plus"}
    assert counts == {"source": 60, "tent": 60, "memo": 30, PERMUTED: 60}
    assert _gains(rows, "all")["dga-plus", PERMUTED] == pytest.approx(33.333)
