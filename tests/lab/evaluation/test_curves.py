"""A judged discriminator's files: the right pictures, resumable, refused when they differ."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dga.corruptions import FAMILIES, corrupt
from dga.diffusion import ForwardPath
from dga.images import to_tensor
from dga.lab.evaluation import curves
from dga.lab.evaluation.curves import compute_curve, judge_pictures
from dga.lab.evaluation.plan import Plan, derive_seed
from dga.lab.training.studies import Study
from dga.weights.store import compute_weights_id
from tests.fixtures.cli import done, refused

DEPTHS = (0, 3, 50, 100)


@pytest.fixture
def plan(plan: Plan) -> Plan:
    return dataclasses.replace(plan, seed=4)


def _load(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return dict(file)


@pytest.mark.parametrize("asked", [(), DEPTHS])
def test_logits_are_those_of_the_curve(asked, tiny_models, plan, images, tmp_path):
    judge_pictures(tiny_models, Study(), plan, tmp_path, asked)
    depths = list(asked or range(101))
    curves = _load(tmp_path / "curves.npz")
    assert curves["corruptions"].tolist() == ["clean", "gaussian_noise", "fog"]
    assert curves["depths"].tolist() == depths
    assert curves["logits"].shape == (3, 4, len(depths))
    assert curves["logits"].dtype == np.float32

    for n, path in enumerate(curves["paths"].tolist()):
        pixels = images.pixels[images.names.index(path)]
        for m, name in enumerate(("clean", "gaussian_noise", "fog")):
            seed = derive_seed(4, path, name)
            damaged = pixels if name == "clean" else corrupt(pixels, name, 3, seed)
            forward = ForwardPath(tiny_models.schedule, to_tensor(damaged), seed)
            states, judge = forward.up_to(100)[depths], tiny_models.discriminator
            expected = compute_curve(tiny_models.schedule, judge, states, depths)
            np.testing.assert_allclose(curves["logits"][m, n], expected, atol=1e-4)


def test_a_killed_run_makes_only_the_parts_that_are_missing(
    tiny_models, plan, tmp_path, monkeypatch
):
    judge, measured, measure = (tiny_models, Study()), list[str](), curves.judge_condition
    judge_pictures(*judge, plan, tmp_path / "whole", DEPTHS)

    def measure_two(models: object, plan: object, images: object, name: str, *rest: object) -> Any:
        measured.append(name)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return measure(models, plan, images, name, *rest)

    monkeypatch.setattr(curves, "judge_condition", measure_two)
    with pytest.raises(KeyboardInterrupt):
        judge_pictures(*judge, plan, tmp_path / "killed", DEPTHS)
    for _ in range(2):  # a finished run has nothing to do
        judge_pictures(*judge, plan, tmp_path / "killed", DEPTHS)
    assert measured == ["clean", "gaussian_noise", "fog", "fog"]
    killed, whole = (_load(tmp_path / run / "curves.npz") for run in ("killed", "whole"))
    np.testing.assert_equal(killed, whole)
    assert not (tmp_path / "killed" / "parts").exists()


def test_the_folder_of_another_run_is_refused(tiny_models, plan, tmp_path):
    judge_pictures(tiny_models, Study(), plan, tmp_path, (0, 9))
    before = (tmp_path / "config.json").read_bytes()
    for another, study, depths, said in (
        (dataclasses.replace(plan, severity=5), Study(), (0, 9), "severity: 3 there, 5 here"),
        (plan, Study(), (8, 0, 8), r"depths: \[0, 9\] there, \[0, 8\] here"),
        (plan, Study(explanations=True), (0, 9), "study: images there, images-explanations here"),
    ):
        with pytest.raises(ValueError, match=said):
            judge_pictures(tiny_models, study, another, tmp_path, depths)
    assert (tmp_path / "config.json").read_bytes() == before


def test_impossible_depths_are_refused(tiny_models, plan, tmp_path):
    assert "Depths look like 0,10,20" in refused(
        "judge", "--data", tmp_path, "--out", tmp_path / "out", "--depths", "0-10"
    )
    with pytest.raises(ValueError, match="between 0 and 100, not 101"):
        judge_pictures(tiny_models, Study(), plan, tmp_path, (0, 101))
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
    assert said == f"Curves: {out / 'curves.npz'}\n"
    config = json.loads((out / "config.json").read_text())
    assert config["study"] == "images-noise"
    assert config["trained_on"] == list(FAMILIES["noise"])
    assert config["weights"]["discriminator"] == compute_weights_id(weights)
    curves = _load(out / "curves.npz")
    assert curves["corruptions"].tolist() == ["clean", *FAMILIES["weather"]]
    assert curves["logits"].shape == (4, 2, 2)
