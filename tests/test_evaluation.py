"""The bench: resumable, independent of the batch, honest about what it was asked."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from dga import evaluation
from dga.evaluation import LINES, Plan, evaluate
from dga.models import Models


@pytest.fixture
def plan(picture_folder: Path) -> Plan:
    return Plan(
        data=(str(picture_folder),),
        methods=("source", "dga", "dga-guided", "dda"),
        corruptions=("gaussian_noise", "fog"),
        severity=3,
        per_class=2,
        split="all",
        seed=0,
    )


def _facts(lines: list[evaluation.Line]) -> list[tuple[object, ...]]:
    keys = ("corruption", "path", "method", "seed", "depth", "crossed", "prediction")
    return sorted(tuple(line[k] for k in keys) for line in lines)


def test_one_line_an_image_and_method(tiny_models: Models, plan: Plan, tmp_path: Path) -> None:
    lines = evaluate(tiny_models, plan, tmp_path)
    assert len(lines) == 2 * 2 * 2 * 4
    written = [json.loads(row) for row in (tmp_path / LINES).read_text().splitlines()]
    assert written == lines
    for line in lines:
        assert line["correct"] == (line["prediction"] == line["class"])
        assert line["depth"] == {"source": 0, "dda": 5}.get(line["method"], line["depth"])
    table = evaluation.summarise(lines)
    assert table.count("\n") == 3
    assert "| fog |" in table


def test_depths_and_predictions_do_not_depend_on_the_batch(
    tiny_models: Models, plan: Plan, tmp_path: Path
) -> None:
    one = evaluate(tiny_models, plan, tmp_path / "one", batch=1)
    eight = evaluate(tiny_models, plan, tmp_path / "eight", batch=8)
    assert _facts(one) == _facts(eight)


def test_a_killed_run_resumes_with_nothing_lost_or_twice(
    tiny_models: Models, plan: Plan, tmp_path: Path
) -> None:
    whole = evaluate(tiny_models, plan, tmp_path / "whole", batch=2)
    evaluate(tiny_models, plan, tmp_path / "parts", batch=2)
    path = tmp_path / "parts" / LINES
    text = path.read_text()
    for cut in (0, 10, len(text) // 3, len(text) - 5):
        path.write_text(text[:cut])
        assert _facts(evaluate(tiny_models, plan, tmp_path / "parts", batch=3)) == _facts(whole)


def test_results_of_another_plan_are_refused(
    tiny_models: Models, plan: Plan, tmp_path: Path
) -> None:
    evaluate(tiny_models, dataclasses.replace(plan, corruptions=("fog",)), tmp_path)
    with pytest.raises(ValueError, match="another plan"):
        evaluate(tiny_models, plan, tmp_path)


def test_settings_reach_the_methods(tiny_models: Models, plan: Plan, tmp_path: Path) -> None:
    changed = evaluation.with_settings(
        tiny_models, evaluation.parse_settings("tau=0,max_depth=3,dda_depth=2,scale=1,dda_scale=2")
    )
    lines = evaluate(changed, plan, tmp_path)
    depths = {m: {r["depth"] for r in lines if r["method"] == m} for m in plan.methods}
    assert depths == {"source": {0}, "dga": {3}, "dga-guided": {3}, "dda": {2}}
    assert not any(r["crossed"] for r in lines if r["method"] == "dga")
    with pytest.raises(ValueError, match="Unknown setting depth=3"):
        evaluation.with_settings(tiny_models, {"depth": "3"})


def test_names_are_checked(plan: Plan) -> None:
    with pytest.raises(ValueError, match="source, dga, dga-guided, dda"):
        evaluation.parse_methods("magic")
    with pytest.raises(ValueError, match="gaussian_noise"):
        dataclasses.replace(plan, corruptions=("rain",))
    with pytest.raises(ValueError, match="from 1 to 5"):
        dataclasses.replace(plan, severity=6)
    assert len(evaluation.parse_corruptions("all")) == 15
