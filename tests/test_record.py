"""The two shapes of a finished run, for shells and for programs, key by key."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Exposure
from dga.explanation.search import CandidateScore, Explanation
from dga.networks.classifier import Prediction
from dga.one_picture import Adaptation, Reconstruction
from dga.pipeline import NO_EXPLANATION, ForwardResult, choose_diffusion
from dga.profiles import EVERYDAY16, Diffusion, Repair
from dga.record import to_api_facts, to_command_facts, to_text
from dga.sentences import describe_explanation
from dga.stopping import Stop
from dga.systems import DEFAULT_SYSTEMS, systems

GOLDEN = Path(__file__).parent / "golden"
PICTURES = {"clean": "out/clean.png", "input": "out/input.png"}


def _prediction(*shares: float) -> Prediction:
    return Prediction(tuple(EVERYDAY16.classifier.classes[: len(shares)]), shares)


THREE_TIMES = Degradation(Exposure(3.0, (0.5, 0.25, -0.125)))
PIXELS = np.zeros((64, 64, 3), np.uint8)


def explained(
    degradation: Degradation = NO_DEGRADATION,
    t_star: int = 0,
    crossed: bool = True,
    entry: int = 0,
    candidate_scores: tuple[CandidateScore, ...] = (),
    flat: bool = False,
) -> ForwardResult:
    """What DGA+ would have found, as far as words depend on it."""
    logits = np.log(np.array([3.0, 5 / 3, 9 / 7, 7 / 9]))
    explanation = Explanation(degradation, entry, 0.03125, candidate_scores, flat)
    return stop_at(Stop(t_star, crossed), EVERYDAY16.plus, explanation, logits, 0.5)


def paper(stop: Stop, steps: int | None = None) -> ForwardResult:
    """The paper's rule on a path of its own."""
    rule = dataclasses.replace(EVERYDAY16.stopping, tau=0.6)
    logits = np.linspace(3, -4, 101)
    return stop_at(stop, Repair(Diffusion(rule, steps=steps)), NO_EXPLANATION, logits, 0.12346)


def stop_at(
    stop: Stop, repair: Repair, explanation: Explanation, logits: np.ndarray, seconds: float
) -> ForwardResult:
    diffusion, x = choose_diffusion(repair, explanation), torch.zeros(1, 3, 64, 64)
    return ForwardResult(
        0, 11, x[0], repair, diffusion, explanation, stop, logits, x[0], x[0], seconds
    )


@pytest.fixture
def run() -> Adaptation:
    """A run whose every number is made up, so that no machine can round it otherwise."""
    said = _prediction(0.5123456789, 0.25, 0.125, 0.0625, 0.03125, 0.015625)
    searches = {
        **dict.fromkeys(("dga", "dga-guided"), paper(Stop(7, is_crossed=True))),
        "dda": paper(Stop(24, is_crossed=True), 12),
        "dga-plus": explained(
            THREE_TIMES, 3, candidate_scores=(CandidateScore("exposure", THREE_TIMES, -3.25),)
        ),
    }
    return Adaptation(
        profile=EVERYDAY16,
        stopping=dataclasses.replace(EVERYDAY16.stopping, tau=0.6),
        seed=11,
        precision="bfloat16",
        device="cpu",
        input=PIXELS,
        input_prediction=said,
        forward=searches["dga"],
        x_t_star_prediction=said,
        reconstructions={
            s.name: Reconstruction(
                s,
                searches[s.name],
                PIXELS + 1,
                said,
                # The search that is DGA+'s own is told with its rebuilding.
                1.987654 - (searches[s.name].seconds if s.name == "dga-plus" else 0.0),
            )
            for s in (systems(EVERYDAY16)[name] for name in DEFAULT_SYSTEMS)
        },
    )


NOISE = Degradation(noise=0.4123)
BLUR = Degradation(blur=2.0, regularisation=0.03)


@pytest.mark.parametrize(
    ("degradation", "words"),
    [
        (explained(), "Damage: none; nothing is left to rebuild, so it is left alone."),
        (explained(NOISE), "Damage: none; nothing is left to rebuild, so it is left alone."),
        (explained(crossed=False), "no depth hides the rest, so it is left alone"),
        (explained(flat=True), "One colour or a drawing"),
        (explained(t_star=1), "no measurement explains; rebuilt from depth 1 in 1 step"),
        (explained(BLUR, 5), "Damage: blur 2 px; rebuilt from depth 5"),
        (explained(NOISE, 14, entry=14), "Damage: noise 0.41; rebuilt from depth 14"),
    ],
)
def test_a_sentence_for_each_thing_found(degradation, words):
    assert words in describe_explanation(degradation, degradation.is_unchanged)


def test_without_dga_plus_nothing_is_explained(run):
    chosen = {name: run.reconstructions[name] for name in ("dga", "dga-guided", "dda")}
    facts = to_command_facts(dataclasses.replace(run, reconstructions=chosen), PICTURES, "fog", 4)
    assert facts["explained"] is None
    assert to_text(facts).startswith("t* = 7")


def test_what_was_not_undone_was_not_found(run):
    """A picture that comes back bit for bit, though something was measured in it."""
    plus = dataclasses.replace(run.plus, image=run.input)
    facts = to_api_facts(dataclasses.replace(run, reconstructions={"dga-plus": plus}))["explained"]
    assert facts["unchanged"]
    assert facts["degradation"] == "none"
    assert facts["parameters"]["exposure"]["gain"] == 1
    assert "gain" not in facts["sentence"]


def test_dga_plus_alone_has_no_curve(run):
    plus = run.reconstructions["dga-plus"]
    only = {"dga-plus": plus}
    alone = dataclasses.replace(run, forward=plus.forward, reconstructions=only)
    facts = to_command_facts(alone, PICTURES, None, 4)
    assert (facts["confidence"], to_api_facts(alone)["confidence"]) == ([], [])
    first, second, *_ = to_text(facts).splitlines()
    assert first.startswith("Damage: gain 3, offset")
    assert second.startswith("input ")


@pytest.mark.parametrize("name", ["to_command_facts", "to_api_facts", "to_text"])
def test_shapes_are_what_they_were(name, run):
    facts = to_command_facts(run, PICTURES, "fog", 4)
    if name == "to_text":
        assert to_text(facts) + "\n" == (GOLDEN / "to_text.txt").read_text()
        return
    made = json.loads(json.dumps(facts if name == "to_command_facts" else to_api_facts(run)))
    # A processor's exponential may differ in its last bit.
    assert made.pop("confidence") == pytest.approx(run.confidence.tolist(), abs=1e-6)
    assert made == json.loads((GOLDEN / f"{name}.json").read_text())
