"""The paper's figures and that of controls; the command that writes all exhibits."""

import json

import numpy as np
import pytest

from dga.lab.analysis.pooled import pool_runs
from dga.lab.analysis.saved_runs import MissingRun, read_runs
from dga.lab.figures.draw import draw_accuracy_by_depth, draw_features, embed
from tests.fixtures.cli import done
from tests.fixtures.results import (
    depth_matters,
    falling_logits,
    lines_of,
    whole_results,
    write_judge,
    write_run,
)

FIGURES = {"accuracy-depth", "discriminator-f1", "depths-f1-families", "features"}
TABLES = {"table-1", "table-2", "table-3", "comparisons", "controls", "studies"}


def test_adaptive_point_stands_at_its_mean_depth(tmp_path):
    write_run(tmp_path / "run", depth_matters(8))
    panels = draw_accuracy_by_depth(pool_runs(read_runs(tmp_path).evaluations)[0][0]).figure.axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles[:2] == ["Mean of 15", "Noise"]
    fixed, permuted, adaptive = (line.get_xydata().tolist() for line in panels[0].lines[:3])
    assert fixed == [[0, 0], [4, 50], [8, 50]]
    assert permuted == [[6, pytest.approx(50)]]
    assert adaptive == [[6, 100]]


def test_embedding_is_deterministic_and_needs_features(tmp_path):
    features = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
    assert np.array_equal(embed(features), embed(features))
    write_judge(tmp_path / "judge", falling_logits(2, (0, 4)), (0, 4))
    with pytest.raises(MissingRun, match=r"judge has no features\.npz"):
        draw_features(read_runs(tmp_path).judges[0])


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
    missing = [f"{row['name']}: {row['reason']}" for row in index["missing"]]
    assert missing == []
    assert all(f"{sentence}\n" in result.stdout for sentence in missing)


def test_a_part_of_the_runs_is_enough_and_bytes_are_the_same(tmp_path):
    write_run(tmp_path / "in" / "few", lines_of("source", lambda p, c: p < 3, 6, ["fog"]))
    results = [done("figures", tmp_path / "in", "--out", tmp_path / name) for name in ("a", "b")]
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")]
    assert {path.name for path in files} >= {"table-1.md", "index.json"}
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    said = results[0].stdout
    assert "table-3: no run at several taus (dga:tau=0.1,dga:tau=0.3,dga:tau=0.7)\n" in said
    assert "controls: no run of dga-guided at fixed depths" in said
    assert "discriminator-f1: no judge run\n" in said
    assert "comparisons: no run of dga-plus or dga-guided beside other methods\n" in said


def test_judge_runs_alone_are_enough(tmp_path):
    write_judge(tmp_path / "in", falling_logits(4, range(9))[:4], range(9))  # noise alone
    said = done("figures", tmp_path / "in", "--out", tmp_path / "out").stdout
    assert (tmp_path / "out" / "figures" / "discriminator-f1.png").exists()
    assert "tables and figures of methods: no evaluation run\n" in said
    assert "depths-f1-families: no evaluation run by the discriminator of in\n" in said
    assert "features: in has no features.npz\n" in said
