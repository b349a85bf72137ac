"""Photo: damage, repair, one depth everywhere, what it says of them, the recorded opening."""

import json
import re

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.pages.photo.handlers import PhotoComponents, PhotoHandlers
from app.pages.photo.value import gauges, lines, photo_value, singles_value
from app.parts.photographs import LONGEST, Photograph, load_photographs
from app.presets import photo as recorded
from app.runs.damage import MAX_POINTS, NONE, RAMP, TWO_PLACES, Damage, Stroke, check_damage
from app.runs.photo import DEEPEST, SURVEY, Photo, repair, single
from app.runs.places import find_places, map_uri
from app.runs.session import CancelledError, Session
from app.server.errors import RequestError
from app.server.limits import MAX_STROKES, PHOTO_PIXELS
from app.server.queue_position import QueuePositions
from app.words.photo import PHOTOGRAPHS
from dga.corruptions import CORRUPTIONS
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Exposure
from dga.explanation.search import Explanation
from dga.io.shipped import shipped
from dga.photograph import Photograph as Repaired
from dga.photograph import repair_photograph
from tests.fixtures.app import WEIGHTS

STROKES = Damage()
SMALL = np.ascontiguousarray(skimage.data.chelsea()[60:156, 100:228])  # [96, 128, 3]


@pytest.fixture
def tiny(tiny_models):
    return Session(tiny_models)


def repaired(noise=None, depths=None, image=None, found=NO_DEGRADATION, unchanged=False):
    """A result of nine windows of 32 pixels on 96."""
    noise = np.zeros((96, 96), np.float32) if noise is None else noise
    depths = np.zeros((3, 3), int) if depths is None else np.array(depths)
    image = np.full((96, 96, 3), 90, np.uint8) if image is None else image
    explanation = Explanation(found, 0, 0.0)
    begins = (0, 32, 64)
    return Repaired(image, explanation, noise, begins, begins, depths, unchanged, 1.25)


def finished(damage=STROKES, **result):
    photo = Photo("astronaut", np.full((96, 96, 3), 100, np.uint8), damage)
    photo.take(repaired(**result))
    return photo


def corners():
    """Noise in two opposite corners."""
    noise = np.zeros((96, 96), np.float32)
    noise[:30, :30] = noise[66:, 66:] = 0.3
    return {"noise": noise, "depths": [[16, 0, 0], [0, 0, 0], [0, 0, 9]]}


def said(photo):
    return ["".join(line[:3]) for line in lines(photo)]


# Damage


@pytest.mark.parametrize("kind", ["strokes", RAMP, *CORRUPTIONS])
def test_damage_is_the_same_each_time_and_keeps_the_size(kind):
    before = SMALL.copy()
    once, again = (Damage(kind).apply(SMALL) for _ in range(2))
    assert once.shape == SMALL.shape
    assert once.dtype == np.uint8
    assert np.array_equal(once, again)
    assert not np.array_equal(once, SMALL)
    assert np.array_equal(SMALL, before)


@pytest.mark.parametrize("kind", ["noise", "blur", "dark"])
def test_a_stroke_stays_where_it_was_painted(kind):
    one = Damage("strokes", 3, (Stroke(kind, 100, 100, ((0.1, 0.1), (0.2, 0.2))),)).apply(SMALL)
    assert not np.array_equal(one[:30, :30], SMALL[:30, :30])
    assert np.array_equal(one[60:], SMALL[60:])
    assert Damage(NONE).apply(SMALL) is SMALL


STROKE = {"kind": "noise", "size": 96, "strength": 60, "points": [[0.1, 0.2], [0.3, 0.4]]}


def test_what_the_script_sends_is_what_is_painted():
    asked = Damage().value()
    assert check_damage(json.loads(json.dumps(asked))) == Damage(strokes=TWO_PLACES)
    assert check_damage({"kind": "fog", "severity": 5}) == Damage("fog", 5, ())


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "nothing"},
        {"kind": ["fog"]},
        {"kind": "fog", "severity": 6},
        {"kind": "fog", "severity": "3"},
        {"strokes": "many"},
        {"strokes": [STROKE] * (MAX_STROKES + 1)},
        {"strokes": [None]},
        {"strokes": [{}]},
        *(
            {"strokes": [STROKE | change]}
            for change in (
                {"kind": "fire"}, {"size": 1e9}, {"size": True}, {"strength": None},
                {"points": []}, {"points": [[0.1]]}, {"points": [[0.1, 2]]}, {"points": "ab"},
                {"points": [[0.1, 0.2]] * (MAX_POINTS + 1)}, {"points": [[0.1, float("nan")]]},
            )
        ),
    ],
)  # fmt: skip
def test_other_damage_is_refused(asked):
    with pytest.raises(RequestError):
        check_damage(asked)


# What was found


def test_two_places_and_the_untouched_one_between():
    places = find_places(repaired(**corners()))
    assert [place.depth for place in places.places] == [16, 9]
    assert places.untouched is not None
    assert places.untouched.depth == 0
    assert places.direction == ""
    assert len(places.outlines) == 2
    assert map_uri(places).startswith("data:image/png;base64,")


def test_noise_that_rises_has_a_direction():
    everywhere = np.full((96, 96), 0.3, np.float32)
    for depths, direction in (
        ([[4, 9, 16]] * 3, "right"), ([[16, 9, 4]] * 3, "left"), ([[9, 9, 9]] * 3, ""),
        ([[16] * 3, [9] * 3, [4] * 3], "top"),
    ):  # fmt: skip
        assert find_places(repaired(everywhere, depths)).direction == direction


def test_sentences_are_made_from_what_was_found():
    assert said(finished(**corners()))[:1] == ["Noise in two places."]
    second = said(finished(**corners()))[1]
    assert re.fullmatch(r"Depth 9 to 16 there, 0 elsewhere: \d+\.\d dB\.", second)
    everywhere = {"noise": np.full((96, 96), 0.3, np.float32)}
    assert said(finished(**everywhere, depths=[[9, 9, 12]] * 3))[0] == "Noise everywhere."
    ramp = said(finished(**everywhere, depths=[[4, 9, 16]] * 3))
    assert ramp[0] == "Noise that grows to the right."
    assert ramp[1].startswith("Depth 4 to 16: ")
    dark = finished(found=Degradation(Exposure(gain=2.0), blur=1.0))
    assert said(dark)[0] == "Changed exposure and blur."
    assert said(dark)[1].startswith("Depth 0 everywhere: ")
    assert [there for *_, there in gauges(dark)] == [True, True, False]


def test_a_repair_that_made_it_worse_is_not_green():
    better = finished(image=np.full((96, 96, 3), 100, np.uint8), **corners())
    assert lines(better)[1][3] == "ok"
    worse = finished(image=np.full((96, 96, 3), 200, np.uint8), **corners())
    assert lines(worse)[1][3] == "bad"


def test_nothing_found_is_returned_as_it_came():
    own = Photo("", SMALL, Damage(NONE))
    own.take(repaired(image=SMALL, unchanged=True))
    assert said(own) == ["Nothing to repair: depth 0 everywhere.", "It is returned as it came."]
    fog = finished(Damage("fog"), unchanged=True)
    assert said(fog)[0] == "Nothing was found: depth 0 everywhere."  # there was something
    assert " dB" in said(fog)[1]


def words_of(value):
    """All that a value says, without its pictures."""
    return re.sub(r"data:[^\"]*", "", json.dumps(value))


def test_without_a_truth_no_quality_is_told(tiny):
    photo = Photo("", Damage().apply(SMALL), Damage(NONE))
    list(repair(tiny, photo))
    assert photo.phase == "done"
    value = photo_value(photo)
    assert value["own"] is value["before"] is value["clean"] is None
    assert " dB" not in words_of(value)


def test_close_ups_show_where_one_depth_is_too_shallow_and_too_deep():
    clean = np.full((96, 96, 3), 100, np.uint8)
    photo = Photo("astronaut", clean, Damage("strokes", 3, ()))
    photo.take(repaired(image=clean, **corners()))
    one = clean.copy()
    one[:30, :30] += 40  # left in the corner
    one[40:56, 40:56] += 9  # blurred in the middle
    photo.take_single(8, one)
    assert singles_value(photo)["closeUps"] == []  # the best is not known yet
    photo.singles |= dict.fromkeys(SURVEY, 1.0) | {8: photo.singles[8]}
    shallow, deep = photo.close_ups()
    assert (shallow.own, deep.own) == (16, 0)
    named = [[text for _, text in pair] for pair in singles_value(photo)["closeUps"]]
    assert named == [["at 8: too shallow", "at 16"], ["at 8: too deep", "at 0"]]
    assert said(photo)[2] == f"The best single depth gives {photo.singles[8]:.1f}."
    photo.best = 8, clean  # nothing is harmed: no close-ups
    assert photo.close_ups() == []


# A visitor


@pytest.fixture
def handlers(tiny, monkeypatch):
    examples = {"cat": Photograph("cat", "Cat", SMALL, "data:,")}
    monkeypatch.setattr("app.pages.photo.handlers.load_photographs", lambda: examples)
    names = ("stage", "panel", "run", "cancel", "saved", "timer")
    components = PhotoComponents(**{name: name for name in names})
    opening = Photo("cat", SMALL, Damage())
    return PhotoHandlers(tiny, components, QueuePositions(), opening)


def ask(**changes):
    return json.dumps({"name": "cat", "damage": Damage().value()} | changes)


def test_a_photo_is_damaged_repaired_and_saved(handlers, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    shown = handlers.show("v", ask(damage={"kind": RAMP}))["stage"]
    assert (shown["phase"], shown["repaired"]) == ("empty", None)
    assert "press Repair it" in handlers.save("v", ask())["stage"]["error"]
    *_, last = handlers.run("v", ask())
    value = last.get("stage") or handlers.shown(handlers.kept.last("v"))["stage"]
    assert value["phase"] == "done"
    assert value["error"] == ""
    assert last["run"]["interactive"]
    photo = handlers.kept.last("v")
    with Image.open(handlers.save("v", ask())["saved"]) as image:
        assert np.array_equal(np.asarray(image), photo.result.image)
    assert photo.csv().splitlines()[0] == "top,left,depth"
    assert len(photo.csv().splitlines()) == 1 + photo.result.depths.size
    *_, news = handlers.single("v", ask(key=photo.key, depth=3))
    assert news["panel"]["single"][0] == 3
    assert news["panel"]["singles"]["3"] == pytest.approx(photo.singles[3], abs=0.01)
    rival = repair_photograph(handlers.session.models, photo.damaged, depth=3).image
    assert photo.quality(rival) == pytest.approx(photo.singles[3])


@pytest.mark.parametrize("asked", ["", "[]", "no JSON", '{"depth": 3}', ask(key=-1, depth=3)])
def test_one_depth_of_what_is_not_there_is_refused(handlers, asked):
    *_, last = handlers.single("v", asked)
    assert "press Repair it" in last["panel"]["error"]


@pytest.mark.parametrize("depth", [None, -1, DEEPEST + 1, 2.5, "3"])
def test_other_depths_are_refused(handlers, depth):
    list(handlers.run("v", ask()))
    *_, last = handlers.single("v", ask(key=handlers.kept.last("v").key, depth=depth))
    assert f"from 0 to {DEEPEST}" in last["panel"]["error"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (ask(name="dog"), "Choose a photo first"),
        (ask(name=""), "Choose a photo first"),
        (ask(name="", path="/etc/passwd"), "Choose a photo first"),
        (ask(damage={"kind": "fire"}), "not known"),
        (ask(damage={"strokes": [{}]}), "strokes"),
    ],
)
def test_bad_requests_become_sentences(handlers, asked, sentence):
    assert sentence in handlers.show("v", asked)["stage"]["error"]
    *_, last = handlers.run("v", asked)
    assert sentence in last["stage"]["error"]
    assert last["run"]["interactive"]


def test_an_own_photo_keeps_its_size_up_to_a_megapixel(handlers, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    for size, used in (((300, 200), (300, 200)), ((1600, 1200), None)):
        path = tmp_path / f"{size[0]}.png"
        Image.new("RGB", size, "teal").save(path)
        value = handlers.show("v", ask(name="", path=str(path), damage={"kind": NONE}))["stage"]
        assert not value["truth"]
        assert bool(value["notice"]) == (used is None)
        width, height = value["size"]
        assert used in (None, (width, height))
        assert 0.9 * min(size[0] * size[1], PHOTO_PIXELS) < width * height <= PHOTO_PIXELS
    assert "1.9 megapixels" in value["notice"]
    small = tmp_path / "small.png"
    Image.new("RGB", (40, 20), "teal").save(small)
    value = handlers.show("v", ask(name="", path=str(small), damage={"kind": "fog"}))["stage"]
    assert "32 pixels" in value["error"]
    assert "Choose a photo" in handlers.show("w", ask(name=""))["stage"]["error"]  # hers alone


def test_cancel_ends_a_run_and_a_depth(handlers):
    updates = handlers.run("v", ask())
    while not (photo := handlers.kept.last("v")) or not photo.running:
        next(updates)
    shown = handlers.cancel("v")["stage"]
    assert shown["phase"] == "cancelled"
    assert shown["error"] == ""
    assert shown["said"][0] == ["Stopped."]
    assert list(updates)[-1]["run"]["interactive"]
    photo.cancel.set()
    with pytest.raises(CancelledError):
        list(single(handlers.session, photo, 2))


# Examples and the recorded one


def test_examples_have_their_own_size():
    photographs = load_photographs()
    assert list(photographs) == list(PHOTOGRAPHS)
    for photograph in photographs.values():
        assert max(photograph.pixels.shape) <= LONGEST
    assert photographs["cat"].pixels.shape == (300, 451, 3)


def test_the_opening_is_recorded_and_read_back(tiny, tmp_path, monkeypatch):
    examples = {"astronaut": Photograph("astronaut", "Astronaut", SMALL, "data:,")}
    monkeypatch.setattr(recorded, "load_photographs", lambda: examples)
    folder = tmp_path / tiny.profile.name / "photo"
    recorded.record(tiny, folder)
    photo, pictures = recorded.load(tiny, tmp_path)
    assert photo.recorded
    assert list(pictures) == list(SURVEY)
    again = repair_photograph(tiny.models, photo.damaged)
    assert np.array_equal(photo.result.image, again.image)
    assert np.array_equal(photo.result.depths, again.depths)
    assert photo.best[0] == max(photo.singles, key=photo.singles.get)
    places = find_places(again)
    assert (photo.places.places, photo.places.direction) == (places.places, places.direction)
    assert photo.places.untouched == places.untouched
    assert np.abs(photo.places.depths - places.depths).max() <= 0.1
    content = json.loads((folder / "record.json").read_text())
    for changes in ({"weights": {"a": "b"}}, {"configuration": {}}, {"damaged_sha256": ""}):
        (folder / "record.json").write_text(json.dumps(content | changes))
        photo, pictures = recorded.load(tiny, tmp_path)
        assert photo.result is None
        assert not pictures


@pytest.mark.skipif(WEIGHTS is not None, reason="they belong to the shipped weights")
def test_the_shipped_opening_is_complete_and_small(session):
    photo, pictures = recorded.load(session)
    assert list(pictures) == list(SURVEY)
    assert said(photo)[0] == "Noise in two places."
    assert photo.quality(photo.result.image) > photo.singles[photo.best[0]] + 1
    assert len(photo.close_ups()) == 2
    folder = shipped("assets/presets") / session.profile.name / "photo"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_500_000


@pytest.mark.slow
@pytest.mark.skipif(WEIGHTS is not None, reason="they belong to the shipped weights")
def test_the_shipped_opening_is_what_the_models_do(session):
    photo, _ = recorded.load(session)
    again = repair_photograph(session.models, photo.damaged)
    assert photo.quality(again.image) == pytest.approx(photo.quality(photo.result.image), abs=0.1)
    assert (np.abs(again.depths - photo.result.depths) <= 1).mean() > 0.95
