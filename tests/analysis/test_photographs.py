"""Whole photographs: from their lines to tables and a figure, and those that ship."""

import json
from pathlib import Path
from typing import Any

import pytest

from dga.analysis.results import PhotographRun, read_photographs, read_runs
from dga.analysis.tables.photographs import (
    NOISES,
    UNEVEN,
    Measured,
    damage_title,
    photograph_groups,
    photographs_comparisons,
    photographs_table,
)
from dga.analysis.tables.table import DASH
from dga.figures.exhibits import publish
from dga.figures.photographs import photographs_figure
from dga.io.shipped import shipped


def _line(damage: str, path: str, method: str, psnr: float) -> dict[str, Any]:
    rest = {"ssim": 0.5, "same_reading": True, "unchanged": False, "seconds": 1.0}
    return {"corruption": damage, "path": path, "method": method, "psnr": psnr, **rest}


def _run(folder: Path, lines: list[dict[str, Any]], split: str = "report") -> PhotographRun:
    folder.mkdir(parents=True)
    config = {"kind": "photographs", "split": split, "command": "python -m dga photographs"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_photographs(folder)


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    """Own depths gain 3, 3 and 3 dB over one depth; BM3D was run on a single photograph."""
    made = [
        _line("ramp", path, method, 20 + i + gain)
        for i, path in enumerate("abc")
        for method, gain in (("damaged", 0), ("own depths", 4), ("one depth", 1))
    ]
    return [*made, _line("ramp", "a", "BM3D", 99)]


def test_own_depths_minus_each(tmp_path, lines):
    run = _run(tmp_path / "run", lines)
    numbers = photographs_comparisons(run).numbers.set_index(["group", "rival"])
    assert numbers.loc[("ramp", "one depth")].tolist() == [3, 3, 3, 3]
    assert set(numbers.index) == {("ramp", "one depth"), ("ramp", "damaged")}  # BM3D: not on all
    shown = photographs_table(run).shown
    assert shown.to_dict("records") == [
        {"Damage": "Noise that grows", "Damaged": "21.0 / 0.50", "Own depths": "25.0 / 0.50",
         "One depth": "22.0 / 0.50", "BM3D": DASH}
    ]  # fmt: skip
    (panel,) = photographs_figure(run).panels
    assert [(series.name, series.x) for series in panel.series] == [("One depth", (3,))]


def test_groups_need_every_kind_of_damage(tmp_path):
    made = [
        _line(f"{name} 3", "a", method, psnr)
        for name in NOISES[1:]
        for method, psnr in (("own depths", 21.0), ("one depth", 20.0))
    ]
    run = Measured(_run(tmp_path / "run", made))
    assert run.difference("one depth", photograph_groups()["noises 3"]) is None
    assert [damage_title(name) for name in ("noises 5", "shot_noise 3", "none", *UNEVEN)][:4] == [
        "Four noises, severity 5", "Shot noise 3", "Undamaged", "Noise that grows",
    ]  # fmt: skip


def test_the_reported_photographs_are_published(tmp_path, lines):
    _run(tmp_path / "in" / "a-tune", lines, "tune")
    _run(tmp_path / "in" / "report", lines)
    written = publish(read_runs(tmp_path / "in"), tmp_path / "out")
    assert [entry["name"] for entry in written.entries] == [
        "photographs", "photographs-comparisons", "photographs",
    ]  # fmt: skip
    assert written.entries[0]["title"].endswith("3 photographs never used for tuning")
    assert ("left out", "a-tune: report is shown") in written.missing


def test_a_line_that_comes_twice_is_damage(tmp_path, lines):
    with pytest.raises(ValueError, match="BM3D on a, ramp, comes twice"):
        _run(tmp_path / "run", [*lines, lines[-1]])


def test_shipped_exhibits_follow_from_the_shipped_lines(tmp_path):
    folder = shipped("assets/results") / "everyday16"
    written = publish(read_runs(folder / "photographs"), tmp_path)
    index = json.loads((folder / "exhibits" / "index.json").read_text("utf-8"))
    assert len(written.entries) == 3
    for entry in written.entries:
        assert entry in index["exhibits"]
        for ending, file in entry["files"].items():
            ours, theirs = (place / file for place in (tmp_path, folder / "exhibits"))
            if ending in ("md", "csv"):
                assert ours.read_text("utf-8") == theirs.read_text("utf-8")
            if ending == "json":
                made, ships = (json.loads(path.read_text("utf-8")) for path in (ours, theirs))
                assert made["data"] == ships["data"]
