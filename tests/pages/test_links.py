"""The page's address: settings go in and come out again."""

from urllib.parse import parse_qsl

import pytest

from app.runs.links import ALWAYS, KEYS, filled, opening_values, parse, write
from app.runs.settings import check_settings
from dga.corruptions import CORRUPTIONS
from dga.profiles import EVERYDAY16, IMAGENET
from dga.request import Request

NAMES = ("lion", "cat")
OPENING = {
    **opening_values(EVERYDAY16), "image": "cat", "corruption": "jpeg_compression", "severity": 4,
    "seed": 7, "paths": 8,
}  # fmt: skip
OPENED = check_settings(EVERYDAY16, **{k: v for k, v in OPENING.items() if k != "image"})


def read(query, profile=EVERYDAY16):
    return parse(dict(parse_qsl(query.removeprefix("?"))), profile, NAMES, OPENING)


def test_the_written_form():
    settings = Request("jpeg_compression", 4, 0.5, 7, 24)
    expected = "?image=lion&corruption=jpeg_compression&severity=4&tau=0.50&seed=7"
    assert write(EVERYDAY16, settings, "lion") == expected
    assert write(EVERYDAY16, settings, None) == expected.replace("lion", "own")
    changed = Request(None, 3, 0.5, 7, 30, 8, 2.0, 40)
    assert write(EVERYDAY16, changed, "cat") == (
        "?image=cat&corruption=none&severity=3&tau=0.50&seed=7"
        "&dda=30&paths=8&scale=2.00&max_depth=40"
    )


@pytest.mark.parametrize("profile", [EVERYDAY16, IMAGENET])
@pytest.mark.parametrize(
    "settings",
    [
        *(Request(name, 1 + n % 5, n / 100, 10**n % 2**31, n + 1) for n, name in
          enumerate(CORRUPTIONS)),
        Request(None, 3, 0.123456789, 2**31 - 1, 100),
        Request("fog", 5, 1.0, 0, 1, 8, 0.1 + 0.2, 1),
        Request("fog", 5, 0.0, 0, 1, 1, 0.0, 100),
    ],
)  # fmt: skip
def test_round_trip(profile, settings):
    link = read(write(profile, settings, "cat"), profile)
    assert link.image == "cat"
    assert link.notices == ()
    assert link.settings == check_settings(profile, **filled(profile, settings))


@pytest.mark.parametrize("query", ["", "?__theme=dark", "?utm_source=mail&view=api", "?Image=own"])
def test_what_is_not_named_is_as_the_page_opens(query):
    link = read(query)
    assert (link.image, link.settings, link.notices) == ("cat", OPENED, ())
    typed = read("?corruption=fog&severity=3")
    assert (typed.image, typed.settings.corruption, typed.notices) == ("cat", "fog", ())


def test_what_a_written_link_leaves_out_is_the_profile_s():
    link = read(write(EVERYDAY16, Request("fog", 2, 0.5, 1, 24), "lion"))
    assert link.settings.paths == EVERYDAY16.stopping.paths != OPENED.paths


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("image=dragon", "picture “dragon”"),
        ("corruption=rain", "corruption “rain”"),
        ("corruption=speckle_noise", "corruption “speckle_noise”"),
        ("severity=2.5", "severity “2.5”"),
        ("tau=1.01", "τ “1.01”"),
        ("tau=nan", "τ “nan”"),
        ("tau=half", "τ “half”"),
        ("seed=" + "9" * 5000, "seed “999"),
        ("dda=101", "fixed depth “101”"),
        ("paths=9", "tries “9”"),
        ("scale=-1", "strength λ “-1”"),
        ("max_depth=101", "deepest allowed “101”"),
        ("rule=coin", "rule “coin”"),
        ("method=magic", "method “magic”"),
        ("depth=33", "depth “33”"),
    ],
)
def test_a_bad_value_falls_back_with_a_notice(query, named):
    link = read(f"?image=cat&{query}" if "image" not in query else f"?{query}")
    assert len(link.notices) == 1
    assert named in link.notices[0]
    assert len(link.notices[0]) < 200
    assert "_" not in link.notices[0].replace("speckle_noise", "")  # words for people
    assert (link.image, link.settings) == ("cat", OPENED)


def test_a_depth_by_hand_goes_as_deep_as_the_run_is_shown():
    assert read("?image=cat&depth=32").depth == 32
    assert read("?image=cat&depth=40&max_depth=40").depth == 40
    assert read("?image=cat&depth=41&dda=40").depth is None


def test_a_rule_of_an_earlier_link_is_answered():
    link = read("?image=cat&rule=quantile")
    assert "threshold is used instead" in link.notices[0]
    assert read("?image=cat&rule=threshold").notices == ()


def test_one_bad_value_leaves_the_good_ones():
    link = read("?image=cat&corruption=fog&severity=9&seed=7&tau=0.3")
    assert (link.settings.corruption, link.settings.severity) == ("fog", 3)
    assert (link.settings.seed, link.settings.tau) == (7, 0.3)
    assert len(link.notices) == 1


def test_an_own_picture_is_never_in_a_link():
    link = read(write(EVERYDAY16, Request("fog", 2, 0.5, 1, 24), None))
    assert link.image is None
    assert link.settings.severity == 2
    assert link.notices == ()
    assert read("?" + "&".join(f"{key}=?" for key in ALWAYS)).image == "cat"  # not marked as own


def test_keys_are_those_that_are_written():
    every = Request("fog", 5, 0.5, 3, 30, 8, 2.0, 40)
    written = [key for key, _ in parse_qsl(write(EVERYDAY16, every, "cat")[1:])]
    assert ["run", *written, "method", "depth"] == list(
        KEYS
    )  # the name of a recorded run is written by other pages
