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

FROG, CAT, DOG = Reading("frog", 0.67), Reading("cat", 0.42), Reading("dog", 0.4)


@pytest.mark.parametrize(
    ("after", "ending"),
    [(CAT, "it is read as cat (42 %)."), (FROG, "it is still read as frog (67 %).")],
)
def test_the_reading_before_and_after_is_told(after, ending):
    told = describe_chosen_depth(FROG, after, Stop(7, True), 60, is_guided=True)
    assert told == f"It was read as frog (67 %). Noised to depth 7 and rebuilt, {ending}"
    assert describe_fixed_depth(FROG, after, 24).endswith(f"fixed depth 24 and rebuilt, {ending}")


def test_never_crossed_claims_nothing_of_the_damage():
    assert describe_chosen_depth(FROG, DOG, Stop(24, False), 60, is_guided=False) == (
        "It was read as frog (67 %). The detector was too sure of damage up to depth 24, "
        "the deepest allowed. Rebuilt without guidance from there, it is read as dog (40 %)."
    )


def test_left_alone_has_two_sentences():
    """At high confidence no depth hides the damage; at low confidence there is none to hide."""
    coarse, clean = (
        describe_chosen_depth(FROG, FROG, Stop(0, crossed), 60, is_guided=True)
        for crossed in (False, True)
    )
    assert coarse.startswith("Even at depth 60 the detector is too sure of damage")
    assert clean.startswith("The detector is not sure enough that it is damaged")


def test_what_dga_plus_says():
    found = "Impulses removed, then rebuilt from depth 5."
    assert describe_plus(FROG, CAT, found, Stop(5, True), False, False) == (
        "It was read as frog (67 %). Diagnosis: impulses removed, then rebuilt from depth 5. "
        "It is read as cat (42 %)."
    )
    for crossed, is_flat, words in (
        (True, False, "undamaged"),
        (False, False, "no depth hides"),
        (True, True, "One colour"),
    ):
        left = describe_plus(FROG, FROG, "", Stop(0, crossed), True, is_flat)
        assert words in left
        assert left.endswith("read as frog (67 %).")


def test_shares_round_in_one_way():
    """As the page's script does: a half upwards, and nothing is 100 % that is not."""
    assert [percent(p) for p in (0.4244, 0.425, 0.994, 0.9951, 0.9994, 0.9996, 1.0)] == (
        ["42 %", "43 %", "99 %", "99 %", "99 %", "100 %", "100 %"]
    )
