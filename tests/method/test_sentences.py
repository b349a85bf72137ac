"""Every way that a run can end has its own true sentence."""

import pytest

from dga.sentences import (
    Reading,
    describe_chosen_depth,
    describe_fixed_depth,
    describe_plus,
    percent,
)
from dga.stopping import Stop

FROG, CAT = Reading("frog", 0.67), Reading("cat", 0.42)


@pytest.mark.parametrize(
    ("stop", "after", "is_guided", "words"),
    [
        (Stop(7, True), CAT, True, ("frog (67 %)", "depth 7", "cat (42 %)")),
        (Stop(7, True), FROG, True, ("depth 7", "still read as frog")),
        (Stop(24, False), CAT, False, ("too sure", "up to depth 24", "without guidance")),
        # Left alone: no depth hides the damage, or there is none to hide.
        (Stop(0, False), FROG, True, ("depth 60", "too sure")),
        (Stop(0, True), FROG, True, ("not sure enough",)),
    ],
)
def test_a_chosen_depth(stop, after, is_guided, words):
    told = describe_chosen_depth(FROG, after, stop, 60, is_guided)
    assert all(word in told for word in words), told


def test_a_fixed_depth():
    assert "depth 24" in describe_fixed_depth(FROG, CAT, 24)


@pytest.mark.parametrize(
    ("crossed", "is_flat", "words"),
    [(True, False, "undamaged"), (False, False, "no depth hides"), (True, True, "One colour")],
)
def test_what_dga_plus_leaves_alone(crossed, is_flat, words):
    assert words in describe_plus(FROG, FROG, "", Stop(0, crossed), True, is_flat)


def test_shares_round_in_one_way():
    """As the page's script does: a half upwards, and nothing is 100 % that is not."""
    assert [percent(p) for p in (0.4244, 0.425, 0.994, 0.9951, 0.9994, 0.9996, 1.0)] == (
        ["42 %", "43 %", "99 %", "99 %", "99 %", "100 %", "100 %"]
    )
