"""The paper's figures; the command that writes all exhibits."""

import json

from tests.fixtures.cli import done
from tests.fixtures.results import falling_logits, lines_of, whole_results, write_judge, write_run

FIGURES = {"discriminator-f1", "depths-f1-families"}
TABLES = {"table-1", "table-2", "comparisons"}


def test_command_writes_every_exhibit(tmp_path):
    out = tmp_path / "out"
    result = done("figures", whole_results(tmp_path / "results"), "--out", out)
    index = json.loads((out / "index.json").read_text("utf-8"))
    for kind, names in (("figure", FIGURES), ("table", TABLES)):
        exhibits = [entry["name"] for entry in index["exhibits"] if entry["kind"] == kind]
        assert sorted(exhibits) == sorted(names)
    for entry in index["exhibits"]:
        assert entry["title"]
        assert entry["caption"].endswith(".")
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


def test_a_part_of_the_runs_is_enough_and_bytes_are_the_same(tmp_path):
    write_run(tmp_path / "in" / "few", lines_of("source", lambda p, c: p < 3, 6, ["fog"]))
    results = [done("figures", tmp_path / "in", "--out", tmp_path / name) for name in ("a", "b")]
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")]
    assert {path.name for path in files} >= {"table-1.md", "index.json"}
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    said = results[0].stdout
    assert "discriminator-f1: no judge run\n" in said
    assert "comparisons: no run of dga-plus or dga-guided beside other methods\n" in said


def test_judge_runs_alone_are_enough(tmp_path):
    write_judge(tmp_path / "in", falling_logits(4, range(9))[:4], range(9))  # noise alone
    said = done("figures", tmp_path / "in", "--out", tmp_path / "out").stdout
    assert (tmp_path / "out" / "figures" / "discriminator-f1.png").exists()
    assert "tables and figures of methods: no evaluation run\n" in said
    assert "depths-f1-families: no evaluation run by the discriminator of in\n" in said
