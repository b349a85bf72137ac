"""Settings are chosen by reading curves again: what a rule would give, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dga.analysis.judges import judge_of
from dga.analysis.names import MEAN
from dga.analysis.pooled import PooledRuns, pool_runs
from dga.analysis.results import MissingRun, SavedRuns, read_judge, read_runs
from dga.analysis.rules import Reading, read_rules
from dga.analysis.tables.rules import rules_table
from dga.corruptions import CORRUPTIONS
from dga.figures.exhibits import publish
from tests.fixtures.results import depth_matters, needed, write_judge, write_run

PHOTOGRAPHS = 12
TUNE = {"split": "tune", "data": ["val.zip"], "corrupted": None, "seed": 0}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> SavedRuns:
    """Confidence falls below 0.5 just where each picture is right."""
    root = tmp_path_factory.mktemp("tune")
    write_run(root / "depths", depth_matters(PHOTOGRAPHS), **TUNE)
    depths = np.arange(13)
    curves = [
        [np.where(depths < needed(p, name), 1.0, -1.0) for p in range(PHOTOGRAPHS)]
        for name in CORRUPTIONS
    ]
    clean = np.full((1, PHOTOGRAPHS, len(depths)), -3.0)
    write_judge(root / "curves", np.concatenate([clean, curves]), depths.tolist(), **TUNE)
    return read_runs(root)


@pytest.fixture(scope="module")
def pooled(results: SavedRuns) -> PooledRuns:
    (made,), left_out = pool_runs(results.evaluations)
    assert not left_out
    return made


def _reading(readings: list[Reading], **wanted: object) -> Reading:
    (found,) = [r for r in readings if all(getattr(r.config, k) == v for k, v in wanted.items())]
    return found


def test_accuracy_is_that_of_the_depth_the_rule_names(
    results: SavedRuns, pooled: PooledRuns
) -> None:
    readings = read_rules(results.judges[0], pooled)
    own = _reading(readings, tau=0.5, max_depth=8)
    assert own.accuracy[MEAN].value == pytest.approx(1)
    assert own.permuted[MEAN].value == pytest.approx(0.5)
    assert (own.at_maximum, own.untouched, own.clean_shallow) == pytest.approx((0.5, 0, 1))
    shallow = _reading(readings, tau=0.5, max_depth=4)
    assert shallow.accuracy[MEAN].value == pytest.approx(0.5)
    assert shallow.at_maximum == 1


def test_no_rule_looks_deeper_than_was_judged(results: SavedRuns, pooled: PooledRuns) -> None:
    readings = read_rules(results.judges[0], pooled)
    assert {r.config.horizon for r in readings} == {None}
    assert {r.config.max_depth for r in readings} == {4, 8}


def test_table_has_the_best_rule_first(results: SavedRuns, pooled: PooledRuns) -> None:
    table = rules_table(results.judges[0], pooled)
    first = table.shown.iloc[0]
    assert (first["Maximum depth"], first["Horizon"]) == ("8", "\N{EN DASH}")
    assert first["Accuracy (%)"].startswith("100.0")
    assert first["t* permuted (%)"] == "50.0"
    accuracy = table.numbers["mean"].tolist()
    assert accuracy == sorted(accuracy, reverse=True)
    assert len(table.commands) == 2


def test_curves_of_other_pictures_are_refused(
    results: SavedRuns, pooled: PooledRuns, tmp_path: Path
) -> None:
    logits = np.zeros((16, 2, 3))
    for name, config in {
        "report": TUNE | {"split": "report"},
        "severity": TUNE | {"severity": 3},
        "weights": TUNE | {"weights": {"discriminator": "another"}},
        "input": TUNE | {"input": "x0_hat"},
    }.items():
        judge = read_judge(write_judge(tmp_path / name, logits, (0, 1, 2), **config))
        with pytest.raises(MissingRun, match="no judge run at severity 5"):
            judge_of((judge,), pooled)


def test_rules_are_an_exhibit_of_tune_only(results: SavedRuns, tmp_path: Path) -> None:
    names = [entry["name"] for entry in publish(results, tmp_path / "tune").entries]
    assert "rules" in names
    report = SavedRuns(
        tuple(
            type(run)(run.name, run.config | {"split": "report"}, run.lines)
            for run in results.evaluations
        ),
        (),
    )
    published = publish(report, tmp_path / "report")
    assert "rules" not in [entry["name"] for entry in published.entries]
    assert "rules" not in dict(published.missing)
