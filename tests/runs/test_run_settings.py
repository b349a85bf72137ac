"""What may be asked of a run, and that anything else is one sentence."""

import numpy as np
import pytest

from app.runs.damage import damage_photo
from app.runs.settings import Settings, SettingsError, parse_link, parse_settings
from dga.images import recompress_jpeg


@pytest.mark.parametrize(
    "value",
    [
        *(None, "fog", b"{", b"[]", {"more": 1}, {"damage": "hail"}, {"photo": "x" * 100}),
        *({"strength": 6}, {"strength": "much"}, {"seed": -1}, {"saved": 0}, {"saved": "small"}),
        *({"tau": float("nan")}, {"tau": 2}, {"max_depth": 10**9}, {"max_depth": 0}),
        *({"strokes": "1.zz"}, {"strokes": [{"points": [[0.5, 0.5]]}]}, {"strokes": 7}),
    ],
)
def test_what_is_not_allowed_is_one_sentence(value):
    with pytest.raises(SettingsError) as refusal:
        parse_settings(value)
    text = str(refusal.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "pydantic" not in text
    assert len(text) < 500  # all names of damage


def test_settings_come_back_as_they_went():
    settings = Settings(photo="panda", damage="paint", strokes="1.0A0C0P")
    assert parse_settings(settings.model_dump(mode="json")) == settings
    assert parse_settings(settings.model_dump_json().encode()) == settings


def test_a_link_is_understood_and_what_it_says_beside_is_passed_over():
    link = {"photo": "goldfish", "strokes": "1.0A0C0P", "utm_source": "friend"}
    painted = Settings(photo="goldfish", damage="paint", strokes="1.0A0C0P")
    assert parse_link(link) == painted
    assert parse_link({"damage": "fog", "strength": "2"}) == Settings(damage="fog", strength=2)
    rain = {"damage": "rain", "strength": "4", "saved": "85"}
    assert parse_link(rain) == Settings(damage="rain", strength=4, saved=85)
    with pytest.raises(SettingsError):
        parse_link({"strokes": "1.0A"})


def test_strokes_count_where_paint_is_the_damage_alone():
    for damage in ("none", "fog"):
        assert Settings(damage=damage, strokes="1.0A0C0P") == Settings(damage=damage)
    assert parse_settings(b'{"strokes": "1.0A0C0P"}').strokes == ""


@pytest.fixture
def photo():
    return np.random.default_rng(0).integers(40, 200, (48, 80, 3), np.uint8)


@pytest.mark.parametrize("damage", ["fog", "haze"])
def test_what_is_saved_is_a_jpeg_of_what_was_damaged(photo, damage):
    settings = Settings(damage=damage, strength=3, saved=85)
    unsaved = damage_photo(photo, Settings(damage=damage, strength=3))
    assert (damage_photo(photo, settings) == np.asarray(recompress_jpeg(unsaved, 85))).all()
    assert Settings(damage="none", saved=85) == Settings(damage="none")


def test_a_photo_too_small_for_damage_is_one_sentence():
    with pytest.raises(SettingsError, match="32 pixels"):
        damage_photo(np.zeros((20, 300, 3), np.uint8), Settings(damage="fog"))
