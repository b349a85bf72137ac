"""Every way that a run can end has its own true sentence."""

import pytest

from dga.sentences import (
    Reading,
    Story,
    per_mille,
    percent,
    pill,
    spent,
    spent_on_inverse,
    spread,
    title,
)
from dga.stopping import Stop

FROG, CAT, DOG = Reading("frog", 0.67), Reading("cat", 0.42), Reading("dog", 0.4)
HIDDEN = ("hidden the damage", "no longer sees")  # claims that a curve above tau disproves


@pytest.mark.parametrize(
    ("before", "after", "truth", "ending", "verdict"),
    [
        (FROG, CAT, "cat", "it is read as cat (42 %): right.", "right"),
        (CAT, CAT, "cat", "it is read as cat (42 %): still right.", "right"),
        (CAT, DOG, "cat", "it is read as dog (40 %): now wrong.", "wrong"),
        (FROG, DOG, "cat", "it is read as dog (40 %): still wrong.", "wrong"),
        (FROG, CAT, None, "it is read as cat (42 %).", ""),
        (FROG, FROG, None, "it is still read as frog (67 %).", ""),
    ],
)
def test_right_and_wrong_before_and_after(before, after, truth, ending, verdict):
    story = Story(before, truth, 60)
    start = f"It was read as {before}. Noised to depth 7 and rebuilt, "
    assert story.own_depth(Stop(7, True), after) == (start + ending, verdict)
    text, same = story.fixed_depth(24, after)
    assert text.endswith(ending)
    assert same == verdict


def test_never_crossed_claims_nothing_of_the_damage():
    text, verdict = Story(FROG, "cat", 60).own_depth(Stop(24, False), DOG, guided=False)
    assert text == (
        "It was read as frog (67 %). The detector was too sure of damage up to depth 24, "
        "the deepest allowed. Rebuilt without guidance from there, it is read as dog (40 %): still "
        "wrong."
    )
    assert verdict == "wrong"
    assert not any(claim in text for claim in HIDDEN)
    assert title(Stop(24, False)) == "Noised to depth 24"
    assert pill(Stop(24, False), 60) == ("24, the deepest allowed", "still above τ", "")


def test_left_alone_has_two_sentences():
    """At high confidence no depth hides the damage; at low confidence there is none to hide."""
    story = Story(FROG, "cat", 60)
    coarse, clean = Stop(0, False), Stop(0, True)
    assert story.own_depth(coarse, FROG) == (
        "Even at depth 60 the detector is too sure of damage, so the picture is "
        "left alone, read as frog (67 %): wrong.",
        "wrong",
    )
    assert story.own_depth(clean, FROG) == (
        "The detector is not sure enough that it is damaged, so it is left as it is, read as frog "
        "(67 %): wrong.",
        "wrong",
    )
    assert title(coarse) != title(clean)
    assert pill(coarse, 60)[0] == "too sure at 60: left alone"
    assert pill(clean, 60)[0] == "t* = 0: left as it is"
    assert spent(0, 0.0, 1.1) == "Choosing the depth took 1.1 s; nothing was rebuilt."


def test_what_dga_plus_says():
    story, found = Story(FROG, "cat", 60), "Impulses removed, then rebuilt from depth 5."
    assert story.plus(found, Stop(5, True), False, False, CAT) == (
        "It was read as frog (67 %). Diagnosis: impulses removed, then rebuilt from depth 5. "
        "It is read as cat (42 %): right.",
        "right",
    )
    left = [
        story.plus("", Stop(0, crossed), True, flat, FROG)[0]
        for crossed, flat in ((True, False), (False, False), (True, True))
    ]
    assert all(text.endswith("read as frog (67 %): wrong.") for text in left)
    assert len(set(left)) == 3
    assert "undamaged" in left[0]
    assert "no depth hides" in left[1]
    assert "One colour" in left[2]
    said = "Diagnosed and rebuilt from depth 9, it would be read as cat (42 %): right."
    assert story.plus_from(9, CAT)[0] == said


def test_a_depth_chosen_by_hand_is_called_so():
    story = Story(FROG, "cat", 60)
    said = "Noised to depth 9 by hand and rebuilt, it is read as cat (42 %): right."
    assert story.by_hand(9, CAT) == (said, "right")
    left, verdict = story.by_hand(0, FROG)
    assert left.endswith("as it is, read as frog (67 %): wrong.")
    assert verdict == "wrong"
    brief = "Noised to depth 9 by hand and rebuilt, it is read as cat: right."
    assert story.by_hand(9, Reading("cat", None)) == (brief, "right")


def test_on_a_projector_there_are_no_figures():
    story = Story(FROG, "cat", 60)
    stops = [Stop(7, True), Stop(24, False), Stop(0, True), Stop(0, False)]
    said = [story.shown("dga", stop, DOG) for stop in stops]
    said += [story.shown("dda", stops[0], DOG), story.shown("dga-plus", stops[0], DOG)]
    said += [story.shown("dga-plus", stops[2], DOG, unchanged=True)]
    assert len({text for text, _ in said}) == len(said)
    for text, verdict in said:
        assert not any(sign.isdigit() for sign in text)
        assert verdict == "wrong"
        assert text.endswith("it is read as dog: wrong.")


def test_costs_count_what_choosing_cost():
    quick = "Finding and undoing the damage took under 0.1 s; no noise was needed."
    assert spent_on_inverse(0.04) == quick
    assert spent(7, 0.5, 1.1) == "Choosing the depth took 1.1 s, rebuilding 0.5 s."
    assert spent(12, 3.3) == "No depth to choose: rebuilding took 3.3 s."


def test_where_single_paths_stop():
    fall = "tries alone fall below τ, at depth"
    assert spread([6, 10, 7]) == f"3 of 3 {fall} 6–10."  # noqa: RUF001
    assert spread([6, None, 7]) == f"2 of 3 {fall} 6–7."  # noqa: RUF001
    assert spread([6, 6]) == f"2 of 2 {fall} 6."
    assert spread([None, None]) == "None of 2 tries alone falls below τ."
    assert spread([6]) == ""
    assert pill(Stop(7, True), 60, [6, 6]) == ("t* = 7", "first below τ here", f"2 of 2 {fall} 6.")


def test_shares_round_in_one_way():
    """The page's script has only whole per mille to round: both must agree."""
    assert [percent(p) for p in (0.4244, 0.425, 0.994, 0.9951, 0.9996, 1.0)] == (
        ["42 %", "43 %", "99 %", "99 %", "100 %", "100 %"]
    )
    assert per_mille(0.4245) == 425
