"""The guided walk: its words, its equations and the numbers that the models make for it."""

import base64
import inspect
import io
import re
from pathlib import Path
from pkgutil import resolve_name
from xml.etree import ElementTree

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.pages.learn import steps as words
from app.pages.learn.lesson import COMPARED, FILM_DEPTHS, LADDER, MAIN, PARTS, ROUNDS, Lesson
from app.pages.learn.steps import STEPS
from app.parts.examples import Example
from app.parts.html import rendered
from dga.diffusion import forward_path
from dga.discriminator import curve
from dga.images import from_tensor, to_tensor
from dga.pipeline import adapt
from dga.sentences import pill
from dga.systems import systems

ROOT = Path(__file__).resolve().parents[2]


def test_seven_steps_each_with_a_widget_an_equation_and_a_function():
    page = rendered("learn/slides", words=words)
    script = (ROOT / "app" / "static" / "learn" / "widgets.js").read_text("utf-8")
    assert len(STEPS) == len({step.widget for step in STEPS}) == 7
    for n, step in enumerate(STEPS, 1):
        assert f'id="step-{n}"' in page
        assert f'data-widget="{step.widget}"' in page
        assert f"<code>{step.function}</code>" in page
        assert inspect.isfunction(resolve_name(step.function))
        assert re.search(rf"\n  {step.widget}(?:\(box|,)", script)


def test_equations_are_well_formed_and_have_words():
    for step in STEPS:
        for equation in ElementTree.fromstring(f"<all>{step.equation}</all>"):
            assert equation.tag == "math"
            assert len(equation.get("aria-label")) > 15
            kinds = {mark.get("class") for mark in equation.iter("mi")}
            assert kinds == {"picture", "symbol"}
            assert all(len(mark.text) == 1 for mark in equation.iter("mi"))


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    made = {}
    for turns, name in enumerate(("cat", "lion", "horse", "lake")):
        path = str(folder / f"{name}.png")
        Image.fromarray(np.rot90(skimage.data.chelsea(), turns)).save(path)
        made[name] = Example(name, f"One {name}", path, "", "cat" if name == "cat" else None)
    return made


@pytest.fixture(scope="module")
def lesson(tiny_models, examples):
    return Lesson(tiny_models, examples)


@pytest.fixture(scope="module")
def made(lesson):
    *_, last = lesson.parts()
    return last


def pictures(strip):
    data = base64.b64decode(strip["uri"].partition("base64,")[2])
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert pixels.shape[1] == pixels.shape[0] * strip["count"]
    return np.split(pixels, strip["count"], axis=1)


def test_parts_come_one_by_one_and_are_made_once(tiny_models, examples, monkeypatch):
    lesson = Lesson(tiny_models, examples)
    seen = [list(parts) for parts in lesson.parts()]
    assert [parts[-1] for parts in seen] == list(PARTS)
    for name in PARTS:
        monkeypatch.setattr(Lesson, f"_{name}", None)
    assert [list(parts) for parts in lesson.parts()] == [list(PARTS)]


def close(shown, exact):
    """What was compressed on its way."""
    return np.abs(np.asarray(shown, int) - exact).mean() < 20


def path_of(lesson, models, case):
    return forward_path(models.schedule, to_tensor(lesson._damaged(case)), case.seed)


def confidence_of(models, path):
    logits = curve(models.schedule, models.discriminator, path).double().numpy()
    return logits, 1 / (1 + np.exp(-logits))


def test_film_is_the_forward_path(lesson, made, tiny_models):
    film = made["film"]
    assert film["signal"][0] == 1
    assert len(film["signal"]) == len(pictures(film["clean"])) == FILM_DEPTHS
    path = from_tensor(path_of(lesson, tiny_models, MAIN)[:FILM_DEPTHS])
    assert close(pictures(film["damaged"]), path)


def test_rounds_are_pairs_at_the_same_depth_and_noise(lesson, made, tiny_models):
    game, rungs = made["game"], list(LADDER)
    assert len(ROUNDS) == 12
    for case, shown in zip(ROUNDS, game["rounds"], strict=True):
        path = path_of(lesson, tiny_models, case)
        assert close(pictures(shown["film"]), from_tensor(path[rungs]))
        _, sure = confidence_of(tiny_models, path)
        assert np.allclose([damaged for _, damaged in shown["sure"]], sure[rungs], atol=1e-3)
    assert {shown["picture"] for shown in game["rounds"]} == set(game["clean"])


def test_curve_and_stops(lesson, made):
    judged = made["judge"]
    assert len(judged["damaged"]) == len(judged["stops"]) == 101
    at = round(100 * judged["tau"])
    stop = lesson._stop(MAIN)
    assert judged["stops"][at] == [stop.t_star, stop.crossed]
    assert judged["stops"][100] == [0, True]


def test_the_way_back_ends_where_adapt_ends(lesson, made, tiny_models):
    free = systems(tiny_models.profile)["dga-ancestral"]
    run = adapt(tiny_models, lesson._damaged(MAIN), MAIN.seed, [free])
    reverse = made["reverse"]
    assert reverse["depth"] == run.t_star
    states, estimates = pictures(reverse["x"]), pictures(reverse["x0"])
    assert len(states) == len(estimates) == run.t_star + 1
    ends = run.search.x_t_star, run.reconstructions["dga-ancestral"].image
    assert close((states[0], states[-1]), ends)


def test_guidance_pulls_closer(made):
    guide = made["guide"]
    assert guide["scales"][0] == 0
    assert len(guide["top"]) == len(guide["scales"]) + 1
    assert guide["gaps"][1] <= guide["gaps"][0]


def test_cases_agree_with_adapt(lesson, made, tiny_models):
    known = systems(tiny_models.profile)
    assert made["depth"]["fixed"] == tiny_models.profile.dda_depth
    for case, shown in zip(COMPARED, made["depth"]["cases"], strict=True):
        damaged = lesson._damaged(case)
        run = adapt(tiny_models, damaged, case.seed, [known["dga-guided"], known["dda"]])
        assert shown["stop"] == pill(run.stop, run.stopping.horizon)[0]
        assert shown["stop"].startswith("t* =") == run.stop.crossed
        before, own, fixed = pictures(shown["pictures"])
        assert np.array_equal(before, damaged)
        for image, name in ((own, "dga-guided"), (fixed, "dda")):
            # Together in one batch, float32 differs by threads; untrained networks amplify it.
            assert np.abs(image.astype(int) - run.reconstructions[name].image).mean() < 0.1
        labels = [top[0][0] for top in shown["top"]]
        assert labels[0] == run.input_prediction.label
        assert shown["truth"] == ("cat" if case.picture == "cat" else None)


def test_meeting_starts_undamaged(made):
    assert [one["title"] for one in made["meet"]] == ["Impulse noise", "Defocus blur", "Brightness"]
    for one in made["meet"]:
        strip = pictures(one["pictures"])
        assert len(strip) == len(one["top"]) == 6
        assert one["top"][0] == made["meet"][0]["top"][0]


def test_an_example_that_is_missing_becomes_an_error(tiny_models):
    with pytest.raises(KeyError):
        list(Lesson(tiny_models, {}).parts())
