"""The record of a finished run, for programs and for shells."""

import dataclasses
import json

import pytest

from dga.adaptation import Adaptation, adapt
from dga.adaptation_record import format_record, make_record
from dga.sentences import describe_explanation
from dga.stopping import Stop
from dga.systems import parse

PICTURES = {"clean": "out/clean.png", "input": "out/input.png"}


@pytest.fixture(scope="module")
def run(choosy_models, pictures) -> Adaptation:
    """A dark picture, whose exposure DGA+ undoes."""
    return adapt(choosy_models, pictures[3], seed=6)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "One colour or a drawing"),
        (1, "Damage: noise 0."),
        (3, "Damage: too dark, gain "),
        (4, "Damage: none; nothing is left to rebuild, so it is left alone."),
        (5, "; rebuilt from depth "),
    ],
)
def test_a_sentence_for_each_thing_found(choosy_models, pictures, number, words):
    chosen = [parse(choosy_models.profile, "dga-plus")]
    start = adapt(choosy_models, pictures[number], 6, chosen).plus.start
    assert words in describe_explanation(start, start.is_unchanged)
    late = dataclasses.replace(start, stop=Stop(0, False, has_given_up=True))
    assert ("no depth hides the rest" in describe_explanation(late, True)) == (number > 0)


def test_programs_get_numbers_and_shells_get_text(run):
    facts = json.loads(json.dumps(make_record(run)))
    command = facts | {"pictures": PICTURES}
    assert (facts["seed"], facts["t_star"]) == (6, run.t_star)
    assert facts["confidence"] == pytest.approx(run.confidence.tolist(), abs=1e-6)
    depths = {name: method["depth"] for name, method in facts["methods"].items()}
    assert depths == {name: one.depth for name, one in run.reconstructions.items()}
    assert facts["explained"]["parameters"]["exposure"]["gain"] > 2
    likeliest = [(row["label"], row["probability"]) for row in facts["input"]["top5"]]
    assert likeliest == [
        (label, pytest.approx(share, abs=1e-6)) for label, share in run.input_prediction.top(5)
    ]
    first, second, *rows = format_record(command).splitlines()
    assert first == command["explained"]["sentence"]
    assert second.startswith(f"t* = {run.t_star}")
    named = [row.split()[0] for row in rows]
    assert named == ["confidence", "input", *run.reconstructions, "pictures"]


def test_the_record_says_by_which_weights_and_settings(choosy_models, pictures):
    models = dataclasses.replace(choosy_models, weights={"diffusion": "0123456789ab"})
    method = "dga-guided:tau=0.25:steps=3:eta=0.5:scale=2"
    run = adapt(models, pictures[3], 0, [parse(models.profile, method)])
    facts = json.loads(json.dumps(make_record(run)))
    assert facts["weights"] == models.weights
    settings = facts["methods"][method]["settings"]
    assert [settings[name] for name in ("tau", "steps", "eta", "scale")] == [0.25, 3, 0.5, 2]


def test_without_dga_plus_nothing_is_explained(run):
    chosen = {name: run.reconstructions[name] for name in ("dga", "dga-guided", "dda")}
    facts = make_record(dataclasses.replace(run, reconstructions=chosen)) | {"pictures": PICTURES}
    assert facts["explained"] is None
    assert format_record(facts).startswith("t* = ")


def test_the_text_tells_giving_up_from_the_deepest_depth(run):
    """Also where the deepest depth is 0."""
    for stop, words in (
        (Stop(0, False), "the deepest allowed"),
        (Stop(0, False, True), "left alone"),
    ):
        ended = dataclasses.replace(run, forward=dataclasses.replace(run.forward, stop=stop))
        facts = make_record(ended) | {"pictures": PICTURES}
        assert facts["given_up"] == stop.has_given_up
        assert words in format_record(facts)


def test_what_was_not_undone_was_not_found(run):
    """A picture that comes back bit for bit, though something was measured in it."""
    plus = dataclasses.replace(run.plus, image=run.input)
    facts = make_record(dataclasses.replace(run, reconstructions={"dga-plus": plus}))["explained"]
    assert facts["unchanged"]
    assert facts["degradation"] == "none"
    assert facts["parameters"]["exposure"] is None
    assert "gain" not in facts["sentence"]


def test_dga_plus_alone_has_no_curve(run):
    only = {"dga-plus": run.reconstructions["dga-plus"]}
    alone = dataclasses.replace(run, forward=None, x_t_star_prediction=None, reconstructions=only)
    facts = make_record(alone) | {"pictures": PICTURES}
    assert (facts["confidence"], facts["t_star"], facts["x_t_star"]) == ([], None, None)
    first, second, *_ = format_record(facts).splitlines()
    assert first.startswith("Damage: too dark, gain ")
    assert second.startswith("input ")
