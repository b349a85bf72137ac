"""The stopping rule, edge case by edge case."""

import dataclasses

import numpy as np
import pytest

from dga.profiles import StoppingConfig
from dga.stopping import Stop, choose_depth, compute_confidence

CONFIG = StoppingConfig(tau=0.5, max_depth=6)


def logits(*confidence: float) -> np.ndarray:
    p = np.asarray(confidence)
    return np.log(p / (1 - p))


@pytest.mark.parametrize(
    ("tau", "confidence", "expected"),
    [
        (0.5, (0.9, 0.7, 0.4, 0.6, 0.1), Stop(2, True)),
        (0.5, (0.2, 0.9, 0.9), Stop(0, True)),
        (0.5, (0.5,) * 4, Stop(3, False)),  # equal to tau is not below
        (0.5, (0.9,) * 20, Stop(6, False)),
        (0.5, (0.9,) * 7 + (0.1, 0.1), Stop(6, False)),  # below only beyond the maximum depth
        (0.5, (0.9,) * 6 + (0.1, 0.1), Stop(6, True)),
        (0.0, (0.9, 0.5, 0.001), Stop(2, False)),
        (1.0, (0.9, 0.5, 0.001), Stop(0, True)),
    ],
)
def test_the_first_depth_below_tau_is_chosen(tau, confidence, expected):
    rule = dataclasses.replace(CONFIG, tau=tau)
    assert choose_depth(logits(*confidence), rule) == expected


def test_not_even_below_by_the_horizon_is_left_as_it_is():
    config = dataclasses.replace(CONFIG, max_depth=2, horizon=4)
    late, never = logits(*[0.9] * 4, 0.1, 0.1), logits(*[0.9] * 5, 0.1)
    assert choose_depth(late, config) == Stop(2, False)
    assert choose_depth(never, config) == Stop(0, False, has_given_up=True)
    assert not choose_depth(logits(0.1, 0.9), config).has_given_up
    assert choose_depth(logits(0.9, 0.1, 0.9), config) == Stop(1, True)
    assert config.deepest == 4
    with pytest.raises(ValueError, match="horizon is max_depth"):
        StoppingConfig(max_depth=9, horizon=8)


def test_bad_curves_are_refused():
    for curve in ([], [float("nan")], [1.0, float("inf")]):
        with pytest.raises(ValueError, match="empty or holds"):
            choose_depth(curve, CONFIG)


def test_confidence_is_stable_for_large_logits():
    assert compute_confidence([-1000.0, 0.0, 1000.0]).tolist() == [0.0, 0.5, 1.0]
