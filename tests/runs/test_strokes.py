"""What strokes of the brush may be, what they do to a photo, and how much of it they touch."""

import numpy as np
import pytest

from app.runs.damage import damage_photo
from app.runs.settings import Settings
from app.runs.strokes import KINDS, MOST_LETTERS, get_layer, measure_touched, parse_strokes

SIZE = "F"  # 16 of 128


def dot(kind: int, x: int, y: int, size: str = SIZE) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
    return f"{kind}{size}{digits[x >> 6]}{digits[x & 63]}{digits[y >> 6]}{digits[y & 63]}"


@pytest.fixture
def photo():
    return np.random.default_rng(0).integers(40, 200, (60, 100, 3), np.uint8)


def paint(photo, text):
    return damage_photo(photo, Settings(damage="paint", strokes=text))


def test_text_is_read_as_it_is_meant():
    first, second = parse_strokes(f"1.{dot(2, 0, 255)}VVWU.{dot(5, 51, 102)}")
    assert (first.kind, second.kind) == ("fog", "dark")
    assert first.size == 16 / 128
    assert first.points == ((0, 1), (0, 1), (1 / 255, 254 / 255))
    assert second.points == ((0.2, 0.4),)
    assert parse_strokes("") == ()


@pytest.mark.parametrize(
    "text",
    [
        *("1", "1.", "2.0F0000", "0F0000", "1.0F000", "1.0F00000", "1.6F0000", "1.0F0000..0F0000"),
        *("1.0F4000", "1.0F0040", "1.0F0000UV", "1.0F3_3_WV", "1.0F00 0", "1.0Fé000", "1.0F0000%"),
        "1" + f".{dot(0, 9, 9)}" * 10_000,
        "1." + "0" * MOST_LETTERS,
    ],
)
def test_what_lies_is_one_sentence(text):
    with pytest.raises(ValueError, match=r"^[^.]+\.$"):
        parse_strokes(text)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_a_stroke_changes_what_it_covers_and_no_more(photo, kind):
    text = f"1.{dot(kind, 64, 127, 'V')}"
    changed = (paint(photo, text) != photo).any(-1)
    assert changed[20:40, 15:35].any()
    assert not changed[:, 50:].any()
    assert (paint(photo, text) == paint(photo, text)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_painted_all_over_it_is_the_photo_that_the_page_paints_with(photo, kind):
    number, places = KINDS.index(kind), range(0, 256, 15)
    text = "1." + ".".join(dot(number, x, y, "_") for x in places for y in (60, 195))
    assert (paint(photo, text) == get_layer(photo, kind, {})).all()
    assert measure_touched(text, 60, 100) == 1


def test_the_last_stroke_is_on_top(photo):
    fog, dark = dot(2, 127, 127, "_"), dot(5, 127, 127, "_")
    middle = np.s_[25:35, 45:55]
    assert (paint(photo, f"1.{fog}.{dark}")[middle] == paint(photo, f"1.{dark}")[middle]).all()
    assert (paint(photo, f"1.{dark}.{fog}")[middle] == paint(photo, f"1.{fog}")[middle]).all()


def test_the_score_is_the_share_that_was_touched_however_often():
    one = f"1.{dot(0, 127, 127, 'V')}"  # a quarter of the side
    expected = np.pi / 4 * 0.25**2
    assert measure_touched(one, 200, 200) == pytest.approx(expected, rel=0.05)
    again = f"{one}.{dot(3, 127, 127, 'V')}"
    assert measure_touched(again, 200, 200) == measure_touched(one, 200, 200)
    assert measure_touched(one, 100, 200) == pytest.approx(2 * expected, rel=0.05)
    assert measure_touched("", 200, 200) == 0
