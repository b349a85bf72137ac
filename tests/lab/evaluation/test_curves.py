"""A judged discriminator's files: the right pictures, resumable, refused when they differ."""

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dga.corruptions import FAMILIES, corrupt
from dga.diffusion import ForwardPath
from dga.discriminator import judge_states
from dga.images import to_tensor
from dga.lab.evaluation import curves
from dga.lab.evaluation.curves import judge_pictures
from dga.lab.evaluation.plan import Plan, derive_seed
from dga.weights.store import compute_weights_id
from tests.fixtures.cli import done, refused

DEPTHS = (0, 3, 50, 100)


@pytest.fixture
def plan(plan: Plan) -> Plan:
    return dataclasses.replace(plan, seed=4)


def _logits(run: Path) -> dict[tuple[str, str], list[float]]:
    """By corruption and path."""
    lines = map(json.loads, (run / "lines.jsonl").read_text().splitlines())
    return {(line["corruption"], line["path"]): line["logits"] for line in lines}


@pytest.mark.parametrize("asked", [(), DEPTHS])
def test_logits_are_those_of_the_curve(asked, tiny_models, plan, images, tmp_path):
    judge_pictures(tiny_models, plan, tmp_path, asked)
    depths = list(asked or range(101))
    assert json.loads((tmp_path / "config.json").read_text())["depths"] == depths
    logits = _logits(tmp_path)
    assert Counter(name for name, _ in logits) == {"clean": 4, "gaussian_noise": 4, "fog": 4}
    for (name, path), curve in logits.items():
        pixels = images.pixels[images.names.index(path)]
        seed = derive_seed(4, path, name)
        damaged = pixels if name == "clean" else corrupt(pixels, name, 3, seed)
        forward = ForwardPath(tiny_models.schedule, to_tensor(damaged), seed)
        states, network = forward.up_to(100)[depths], tiny_models.discriminator
        expected = judge_states(tiny_models.schedule, network, states, torch.tensor(depths))
        np.testing.assert_allclose(curve, expected, atol=1e-4)


def test_a_killed_run_makes_only_the_lines_that_are_missing(
    tiny_models, plan, tmp_path, monkeypatch
):
    judged, measure = list[str](), curves.judge_batch
    judge_pictures(tiny_models, plan, tmp_path / "whole", DEPTHS)

    def measure_two(models: object, plan: object, batch: object, name: str, *rest: object) -> Any:
        judged.append(name)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return measure(models, plan, batch, name, *rest)

    monkeypatch.setattr(curves, "judge_batch", measure_two)
    with pytest.raises(KeyboardInterrupt):
        judge_pictures(tiny_models, plan, tmp_path / "killed", DEPTHS)
    lines = tmp_path / "killed" / "lines.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])  # killed in the middle of a line
    for _ in range(2):  # a finished run has nothing to do
        judge_pictures(tiny_models, plan, tmp_path / "killed", DEPTHS)
    assert judged == ["clean", "gaussian_noise", "fog", "gaussian_noise", "fog"]
    assert _logits(tmp_path / "killed") == _logits(tmp_path / "whole")


def test_impossible_depths_are_refused(tiny_models, plan, tmp_path):
    assert "Depths look like 0,10,20" in refused(
        "judge", "--data", tmp_path, "--out", tmp_path / "out", "--depths", "0-10"
    )
    with pytest.raises(ValueError, match="between 0 and 100, not 101"):
        judge_pictures(tiny_models, plan, tmp_path, (0, 101))
    assert list(tmp_path.iterdir()) == []


def test_command_judges_what_the_trainer_wrote(picture_folder, tmp_path):
    def dga(words: str, *arguments: object) -> str:
        data = "--data", picture_folder, "--device", "cpu"
        return done(*words.split(), *data, *arguments).stdout

    weights, out = tmp_path / "weights", tmp_path / "out"
    dga("train discriminator --corruptions noise --images 4 --batch 2", "--out", weights)
    said = dga(
        "judge --corruptions weather --severity 1 --per-class 1 --split all --depths 0,40",
        *("--discriminator", weights, "--out", out),
    )
    assert said == f"Curves: {out / 'lines.jsonl'}\n"
    config = json.loads((out / "config.json").read_text())
    assert config["weights"]["discriminator"] == compute_weights_id(weights)
    logits = _logits(out)
    assert [*dict.fromkeys(name for name, _ in logits)] == ["clean", *FAMILIES["weather"]]
    assert [len(curve) for curve in logits.values()] == [2] * 4 * 2
