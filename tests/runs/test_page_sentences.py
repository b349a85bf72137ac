"""Every state of a run has a sentence that is true for it."""

import pytest

from app.runs.sentences import describe_damage, describe_finding, write_headline
from app.runs.subject import describe_reading
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.haze import Haze
from dga.explanation.operators import Disk, MotionBlur
from dga.explanation.veil import Veil
from dga.networks.classifier import Prediction


def reading(label: str, share: float = 0.9) -> dict[str, object]:
    return {"label": label, "share": share, "is_sure": share >= 0.25}


RIGHT, WRONG = reading("panda"), reading("dog", 0.4)


@pytest.mark.parametrize(
    ("damaged", "repaired", "is_unchanged", "words", "never"),
    [
        (WRONG, RIGHT, False, ("hid the panda", "After repair", "90"), ("did not",)),
        (RIGHT, RIGHT, False, ("did not hide", "90"), ("hid the",)),
        (WRONG, WRONG, False, ("hid the panda", "did not bring it back"), ("again",)),
        (RIGHT, WRONG, False, ("did not hide", "our repair did"), ("again",)),
        (WRONG, WRONG, True, ("hid the panda", "left it alone"), ("again", "bring")),
        (RIGHT, RIGHT, True, ("did not hide", "left it alone"), ("Repaired",)),
        (WRONG, None, False, ("hid the panda",), ("Repaired", "repair")),
        (RIGHT, None, False, ("did not hide",), ("Repaired", "repair")),
    ],
)
def test_headline_of_a_damaged_sample(damaged, repaired, is_unchanged, words, never):
    text = write_headline(
        "fog", "panda", damaged, repaired, is_unchanged=is_unchanged, diagnosis="fog"
    )
    assert text.startswith("Fog ")
    assert text.count(".") <= 2
    assert all(word in text for word in words), text
    assert not any(word in text for word in never), text


@pytest.mark.parametrize("truth_share", [0.2, 0.4])
@pytest.mark.parametrize("has_label", [False, True])
@pytest.mark.parametrize("damaged", [reading("dog", 0.3), reading("panda", 0.3)])
def test_a_right_reading_below_a_half_is_not_called_sure(damaged, truth_share, has_label):
    repaired = reading("panda", truth_share)
    text = write_headline("fog", "panda", damaged, repaired, has_label=has_label)
    assert "not sure" in text or "less sure" in text, text


@pytest.mark.parametrize(("damaged", "is_dared"), [(WRONG, False), (RIGHT, True)])
def test_paint_that_hides_and_is_left_alone_is_no_mercy(damaged, is_dared):
    text = write_headline("paint", "panda", damaged, damaged, is_unchanged=True)
    assert ("not dare" not in text) == is_dared
    assert ("left it alone" in text) == is_dared


@pytest.mark.parametrize("share", [0.1, 0.9])
@pytest.mark.parametrize(("is_unchanged", "is_fine"), [(False, False), (True, False), (True, True)])
def test_headline_of_an_own_photo(share, is_unchanged, is_fine):
    seen = reading("elk", share)
    text = write_headline(
        "none", None, seen, seen, is_unchanged=is_unchanged, is_fine=is_fine, diagnosis="noise",
        has_label=False,
    )  # fmt: skip
    assert ("no damage" in text) == is_fine
    assert ("left it alone" in text) == is_unchanged
    assert text.count("elk") == 1
    assert ("not sure" in text) == (share < 0.25)
    assert ("still not sure" in text) == (share < 0.25 and not is_unchanged)
    assert ("found noise and tried" in text) == (not is_unchanged)
    assert not any(word in text for word in ("again", "repaired", "Repaired"))


@pytest.mark.parametrize("damaged", [WRONG, RIGHT])
@pytest.mark.parametrize("repaired", [None, WRONG, RIGHT])
@pytest.mark.parametrize("is_unchanged", [False, True])
def test_of_a_damaged_own_photo_only_readings_are_compared(damaged, repaired, is_unchanged):
    text = write_headline(
        "fog", "panda", damaged, repaired, is_unchanged=is_unchanged, has_label=False
    )
    assert ("still read as “panda”" in text) == (damaged is RIGHT)
    assert not any(word in text for word in ("hid", "the panda", "right", "seen"))


def test_of_a_sample_that_came_undamaged_is_told_what_its_repair_did():
    text = write_headline("none", "panda", RIGHT, WRONG, diagnosis="noise")
    assert "“dog” (40" in text


FLAT = Degradation(veil=Veil(gain=5.0))


def test_all_damage_is_named_with_what_is_done_about_it():
    found = Degradation(operator=MotionBlur(9, 0), veil=FLAT.veil, impulses=0.3)
    assert describe_damage(found) == "motion blur, low contrast and speckles"
    done = "Sharpened, contrast stretched and wrong pixels replaced"
    assert done in describe_finding(found)
    assert f"{done}, and the rest mended" in describe_finding(found, is_mended=True)
    assert describe_damage(NO_DEGRADATION) == ""
    poor = describe_finding(Degradation(jpeg_quality=9), is_mended=True)
    assert "poor JPEG. Mended by a network" in poor


@pytest.mark.parametrize("veil", [Haze((0.8, 0.8, 0.8), 6.0), Veil(smooth=True, gain=3.0)])
def test_haze_is_named_whichever_way_it_is_undone(veil):
    found = Degradation(veil=veil)
    assert describe_finding(found, added="haze") == "haze. Added light subtracted."


@pytest.mark.parametrize("is_mended", [False, True])
@pytest.mark.parametrize(("added", "found", "is_said"), [
    ("snow", FLAT, True), ("contrast", FLAT, False), ("jpeg_twice", NO_DEGRADATION, True),
    ("camera_shake", Degradation(operator=Disk(3.0)), True), ("none", FLAT, False),
    ("gaussian_noise", Degradation(noise=0.1), False),
])  # fmt: skip
def test_what_was_added_is_said_where_something_else_was_found(added, found, is_said, is_mended):
    assert ("(added: " in describe_finding(found, added=added, is_mended=is_mended)) == is_said


@pytest.mark.parametrize(("share", "is_sure"), [(0.2449, False), (0.2475, True)])
def test_a_reading_is_as_sure_as_it_is_written(share, is_sure):
    prediction = Prediction(("panda", "dog"), (share, 0.1))
    assert describe_reading(prediction)["is_sure"] == is_sure


@pytest.mark.parametrize("damage", ["none", "fog"])
def test_what_is_too_plain_to_judge_is_not_said_to_be_searched(damage):
    text = write_headline(damage, None, WRONG, WRONG, is_unchanged=True, is_unjudgeable=True)
    assert "too plain" in text
    assert "found" not in text
