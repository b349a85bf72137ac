"""The guided walk: its words, its equations and the numbers that the models make for it."""

import base64
import inspect
import io
import json
import re
from pathlib import Path
from pkgutil import resolve_name
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from app.pages.learn import lesson as lessons
from app.pages.learn import steps as words
from app.pages.learn.lesson import COMPARED, FILM_DEPTHS, LADDER, MAIN, PARTS, ROUNDS, Lesson
from app.pages.learn.steps import LAND_WAITS, NO_PICTURE, STEPS
from app.pages.learn.toy import BLUR, COLUMNS, GAIN, LEVEL, MOST, ROWS, Toy, order
from app.parts.examples import load_examples
from app.parts.html import rendered
from app.presets.cases import PATHS
from app.runs.beside import SideLane
from app.runs.session import Session
from app.server.queue_position import QueuePositions
from dga.diffusion import forward_path
from dga.discriminator import curve
from dga.explanation.degradation import NO_DEGRADATION
from dga.explanation.exposure import Stretch
from dga.images import from_tensor, to_tensor
from dga.pipeline import adapt
from dga.record import sentence
from dga.request import Request
from dga.sentences import pill
from dga.stopping import confidence_from_logits
from dga.systems import changed, systems

ROOT = Path(__file__).resolve().parents[2]


def test_ten_steps_each_with_a_widget_an_equation_and_a_function():
    page = rendered("learn/slides", words=words)
    script = (ROOT / "app" / "static" / "learn" / "widgets.js").read_text("utf-8")
    assert len(STEPS) == len({step.widget for step in STEPS}) == 10
    for n, step in enumerate(STEPS, 1):
        assert f'id="step-{n}"' in page
        assert f'data-widget="{step.widget}"' in page
        assert f"<code>{step.function}</code>" in page
        found = resolve_name(step.function)
        assert inspect.isfunction(found) or inspect.isclass(found)
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
def examples():
    return {example.name: example for example in load_examples()}


@pytest.fixture(scope="module")
def lesson(tiny_models, examples):
    return Lesson(Session(tiny_models), examples, {})


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
    lesson = Lesson(Session(tiny_models), examples, {})
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
        logits = curve(tiny_models.schedule, tiny_models.discriminator, path).double().numpy()
        sure = confidence_from_logits(logits)
        assert np.allclose([damaged for _, damaged in shown["sure"]], sure[rungs], atol=1e-3)
    assert {shown["picture"] for shown in game["rounds"]} == set(game["clean"])


def test_pictures_without_noise_show_no_grain_of_compression(lesson, made):
    def exact(strip, at):
        return pictures({"uri": strip["exact"][str(at)], "count": 1})[0]

    clean, damaged = lesson._clean(MAIN.picture), lesson._damaged(MAIN)
    assert np.array_equal(exact(made["film"]["clean"], 0), clean)
    assert np.array_equal(exact(made["film"]["damaged"], 0), damaged)
    assert np.array_equal(exact(made["game"]["clean"]["cat"], 0), clean)
    ends = [exact(made["reverse"][kind], made["reverse"]["depth"]) for kind in ("x", "x0")]
    assert np.array_equal(*ends)


def test_curve_and_stops(lesson, made):
    judged = made["judge"]
    assert len(judged["stops"]) == 101
    assert len(judged["damaged"]) == len(lesson.ran(MAIN).curves[0]) > judged["max_depth"]
    assert None not in judged["stops"]
    at, stop = round(100 * judged["tau"]), lesson.ran(MAIN).search.stop
    assert judged["stops"][at] == (stop.t_star, stop.crossed)
    assert judged["stops"][100] == (0, True)


def test_the_way_back_ends_where_adapt_ends(lesson, made, tiny_models):
    reverse, free = made["reverse"], systems(tiny_models.profile)["dga-ancestral"]
    free = changed(tiny_models.profile, free, {"paths": str(PATHS)}, "dga-ancestral")
    run = adapt(tiny_models, lesson._damaged(MAIN), MAIN.seed, [free])
    assert reverse["depth"] == run.t_star
    states, estimates = pictures(reverse["x"]), pictures(reverse["x0"])
    assert len(states) == len(estimates) == run.t_star + 1
    ends = run.search.x_t_star, run.reconstructions["dga-ancestral"].image
    assert close((states[0], states[-1]), ends)


def test_more_guidance_than_needed_swings_past_the_input(session, examples):
    """Why the strongest pull of the three ends further away, counted where it happens."""
    guide = Lesson(session, examples, {})._guide()
    assert guide["scales"][0] == 0
    assert len(guide["top"]) == len(guide["scales"]) + 1
    off, own, strong = guide["gaps"]
    assert own < strong < off
    assert guide["swings"][:2] == [0, 0]
    assert guide["steps"] / 2 < guide["swings"][2] < guide["steps"]


def test_cases_agree_with_what_try_it_runs(lesson, made, tiny_models):
    known = Request.of(tiny_models.profile, severity=1, seed=0, paths=PATHS).usual
    assert made["depth"]["fixed"] == tiny_models.profile.dda_depth
    for case, shown in zip(COMPARED, made["depth"]["cases"], strict=True):
        damaged = lesson._damaged(case)
        run = adapt(tiny_models, damaged, case.seed, known(tiny_models.profile))
        stop, _, said = shown["said"]
        assert stop == pill(run.stop, run.stopping.horizon)[0]
        assert stop.startswith("t* =") == run.stop.crossed
        assert said == sentence(run.explained)
        before, *after = pictures(shown["pictures"])
        assert np.array_equal(before, damaged)
        results = [run.reconstructions[name] for name in ("dga-guided", "dda", "dga-plus")]
        for image, result in zip(after, results, strict=True):
            assert np.array_equal(image, result.image)
        labels = [top[0][0] for top in shown["top"]]
        assert labels == [p.label for p in (run.input_prediction, *(r.prediction for r in results))]
        assert shown["truth"] == lesson.examples[case.picture].truth


def test_the_recorded_run_of_try_it_is_the_lessons_own(session, examples, monkeypatch):
    lesson = Lesson(session, examples, {})
    state = lesson.presets.named("cat-gaussian-noise").state
    monkeypatch.setattr(lessons, "COMPARED", (MAIN,))
    monkeypatch.setattr(Session, "events", None)  # nothing is run again
    judged = lesson._judge()
    assert judged["stops"][round(100 * judged["tau"])] == (state.search.stop.t_star, True)
    assert np.allclose(judged["damaged"], np.mean(state.curves, 0), atol=1e-4)
    (shown,) = lesson._depth()["cases"]
    results = [state.results[name].prediction for name in ("dga-guided", "dda", "dga-plus")]
    top = [p.top(1)[0] for p in (state.subject.input_prediction, *results)]
    assert [one[0] for one in shown["top"]] == [[label, round(share, 4)] for label, share in top]


def test_lists_of_pictures(lesson, made):
    assert [one["title"] for one in made["meet"]] == ["Brightness", "Defocus blur", "Impulse noise"]
    for one in made["meet"]:
        assert len(pictures(one["pictures"])) == len(one["top"]) == 6
        assert one["top"][0] == made["meet"][0]["top"][0]  # they start undamaged
    for case, shown in zip(lessons.DAMAGED, made["plus"], strict=True):
        state = lesson.ran(case)
        _, undone, repaired = pictures(shown["pictures"])
        assert np.array_equal(undone, state.explained.restored)
        assert np.array_equal(repaired, state.results["dga-plus"].image)


# Be the repairer


@pytest.fixture
def line():
    return QueuePositions()


@pytest.fixture
def toy(lesson, made, line):
    return Toy(lesson.session, lesson.patients, SideLane(line))


CASE = "lake-contrast"


def ask(**asked):
    return json.dumps({"case": CASE, **asked})


def test_sliders_are_the_inverses_of_dga_plus(lesson, made, tiny_models):
    patient = lesson.patients[CASE]
    assert patient.guess(0, 0, 0) == NO_DEGRADATION
    half = patient.guess(MOST["exposure"] // 2, MOST["sharpness"] // 2, 0)
    told = Stretch(GAIN**0.5, "channel", "own")
    assert np.allclose(half.exposure.offset, told.of(patient.x).offset, atol=1e-5)
    assert (half.exposure.gain, half.blur) == (told.gain, BLUR / 2)
    assert np.array_equal(patient.undone(half), from_tensor(half.inverse(patient.x)))
    # Noise is what diffusion removes: in one step from the depth at which it enters.
    noisy = patient.guess(0, 0, MOST["noise"])
    assert noisy.noise == LEVEL
    plus = tiny_models.profile.plus
    other = from_tensor(noisy.inverse(patient.x))
    assert not np.array_equal(patient.undone(noisy), other)
    assert plus.noisy.steps == 1


def test_the_networks_scores_are_those_that_it_chose_by(session, examples):
    """Where it found noise, too: then both are judged beyond the depth at which it enters."""
    lesson, noisy = Lesson(session, examples, {}), 0
    cases = lesson._toy()["cases"]
    for case in lessons.DAMAGED:
        found = lesson.ran(case).explained.found
        shown = cases[f"{case.picture}-{case.corruption}"]
        known = {one.degradation: one.score for one in found.scored if one.calls > 1}
        chosen = [known[NO_DEGRADATION], known[found.degradation]]
        assert shown["scores"] == pytest.approx(chosen, abs=1e-2)
        assert shown["network"]["calls"] == len(found.scored)
        noisy += bool(found.degradation.noise)
    assert noisy


@pytest.mark.parametrize("value", [1e9, 10**60, "9", None, True, float("nan"), float("inf"), [1]])
def test_sliders_of_a_program_stay_within_their_range(toy, value):
    at = {name: most if value in (1e9, 10**60, float("inf")) else int(value is True)
          for name, most in MOST.items()}  # fmt: skip
    expected = toy.move("", ask(**at))
    answer = toy.move("", ask(**dict.fromkeys(MOST, value)))
    assert "error" not in answer
    assert answer == expected


def test_a_picture_that_is_not_there_becomes_a_sentence(toy, line):
    for case in ("none", None, [1], {}):
        assert toy.move("", ask(case=case, ask=3)) == {"error": NO_PICTURE, "ask": 3}
        assert toy.land("", ask(case=case, start=0))["error"] == NO_PICTURE
    for start in (-1, COLUMNS * ROWS, 1.5, None, "0"):
        assert toy.land("", ask(start=start))["error"] == NO_PICTURE
    assert toy.move("", "no JSON")["error"] == NO_PICTURE
    assert not toy.slices.get(("none", 0))


def test_the_landscape_comes_in_pieces_and_is_kept_for_everybody(toy, monkeypatch):
    assert sorted(order()) == [(i, j) for i in range(COLUMNS) for j in range(ROWS)]
    scores = []
    while len(scores) < COLUMNS * ROWS:
        piece = toy.land("", ask(noise=7, start=len(scores)))
        assert 0 < len(piece["scores"]) <= 64
        scores += piece["scores"]
    patient = toy.patients[CASE]
    for at in (0, 40, 500):
        i, j = order()[at]
        (score,) = patient.scores(patient.guess(2 * i, 2 * j, 7))
        assert scores[at] == pytest.approx(score, abs=1e-3)
    monkeypatch.setattr(type(patient), "scores", None)  # known by now
    assert toy.land("other", ask(noise=7, start=100))["scores"] == scores[100:132]


def test_the_landscape_waits_while_others_are_served(toy, line, monkeypatch):
    with line.served("somebody"):
        answer = toy.land("", ask(start=0))
    assert (answer["error"], answer["waits"]) == (LAND_WAITS, True)
    assert toy.slices[CASE, 0] == []
    # It ends between two looks, too, and keeps what it has.
    real = type(toy.patients[CASE]).scores

    def comes(patient, *guesses):
        line._served.add("somebody")
        return real(patient, *guesses)

    monkeypatch.setattr(type(toy.patients[CASE]), "scores", comes)
    assert toy.land("", ask(start=0))["waits"]
    assert 0 < len(toy.slices[CASE, 0]) < 32


def test_a_noisier_picture_enters_deeper_and_no_earlier_than_its_level(made):
    level = made["level"]
    assert level["levels"] == sorted(level["levels"])
    signal = np.array(made["film"]["signal"])
    ratios = np.sqrt(1 / signal**2 - 1)  # what the page's script works out
    assert level["deepest"] < len(signal)
    for measured, entry in zip(level["levels"], level["entries"], strict=True):
        assert ratios[entry] >= measured > ratios[entry - 1]


def test_an_example_that_is_missing_becomes_an_error(tiny_models):
    with pytest.raises(KeyError):
        list(Lesson(Session(tiny_models), {}, {}).parts())
