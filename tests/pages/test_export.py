"""Files to take along: they say what happened, and the run can be made again from them."""

import base64
import csv
import hashlib
import io
import json
import shlex
import time
import zipfile

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.parts.examples import identify, load_examples
from app.runs.export import RunExport
from app.runs.run_state import RunState
from app.runs.settings import check_settings
from app.words.try_it import DOWNLOADS
from dga.request import Request
from tests.fixtures.cli import done

PICTURES = ("input", "x_t_star", "dga", "dga-guided", "dda", "dga-plus")
FOG = Request("fog", 3, 0.5, 5, 2, 2, 2.5, 6)
AS_IS = Request(None, 3, 0.6, 1, 1)


def finished(session, settings, path, example=None):
    subject = session.subject(path, settings)
    state = RunState(session.profile, settings, subject, example)
    for event in session.events(subject.input, settings):
        state.take(event)
    return state


@pytest.fixture(scope="module")
def cat():
    return next(example for example in load_examples() if example.name == "cat")


@pytest.fixture(scope="module")
def kept(session, cat):
    state = finished(session, FOG, cat.path, cat)
    return RunExport(state, state.result, session.models.weights)


@pytest.fixture(scope="module")
def own(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "mine.png"
    Image.fromarray(skimage.data.astronaut()).save(path)
    state = finished(session, AS_IS, path)
    return RunExport(state, state.result, session.models.weights)


def test_names_say_what_is_inside(kept, own):
    assert [kept.file(kind)[0] for kind in DOWNLOADS] == [
        "dga-cat-fog-3-pictures.zip",
        "dga-cat-fog-3-curve.csv",
        "dga-cat-fog-3-run.json",
    ]
    assert own.file("run")[0] == "dga-picture-run.json"
    with pytest.raises(KeyError):
        kept.file("../secret")


@pytest.mark.parametrize("which", ["kept", "own"])
def test_json_repeats_the_run(which, session, request, tmp_path):
    kept = request.getfixturevalue(which)
    facts = json.loads(kept.file("run")[1])
    path = tmp_path / "picture.png"
    path.write_bytes(base64.b64decode(facts["picture_png_base64"]))
    pixels = np.asarray(Image.open(path))
    assert facts["picture"]["sha256_of_pixels"] == hashlib.sha256(pixels.tobytes()).hexdigest()
    assert facts["weights"] == session.models.weights
    assert {"diffusion", "discriminator", "explainer", "classifier"} == set(facts["weights"])
    assert {"python", "torch", "numpy"} <= set(facts["versions"])

    settings = check_settings(session.profile, **facts["settings"])
    subject = session.subject(path, settings)
    *_, again = session.events(subject.input, settings)
    result = facts["result"]
    assert again.t_star == result["t_star"]
    assert again.confidence.tolist() == result["confidence"]
    for name, method in result["methods"].items():
        made = again.reconstructions[name]
        assert np.array_equal(made.image, kept.result.reconstructions[name].image)
        assert [list(row) for row in made.prediction.top(5)] == method["top5"]


@pytest.mark.parametrize("which", ["kept", "own"])
def test_the_command_repeats_the_run(which, request, tmp_path, monkeypatch):
    kept = request.getfixturevalue(which)
    facts = json.loads(kept.file("run")[1])
    with zipfile.ZipFile(io.BytesIO(kept.file("pictures")[1])) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path / kept.stem)
    words = shlex.split(facts["command"])
    assert words[:4] == ["python", "-m", "dga", "adapt"]
    again = json.loads(done(*words[3:], "--device", "cpu", "--json").stdout)
    assert again["t_star"] == facts["result"]["t_star"]
    assert np.allclose(again["confidence"], facts["result"]["confidence"], atol=1e-6)
    for name, result in kept.result.reconstructions.items():
        made = np.asarray(Image.open(again["pictures"][name]))
        assert np.array_equal(made, result.image)


def test_curve_has_a_row_for_each_depth(kept):
    rows = list(csv.reader(io.StringIO(kept.file("curve")[1].decode())))
    assert rows[0] == ["depth", "confidence", "path_1", "path_2"]
    values = np.array(rows[1:], float)
    assert values[:, 0].tolist() == list(range(101))
    assert np.allclose(values[:, 1], kept.result.confidence, atol=1e-6)
    assert np.allclose(values[:, 2:].mean(1), values[:, 1], atol=2e-6)


def test_zip_holds_every_picture_bit_for_bit(kept, own):
    with zipfile.ZipFile(io.BytesIO(kept.file("pictures")[1])) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        assert names == {"clean.png", "run.json", *(f"{name}.png" for name in PICTURES)}
        picture = Image.open(io.BytesIO(archive.read("dga-cat-fog-3/dda.png")))
        assert np.array_equal(np.asarray(picture), kept.result.reconstructions["dda"].image)
    with zipfile.ZipFile(io.BytesIO(own.file("pictures")[1])) as archive:
        assert "dga-picture/clean.png" not in archive.namelist()


def test_the_same_run_gives_the_same_zip_at_any_time(kept, monkeypatch):
    first = kept.file("pictures")[1]
    monkeypatch.setattr(time, "time", lambda: 2e9)
    later = time.localtime(2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    assert kept.file("pictures")[1] == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        for entry in archive.infolist():
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
            assert entry.external_attr >> 16 == 0o644
            assert entry.compress_type == zipfile.ZIP_STORED


def test_an_example_is_known_by_its_pixels(kept, own, cat):
    examples = load_examples()
    assert identify(kept.source(), examples).name == "cat"
    assert identify(own.source(), examples) is None
    assert identify(cat.pixels(64) ^ 1, examples) is None
