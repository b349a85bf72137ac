"""The command that writes all tables and figures."""

import json
from pathlib import Path

from dga.corruptions import CORRUPTIONS
from tests.fixtures.cli import done
from tests.fixtures.results import falling_logits, lines_of, write_judge, write_run


def whole_results(root: Path) -> Path:
    """Damaged and clean photographs, of which repair puts some right, and a judged network."""
    for name, kinds in (("severity-5", CORRUPTIONS), ("clean", ["clean"])):
        source = lines_of("source", lambda p, c: p < 4, 12, kinds)
        write_run(root / name, source + lines_of("dga-guided", lambda p, c: p < 8, 12, kinds))
    write_judge(root / "images", falling_logits(8, range(0, 41, 2)), range(0, 41, 2))
    return root


def test_command_writes_every_exhibit(tmp_path):
    out = tmp_path / "out"
    result = done("figures", whole_results(tmp_path / "results"), "--out", out)
    index = json.loads((out / "index.json").read_text("utf-8"))
    names = [(entry["kind"], entry["name"]) for entry in index["exhibits"]]
    assert names == [("table", "severity-5"), ("table", "undamaged"), ("figure", "f1-images")]
    for entry in index["exhibits"]:
        assert entry["title"]
        assert all(command.startswith("python -m dga ") for command in entry["commands"])
        assert entry["commands"]
        for file in entry["files"].values():
            assert (out / file).stat().st_size > 100
            assert str(out / file) in result.stdout
    assert index["missing"] == []
    for path in (out / "tables").iterdir():
        title, *lines = path.read_text("utf-8").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        assert title.startswith("### ")
        assert len(rows) > 2
        assert len({row.count("|") for row in rows}) == 1


def test_bytes_are_the_same_and_runs_left_out_are_named(tmp_path):
    whole_results(tmp_path / "in")
    write_run(tmp_path / "in" / "tuned", lines_of("source", lambda p, c: True, 2), split="tune")
    results = [done("figures", tmp_path / "in", "--out", tmp_path / name) for name in ("a", "b")]
    for path in (path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")):
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    assert "left out: tuned: differs from severity-5 in split\n" in results[0].stdout


def test_judge_runs_alone_are_enough(tmp_path):
    write_judge(tmp_path / "in", falling_logits(4, range(9))[:4], range(9))  # noise alone
    done("figures", tmp_path / "in", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "f1-in.png").exists()
