"""The two shapes of a finished run, for shells and for programs, key by key."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Reconstruction, default_routes
from dga.profiles import EVERYDAY16
from dga.record import to_dict, to_record, to_text
from dga.request import Request
from dga.stopping import Stop

GOLDEN = Path(__file__).parent / "golden"
PICTURES = {"clean": "out/clean.png", "input": "out/input.png"}


def _prediction(*shares: float) -> Prediction:
    return Prediction(tuple(EVERYDAY16.classifier.classes[: len(shares)]), shares)


@pytest.fixture
def run() -> Adaptation:
    """A run whose every number is made up, so that no machine can round it otherwise."""
    pixels = np.zeros((64, 64, 3), np.uint8)
    said = _prediction(0.5123456789, 0.25, 0.125, 0.0625, 0.03125, 0.015625)
    depths = {"dga": 7, "dga-guided": 7, "dda": 24}
    return Adaptation(
        profile=EVERYDAY16,
        stopping=dataclasses.replace(EVERYDAY16.stopping, tau=0.6, paths=2),
        seed=11,
        dtype="bfloat16",
        device="cpu",
        input=pixels,
        input_prediction=said,
        logits=np.linspace(3, -4, 202).reshape(2, 101),
        stop=Stop(7, crossed=True),
        x_t_star=pixels,
        x_t_star_prediction=said,
        curve_seconds=0.123456,
        reconstructions={
            name: Reconstruction(route, depths[name], pixels, said, 1.987654, min(depths[name], 12))
            for name, route in default_routes(EVERYDAY16).items()
        },
    )


REQUEST = Request("fog", 4, 0.6, 11, 24, paths=2)


@pytest.mark.parametrize("name", ["to_dict", "to_record", "to_text"])
def test_shapes_are_what_they_were(name: str, run: Adaptation) -> None:
    facts = to_dict(run, REQUEST, PICTURES)
    if name == "to_text":
        assert to_text(facts) + "\n" == (GOLDEN / "to_text.txt").read_text()
        return
    made = json.loads(json.dumps(facts if name == "to_dict" else to_record(run)))
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    # A processor's exponential may differ in its last bit.
    assert made.pop("confidence") == pytest.approx(expected.pop("confidence"), rel=1e-12)
    assert made == expected
