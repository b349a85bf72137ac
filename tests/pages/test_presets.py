"""Recorded runs: they are what was run, and are not shown where they would not be repeated."""

import dataclasses
import json
import re
import runpy
from collections import Counter
from types import SimpleNamespace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.pages.adapt.try_handlers import TryComponents, TryHandlers
from app.parts.examples import Example, load_examples
from app.presets.cases import CASES, PATHS, Case
from app.presets.recording import RECORD
from app.presets.search import METHODS, lead, told
from app.presets.store import (
    RESULTS,
    Preset,
    Presets,
    draws,
    load_preset,
    record,
    settings_of,
)
from app.runs.links import write
from app.runs.run_value import run_value
from app.runs.session import Session
from app.runs.settings import check_settings
from app.server.queue_position import QueuePositions
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import adapt
from dga.stopping import confidence_from_logits
from tests.fixtures.app import WEIGHTS

CASE = Case("cat-test", "cat", "gaussian_noise", 4, 5)


@pytest.fixture(scope="module")
def small(tiny_models):
    return Session(dataclasses.replace(tiny_models, weights={"diffusion": "abc"}))


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    path = tmp_path_factory.mktemp("examples") / "cat.png"
    Image.fromarray(skimage.data.chelsea()).resize((96, 96)).save(path)
    return Example("cat", "Cat", str(path), "", "cat")


@pytest.fixture(scope="module")
def folder(small, example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("presets") / "tiny" / CASE.name
    record(small, CASE, example, folder)
    return folder


def changed(folder, tmp_path, **changes):
    """A copy of a preset with another record."""
    copy = tmp_path / folder.name
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    content = json.loads((copy / RECORD).read_text()) | changes
    (copy / RECORD).write_text(json.dumps(content))
    return copy


def test_a_preset_is_the_run(small, example, folder):
    state = load_preset(small, CASE, example, folder).state
    settings = settings_of(small.profile, CASE)
    assert state.settings == settings
    subject = small.subject(example.path, settings)
    *_, run = small.events(subject.input, settings, extent=state.extent)
    again = state.result
    assert np.array_equal(again.input, run.input)
    assert (again.stop, again.stopping, again.seed) == (run.stop, run.stopping, run.seed)
    assert np.allclose(again.search.logits, run.search.logits, atol=1e-4)
    for name, result in run.reconstructions.items():
        kept = again.reconstructions[name]
        assert np.array_equal(kept.image, result.image)
        assert kept.prediction == result.prediction
        told, found = kept.search, result.search
        assert (told.end, told.stop, told.unchanged) == (found.end, found.stop, found.unchanged)
        assert told.found == dataclasses.replace(found.found, seconds=told.found.seconds)
        assert np.array_equal(told.restored, found.restored)
        assert np.array_equal(told.x_t_star, found.x_t_star)
    value = run_value(state)
    assert (value["phase"], value["key"], value["t_star"]) == ("done", CASE.name, run.t_star)
    assert (value["recorded"], value["source"]) == (CASE.name, "recorded")
    assert value["classes"][value["truth"]] == "cat"
    assert value["found"]["t_star"] == run.explained.stop.t_star
    for name in ("dga", "dga-guided"):
        result = run.reconstructions[name]
        assert state.series[name].predictions[run.t_star].label == result.prediction.label
    assert set(value["every"]) == {"dga", "dga-guided", "dga-plus"}
    assert all(len(line["probs"]) == 33 for line in value["every"].values())
    assert None not in value["stops"]
    assert np.allclose(value["curves"], confidence_from_logits(run.search.logits), atol=1e-4)
    assert len(value["curves"]) == PATHS
    for lane in value["lanes"]:
        assert sum(count for count, _ in lane["strips"]) == len(lane["visited"]) - 1


def test_recording_again_gives_the_same_pictures(small, example, folder, tmp_path):
    record(small, CASE, example, copy := changed(folder, tmp_path, run={}))
    for path in folder.iterdir():
        if path.name != RECORD:  # it holds seconds
            assert (copy / path.name).read_bytes() == path.read_bytes()
    assert json.loads((copy / RECORD).read_text())["search"]["stop"]["t_star"] >= 0


def test_how_rare_a_case_is_stands_beside_it(small, example, folder, monkeypatch):
    """As many runs as are said, with other seeds, each counted once."""
    state = load_preset(small, CASE, example, folder).state
    assert state.draws["of"] == 20
    assert run_value(state)["draws"] == state.draws
    monkeypatch.setattr("app.presets.store.DRAWS", 3)
    few, right = draws(small, CASE, example), Counter()
    for seed in range(3):
        settings = settings_of(small.profile, dataclasses.replace(CASE, seed=seed))
        *_, run = small.events(small.subject(example.path, settings).input, settings)
        read = {name: one.prediction.label for name, one in run.reconstructions.items()}
        right.update(name for name, label in read.items() if label == "cat")
    assert few == {"of": 3, **{name: right[name] for name in state.results}}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"weights": {"diffusion": "xyz"}}, "other weights"),
        ({"settings": {}}, "other settings"),
        ({"systems": {}}, "'dga'"),
        ({"run": None}, "None"),
        ({"pictures": ["0" * 64]}, "other pictures"),
    ],
)
def test_what_would_not_be_repeated_is_left_out(
    small, example, folder, tmp_path, caplog, changes, reason
):
    assert load_preset(small, CASE, example, changed(folder, tmp_path, **changes)) is None
    assert reason in caplog.text


def test_missing_files_leave_a_preset_out(small, example, folder, tmp_path, monkeypatch, caplog):
    cases = (CASE, Case("gone", "cat", "fog", 1, 0))
    monkeypatch.setattr("app.presets.store.CASES", cases)
    presets = Presets(small, [example], folder.parent.parent)
    assert [preset.name for preset in presets.all] == [CASE.name]
    copy = changed(folder, tmp_path)
    (copy / RESULTS).unlink()
    assert load_preset(small, CASE, example, copy) is None
    assert RESULTS in caplog.text


def test_find_compares_what_decides_a_run(small, example, folder, monkeypatch):
    monkeypatch.setattr("app.presets.store.CASES", (CASE,))
    presets = Presets(small, [example], folder.parent.parent)
    (preset,) = presets.all
    profile = small.profile
    asked = ("gaussian_noise", 4, profile.stopping.tau, 5, profile.dda_depth)
    same = check_settings(
        profile, *asked, paths=PATHS, scale=profile.guidance.scale,
        max_depth=profile.stopping.max_depth,
    )  # fmt: skip
    assert presets.find("cat", same) is preset
    assert presets.find("coffee", same) is None
    for change in ({"paths": 1}, {"severity": 3}, {"seed": 6}, {"scale": 0.5}, {"dda_depth": 9}):
        assert presets.find("cat", dataclasses.replace(same, **change)) is None


def test_a_fixed_depth_that_a_run_does_not_reach_is_not_given_it(
    small, example, folder, monkeypatch
):
    """A handle may stand at any depth of a recorded run; deeper, its outcome is not in it."""
    monkeypatch.setattr("app.presets.store.CASES", (CASE,))
    presets = Presets(small, [example], folder.parent.parent)
    (preset,) = presets.all
    names = [field.name for field in dataclasses.fields(TryComponents)]
    page = TryComponents(**dict(zip(names, names, strict=True)))
    handlers = TryHandlers(small, QueuePositions(), page, [example], presets)
    query = dict(parse_qsl(write(small.profile, preset.state.settings, "cat").removeprefix("?")))
    deepest = preset.state.extent
    assert deepest < small.profile.schedule.steps
    for depth, key in ((deepest, {preset.name}), (deepest + 1, set())):
        asked = SimpleNamespace(session_hash=str(depth), query_params=query | {"dda": str(depth)})
        value = handlers.arrive(asked, None)["screen"]
        assert {value["key"]} & {preset.name} == key
        assert value["hands"]["fixed"] == depth


@pytest.mark.skipif(WEIGHTS is not None, reason="they belong to the shipped weights")
def test_the_shipped_presets(session):
    presets = Presets(session, load_examples())
    assert [preset.name for preset in presets.all] == [case.name for case in CASES]
    earned = {  # by whether the damaged picture and those of three methods are read right
        "The fixed depth is wrong": (False, True, False, True),
        "Left alone, rightly": (True, True, False, True),
        "Only the diagnosis is right": (False, False, False, True),
        "The diagnosis breaks it": (True, True, True, False),
    }
    for preset in presets.all:
        rebuilt = [preset.state.results[name] for name in ("dga-guided", "dda", "dga-plus")]
        said = [preset.state.subject.input_prediction, *(one.prediction for one in rebuilt)]
        assert tuple(p.label == preset.example.truth for p in said) == earned[preset.lesson]
    left = presets.named("horse-brightness")
    assert (left.lesson, left.state.result.t_star) == ("Left alone, rightly", 0)
    opens = presets.all[0].state
    assert opens.subject.input_prediction.label != presets.all[0].example.truth
    assert opens.result.stop.crossed
    assert {preset.name.split("-")[0] for preset in presets.all} == {"cat", "horse", "lake"}
    folder = shipped("assets/presets") / session.profile.name
    files = [file for preset in presets.all for file in (folder / preset.name).iterdir()]
    assert sum(file.stat().st_size for file in files) < 1_300_000
    for preset in presets.all:
        value = run_value(preset.state)
        assert len(json.dumps(value)) < 900_000
        found = preset.state.explained
        left = "nothing was rebuilt" in value["spent"]["dga-plus"]
        assert left == (found.unchanged and not found.stop.t_star)


@pytest.mark.slow
@pytest.mark.skipif(WEIGHTS is not None, reason="they belong to the shipped weights")
def test_a_shipped_preset_is_what_the_models_do(session):
    presets = Presets(session, load_examples())
    preset: Preset = presets.all[0]
    told = preset.state.result
    systems = list(preset.state.systems.values())
    run = adapt(session.models, told.input, told.seed, systems)
    assert run.t_star == told.t_star
    known = len(told.confidence)
    assert np.allclose(run.confidence[:known], told.confidence, atol=0.02)
    guided = run.reconstructions["dga-guided"].image.astype(int)
    assert np.abs(guided - told.reconstructions["dga-guided"].image).mean() < 4


def test_the_recorder_is_a_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["app.presets", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("app.presets", run_name="__main__", alter_sys=True)
    assert "--out" in capsys.readouterr().out


def test_a_search_tells_who_reads_a_run_right(small, example):
    settings = settings_of(small.profile, CASE)
    subject = small.subject(example.path, settings)
    *_, run = small.events(subject.input, settings)
    said = {"damaged": run.input_prediction}
    said |= {who: run.reconstructions[name].prediction for name, who in METHODS.items()}
    line = told(small, CASE, example)
    start = f"cat gaussian_noise 4 seed 5: t* {run.t_star}"
    assert line.startswith(start)
    signs = dict(re.findall(r"([a-z-]+) ([+-])\d", line.partition(":")[2]))
    assert signs == {name: "+" if one.label == "cat" else "-" for name, one in said.items()}


def test_how_surely_is_the_lead_over_the_likeliest_other():
    prediction = Prediction(("dog", "cat", "fish"), (0.6, 0.3, 0.1))
    assert [lead(prediction, truth) for truth in ("dog", "cat", None)] == pytest.approx(
        [0.3, -0.3, -0.6]
    )
