"""The record of a finished run, for programs and for shells."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from dga.adaptation import Adaptation, adapt
from dga.adaptation_record import format_record, make_record
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.search import Explanation, Verdict
from dga.pipeline import ForwardResult, choose_diffusion
from dga.profiles import EVERYDAY16
from dga.sentences import describe_explanation
from dga.stopping import Stop

PICTURES = {"clean": "out/clean.png", "input": "out/input.png"}


def explained(
    degradation: Degradation = NO_DEGRADATION,
    t_star: int = 0,
    has_given_up: bool = False,
    entry: int = 0,
    verdict: Verdict = Verdict.SUSPECT,
) -> ForwardResult:
    """What DGA+ would have found, as far as words depend on it."""
    explanation = Explanation(degradation, entry, 0.03, verdict=verdict)
    x = torch.zeros(3, 64, 64)
    diffusion = choose_diffusion(EVERYDAY16.plus, explanation)
    stop = Stop(t_star, not has_given_up, has_given_up)
    found = EVERYDAY16.plus, diffusion, explanation, stop
    return ForwardResult(0, 11, x, *found, np.zeros(4), x, x, seconds=0.5)


@pytest.fixture(scope="module")
def run(choosy_models, pictures) -> Adaptation:
    """A pale picture, whose exposure DGA+ undoes."""
    return adapt(choosy_models, pictures[3], seed=6)


NOISE = Degradation(noise=0.4123)
BLUR = Degradation(blur=2.0, regularisation=0.03)


@pytest.mark.parametrize(
    ("degradation", "words"),
    [
        (explained(), "Damage: none; nothing is left to rebuild, so it is left alone."),
        (explained(NOISE), "Damage: none; nothing is left to rebuild, so it is left alone."),
        (explained(has_given_up=True), "no depth hides the rest, so it is left alone"),
        (explained(verdict=Verdict.UNJUDGEABLE), "One colour or a drawing"),
        (explained(t_star=1), "no measurement explains; rebuilt from depth 1 in 1 step"),
        (explained(BLUR, 5), "Damage: blur 2 px; rebuilt from depth 5"),
        (explained(NOISE, 14, entry=14), "Damage: noise 0.41; rebuilt from depth 14"),
    ],
)
def test_a_sentence_for_each_thing_found(degradation, words):
    assert words in describe_explanation(degradation, degradation.is_unchanged)


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
    assert facts["parameters"]["exposure"]["gain"] == 1
    assert "gain" not in facts["sentence"]


def test_dga_plus_alone_has_no_curve(run):
    only = {"dga-plus": run.reconstructions["dga-plus"]}
    alone = dataclasses.replace(run, forward=None, x_t_star_prediction=None, reconstructions=only)
    facts = make_record(alone) | {"pictures": PICTURES}
    assert (facts["confidence"], facts["t_star"], facts["x_t_star"]) == ([], None, None)
    first, second, *_ = format_record(facts).splitlines()
    assert first.startswith("Damage: gain ")
    assert second.startswith("input ")
