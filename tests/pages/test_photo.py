"""Photo: damage, repair, one depth everywhere, what it says of them, the recorded opening."""

import base64
import io
import json
import re

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.pages.photo.handlers import PhotoComponents, PhotoHandlers
from app.pages.photo.value import gauges, lines, photo_value, singles_value
from app.parts.examples import LONGEST, load_photographs
from app.presets import photo as recorded
from app.runs.damage import MAX_POINTS, NONE, OPENING, RAMP, Damage, Stroke, check_damage
from app.runs.photo import DEEPEST, SURVEY, Photo, repair
from app.runs.places import find_places
from app.runs.session import CancelledError, Session
from app.server.errors import RequestError
from app.server.limits import MAX_STROKES, PHOTO_PIXELS
from app.server.queue_position import QueuePositions
from app.words.photo import BUSY, NOT_KEPT, PHOTOGRAPHS
from dga.corruptions import CORRUPTIONS
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Exposure
from dga.explanation.search import Explanation
from dga.io.shipped import shipped
from dga.photograph import Photograph, repair_photograph
from tests.fixtures.app import WEIGHTS

SMALL = np.ascontiguousarray(skimage.data.chelsea()[60:156, 100:228])  # [96, 128, 3]
GREY = np.full((96, 96, 3), 100, np.uint8)
EVERYWHERE = np.full((96, 96), 0.3, np.float32)
CORNERS = np.zeros((96, 96), np.float32)
CORNERS[:30, :30] = CORNERS[66:, 66:] = 0.3
TWO = {"noise": CORNERS, "depths": [[16, 0, 0], [0, 0, 0], [0, 0, 9]]}


@pytest.fixture
def tiny(tiny_models):
    return Session(tiny_models)


def finished(damage=OPENING, found=NO_DEGRADATION, image=GREY - 10, **result):
    """A photograph with a result of nine windows of 32 pixels on 96."""
    known = {"noise": np.zeros((96, 96), np.float32), "depths": np.zeros((3, 3), int)} | result
    begins, unchanged = (0, 32, 64), known.get("unchanged", False)
    explanation, depths = Explanation(found, 0, 0.0), np.array(known["depths"])
    photo = Photo("astronaut", GREY, damage)
    photo.take(
        Photograph(image, explanation, known["noise"], begins, begins, depths, unchanged, 1.25)
    )
    return photo


def said(photo):
    return [re.sub("<[^>]*>", "", line) for line in lines(photo)]


# Damage


@pytest.mark.parametrize("damage", [OPENING, Damage(RAMP), *map(Damage, CORRUPTIONS)])
def test_damage_is_the_same_each_time_and_keeps_the_size(damage):
    before = SMALL.copy()
    once, again = (damage.apply(SMALL) for _ in range(2))
    assert (once.shape, once.dtype) == (SMALL.shape, np.uint8)
    assert np.array_equal(once, again)
    assert not np.array_equal(once, SMALL)
    assert np.array_equal(SMALL, before)


@pytest.mark.parametrize("points", [((0.1, 0.1),), ((0.1, 0.1), (0.2, 0.2))])
@pytest.mark.parametrize("kind", ["noise", "blur", "dark"])
def test_a_stroke_stays_where_it_was_painted(kind, points):
    one = Damage(strokes=(Stroke(kind, 100, 100, points),)).apply(SMALL)
    assert not np.array_equal(one[:30, :30], SMALL[:30, :30])
    assert np.array_equal(one[60:], SMALL[60:])
    assert Damage().apply(SMALL) is SMALL


STROKE = {"kind": "noise", "size": 96, "strength": 60, "points": [[0.1, 0.2], [0.3, 0.4]]}


def test_what_the_script_sends_is_what_is_painted(tiny):
    shown = photo_value(Photo("", SMALL, OPENING))["damage"]
    assert check_damage(json.loads(json.dumps(shown))) == OPENING
    fog = {"kind": "fog", "severity": 5, "strokes": [STROKE]}
    assert check_damage(fog) == Damage("fog", 5)


@pytest.mark.parametrize(
    "asked",
    [
        None, {}, {"kind": "nothing"}, {"kind": ["fog"]}, {"kind": "fog", "severity": 6},
        {"kind": "fog", "severity": "3"},
        *(
            {"kind": "strokes", "strokes": strokes}
            for strokes in ("many", 3, {}, [None], [{}], [STROKE] * (MAX_STROKES + 1))
        ),
        *(
            {"kind": "strokes", "strokes": [STROKE | change]}
            for change in (
                {"kind": "fire"}, {"size": 1e9}, {"size": True}, {"strength": None},
                {"points": []}, {"points": [[0.1]]}, {"points": [[0.1, 2]]}, {"points": "ab"},
                {"points": [[0.1, 0.2]] * (MAX_POINTS + 1)}, {"points": [[0.1, float("nan")]]},
                {"size": 10**400},
            )
        ),
    ],
)  # fmt: skip
def test_other_damage_is_refused(asked):
    with pytest.raises(RequestError):
        check_damage(asked)


# What was found


def test_two_places_and_the_untouched_one_between():
    photo = finished(**TWO)
    places = photo.places
    assert [depth for *_, depth in places.labels] == [16, 9, 0]
    assert (places.count, len(places.outlines), places.direction) == (2, 2, "")
    with Image.open(io.BytesIO(photo.file("map")[1])) as image:
        clear = np.asarray(image)[..., 3]
    assert clear.shape == (96, 96)
    assert clear[10, 10] > 150
    assert not clear[48, 48]


@pytest.mark.parametrize(
    ("depths", "direction"),
    [
        ([[4, 9, 16]] * 3, "right"), ([[16, 9, 4]] * 3, "left"), ([[9, 9, 9]] * 3, ""),
        ([[16] * 3, [9] * 3, [4] * 3], "top"),
    ],
)  # fmt: skip
def test_noise_that_rises_has_a_direction(depths, direction):
    assert finished(noise=EVERYWHERE, depths=depths).places.direction == direction


SPECK = np.zeros((96, 96), np.float32)
SPECK[:4, :4] = 0.3
DARK = Degradation(Exposure(gain=2.0), blur=1.0)


@pytest.mark.parametrize(
    ("result", "first", "second"),
    [
        (TWO, "Noise in two places.", r"Depth 9 to 16 there, 0 elsewhere"),
        ({"noise": EVERYWHERE, "depths": [[9, 9, 12]] * 3}, "Noise everywhere.", "Depth 9 to 12"),
        (
            {"noise": EVERYWHERE, "depths": [[4, 9, 16]] * 3},
            "Noise that grows to the right.", "Depth 4 to 16",
        ),
        (
            {"noise": SPECK, "depths": [[3, 0, 0]] + [[0] * 3] * 2},
            "A little noise.", "Depth 3 there, 0 elsewhere",
        ),
        ({"found": DARK}, "Changed exposure and blur.", "Depth 0 everywhere"),
    ],
)  # fmt: skip
def test_sentences_are_made_from_what_was_found(result, first, second):
    photo = finished(**result)
    assert said(photo)[0] == first
    assert re.fullmatch(rf"{second}: \d+\.\d dB\.", said(photo)[1])
    there = {name for name, _, is_there in gauges(photo) if is_there}
    assert there == ({"exposure", "sharpness"} if "found" in result else {"noise"})


def test_a_repair_that_made_it_worse_is_not_green():
    assert 'class="ok"' in lines(finished(image=GREY, **TWO))[1]
    assert 'class="bad"' in lines(finished(image=GREY + 100, **TWO))[1]


def test_nothing_found_is_returned_as_it_came():
    nothing = ["Nothing to repair: depth 0 everywhere.", "It is returned as it came."]
    assert said(finished(Damage(), image=GREY, unchanged=True)) == nothing  # strokes taken back
    *came, hint = said(finished(Damage(NONE), image=GREY, unchanged=True))
    assert came == ["Nothing was found: depth 0 everywhere.", nothing[1]]
    assert "damage it" in hint
    fog = finished(Damage("fog"), unchanged=True)
    assert said(fog)[0] == "Nothing was found: depth 0 everywhere."  # there was something
    assert " dB" in said(fog)[1]


def test_without_a_truth_no_quality_is_told(tiny):
    photo = Photo("", OPENING.apply(SMALL), Damage(NONE))
    list(repair(tiny, photo))
    value = photo_value(photo)
    assert (value["phase"], value["own"], value["before"], value["clean"]) == (
        "done",
        *[None] * 2,
        "",
    )
    assert " dB" not in re.sub(r"data:[^\"]*", "", json.dumps(value))


def test_close_ups_show_where_one_depth_is_too_shallow_and_too_deep():
    photo, one = finished(image=GREY, **TWO), GREY.copy()
    one[:30, :30] += 40  # left in the corner
    one[40:56, 40:56] += 9  # blurred in the middle
    photo.take_single(8, one)
    assert not singles_value(photo)["closeUps"]  # the best is not known yet
    photo.singles |= dict.fromkeys(SURVEY, 1.0) | {8: photo.singles[8]}
    assert [own for *_, own in photo.close_ups()] == [16, 0]
    named = re.findall(r"<span>(.*?)</span>", singles_value(photo)["closeUps"])
    assert named == ["at 8: too shallow", "at 16", "at 8: too deep", "at 0"]
    assert said(photo)[2] == f"The best single depth gives {photo.singles[8]:.1f}."
    photo.best = 8, GREY  # nothing is harmed: no close-ups
    assert photo.close_ups() == []


# A visitor


@pytest.fixture
def handlers(tiny, monkeypatch):
    return handlers_of(tiny, monkeypatch)


def handlers_of(session, monkeypatch):
    monkeypatch.setattr("app.pages.photo.handlers.load_photographs", lambda: {"cat": SMALL})
    components = PhotoComponents("stage", "run", "cancel", "saved", "timer")
    return PhotoHandlers(session, components, QueuePositions(), Photo("cat", SMALL, OPENING))


def ask(**changes):
    damage = photo_value(Photo("", SMALL, OPENING))["damage"]
    return json.dumps({"name": "cat", "damage": damage} | changes)


def test_a_change_is_shown_repaired_by_itself_and_saved(handlers, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    shown = handlers.show("v", ask(damage={"kind": RAMP}))
    assert shown["stage"]["phase"] == "wait"
    assert "repaired" not in shown["stage"]
    assert shown["cancel"]["interactive"]
    assert handlers.save("v", ask())["stage"]["error"] == NOT_KEPT
    *updates, _ = handlers.follow("v")
    stages = [update["stage"] for update in updates if "stage" in update]
    assert stages[-1]["phase"] == "done"
    assert not [s for s in stages if s["phase"] == "working" and "damaged" in s]  # sent once
    assert not updates[-1]["run"]["interactive"]  # it would be the same again
    photo = handlers.kept.last("v")
    assert photo.damage.kind == RAMP
    with Image.open(handlers.save("v", ask(file="png"))["saved"]) as image:
        assert np.array_equal(np.asarray(image), photo.result.image)
    table = photo.file("csv")[1].decode().splitlines()
    assert (table[0], len(table)) == ("top,left,depth", 1 + photo.result.depths.size)
    *_, news = handlers.single("v", ask(key=photo.key, depth=3))
    assert news["stage"]["single"][0] == 3
    assert news["stage"]["singles"]["3"] == pytest.approx(photo.singles[3], abs=0.01)
    rival = repair_photograph(handlers.session.models, photo.damaged, depth=3).image
    assert photo.quality(rival) == pytest.approx(photo.singles[3])


def test_repaired_once_more_its_single_depths_are_still_known(handlers):
    first = handlers.photo("v")
    for _ in repair(handlers.session, first):
        pass
    first.take_single(4, SMALL)
    *_, last = (u["stage"] for u in handlers.run("v", ask(key=first.key)) if "stage" in u)
    assert (last["phase"], last["singles"]) == ("done", {"4": 99.0})
    *_, last = (u["stage"] for u in handlers.run("v", ask(damage={"kind": RAMP})) if "stage" in u)
    assert (last["phase"], last["singles"]) == ("done", {})


def test_where_others_are_served_a_sentence_says_so(handlers):
    handlers.show("v", ask())
    handlers.line.queued = lambda: (("another",), ())
    *_, last = handlers.follow("v")
    assert (last["stage"]["phase"], last["stage"]["notice"]) == ("empty", BUSY)
    assert last["run"]["interactive"]
    *_, last = (u["stage"] for u in handlers.run("v", ask()) if "stage" in u)  # by the button
    assert (last["phase"], last["notice"]) == ("done", "")


def test_another_change_ends_the_first_repair(handlers):
    handlers.show("v", ask())
    updates = handlers.follow("v")
    while next(updates).get("stage", {}).get("phase") != "wait":
        pass
    first = handlers.kept.last("v")
    handlers.show("v", ask(damage={"kind": "fog"}))
    assert list(updates)[-1].keys() == {"stage"}  # of the first one nothing is said any more
    assert first.result is None
    assert handlers.kept.last("v").phase == "wait"


def test_an_earlier_change_that_comes_later_replaces_nothing(handlers):
    handlers.show("v", ask(change=2, damage={"kind": "fog"}))
    shown = handlers.show("v", ask(change=1, damage={"kind": "snow"}))
    assert (shown["stage"]["change"], shown["stage"]["damage"]["kind"]) == (2, "fog")
    assert handlers.kept.last("v").damage.kind == "fog"


def test_two_quick_changes_repair_the_second_once(handlers):
    handlers.show("v", ask(change=1))
    handlers.show("v", ask(change=2, damage={"kind": "fog"}))
    first, second = handlers.follow("v"), handlers.follow("v")
    while next(first).get("stage", {}).get("phase") != "working":
        pass
    (nothing,) = second
    assert "phase" not in nothing["stage"]
    *_, last = (update["stage"] for update in first if "phase" in update.get("stage", {}))
    assert (last["phase"], last["damage"]["kind"]) == ("done", "fog")


@pytest.mark.parametrize("asked", ["", "[]", "no JSON", '{"depth": 3}', ask(key=-1, depth=3)])
def test_one_depth_of_what_is_not_there_is_refused(handlers, asked):
    *_, last = handlers.single("v", asked)
    assert last["stage"]["error"] == NOT_KEPT


@pytest.mark.parametrize("depth", [None, -1, DEEPEST + 1, 2.5, "3"])
def test_other_depths_are_refused(handlers, depth):
    list(handlers.run("v", ask()))
    *_, last = handlers.single("v", ask(key=handlers.kept.last("v").key, depth=depth))
    assert f"from 0 to {DEEPEST}" in last["stage"]["error"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "dog"}, "choose one"),
        ({"name": ""}, "choose one"),
        ({"name": "", "path": "/etc/passwd"}, "choose one"),
        ({"damage": {"kind": "fire"}}, "not known"),
        ({"damage": {"kind": "strokes", "strokes": [{}]}}, "strokes"),
    ],
)
def test_bad_requests_become_sentences(handlers, changes, sentence):
    assert sentence in handlers.show("v", ask(**changes))["stage"]["error"]
    *_, last = handlers.run("v", ask(key=-1, **changes))
    assert sentence in last["stage"]["error"]
    assert last["run"]["interactive"]


@pytest.mark.parametrize(
    ("size", "kind", "says"),
    [
        ((300, 200), NONE, ""),
        ((1600, 1200), NONE, "1.9 megapixels"),
        ((40, 20), "fog", "32 pixels"),
    ],
)
def test_an_own_photo_keeps_its_size_up_to_a_megapixel(
    handlers, tmp_path, monkeypatch, size, kind, says
):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    Image.new("RGB", size, "teal").save(path := tmp_path / "photo.png")
    value = handlers.show("v", ask(name="", path=str(path), damage={"kind": kind}))["stage"]
    assert says in value["notice"] + value["error"]
    assert bool(says) == bool(value["notice"] + value["error"])
    if kind == NONE:
        assert not value["truth"]
        assert value["phase"] == "wait"
        used = min(size[0] * size[1], PHOTO_PIXELS)
        assert 0.9 * used < np.prod(value["size"]) <= used
    assert handlers.show("w", ask(name=""))["stage"]["error"]  # hers alone


@pytest.mark.parametrize("by_itself", [True, False])
def test_cancel_ends_a_run_and_a_depth(handlers, by_itself):
    handlers.show("v", ask())
    updates = handlers.follow("v") if by_itself else handlers.run("v", ask())
    while next(updates).get("stage", {}).get("phase") != "wait":
        pass
    photo, shown = handlers.kept.last("v"), handlers.cancel("v")
    assert (shown["stage"]["phase"], shown["stage"]["error"]) == ("cancelled", "")
    assert shown["stage"]["said"].startswith("Stopped.")
    assert shown["run"]["interactive"]
    assert "phase" not in list(updates)[-1].get("stage", {})
    with pytest.raises(CancelledError):
        list(repair(handlers.session, photo, 2))


@pytest.fixture
def rowwise(session, monkeypatch):
    """Two windows at a time, and a look at each pair."""
    monkeypatch.setattr("dga.photograph.AT_ONCE", 2)
    monkeypatch.setattr("app.runs.photo.PAUSE", 0.0)
    return handlers_of(session, monkeypatch)


def half_done(updates):
    """The first update that shows some rows."""
    for update in updates:
        if update.get("stage", {}).get("rows"):
            return update["stage"]
    raise AssertionError("No rows were shown.")


def shown_rows(value):
    with Image.open(io.BytesIO(base64.b64decode(value["rows"].split(",")[1]))) as image:
        return np.asarray(image).astype(int)


@pytest.mark.parametrize("by_itself", [True, False])
def test_it_is_shown_row_by_row_and_stays_so_where_it_was_stopped(rowwise, by_itself):
    rowwise.show("v", ramp := ask(damage={"kind": RAMP}))
    updates = rowwise.follow("v") if by_itself else rowwise.run("v", ramp)
    first, second = (half_done(updates) for _ in range(2))
    assert second["progress"] == (4, first["progress"][1])
    rows, photo = shown_rows(second), rowwise.kept.last("v")
    assert rows.shape[0] <= SMALL.shape[0]
    assert rows.shape[1:] == SMALL.shape[1:]
    assert np.abs(rows[:32] - photo.damaged[:32]).mean() > 5  # noise that is gone
    stopped = rowwise.cancel("v")["stage"]
    assert stopped["rows"] == second["rows"]
    assert stopped["said"].startswith(f"Stopped at 4 of {first['progress'][1]} places.")
    assert "repaired" not in stopped
    assert rowwise.save("v", ask())["stage"]["error"] == NOT_KEPT
    list(updates)
    assert photo.rows
    assert rowwise.show("v", ask(damage={"kind": "fog"}))["stage"]["rows"] == ""


def test_of_a_finished_or_failed_repair_no_half_is_kept(rowwise, monkeypatch):
    ramp = ask(damage={"kind": RAMP})
    *_, last = (u["stage"] for u in rowwise.run("v", ramp) if "stage" in u)
    assert (last["phase"], last["rows"], rowwise.kept.last("v").rows) == ("done", "", b"")
    updates = rowwise.run("v", ramp)
    half_done(updates)
    monkeypatch.setattr(Photo, "take", lambda *_: 1 / 0)
    *_, last = (u["stage"] for u in updates if "stage" in u)
    assert (last["phase"], last["rows"], rowwise.kept.last("v").rows) == ("error", "", b"")


# Examples and the recorded one


def test_examples_have_their_own_size():
    photographs = load_photographs()
    assert list(photographs) == list(PHOTOGRAPHS)
    assert all(max(pixels.shape) <= LONGEST for pixels in photographs.values())
    assert photographs["cat"].shape == (300, 451, 3)


def test_the_opening_is_recorded_and_read_back(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "load_photographs", lambda: {"astronaut": SMALL})
    folder = tmp_path / tiny.profile.name / "photo"
    recorded.record(tiny, folder)
    photo, pictures = recorded.load(tiny, tmp_path)
    assert photo.recorded
    assert list(pictures) == list(SURVEY)
    again = repair_photograph(tiny.models, photo.damaged)
    assert np.array_equal(photo.result.image, again.image)
    assert np.array_equal(photo.result.depths, again.depths)
    assert photo.best[0] == max(photo.singles, key=photo.singles.get)
    known, places = (json.dumps(vars(p) | {"map": ""}) for p in (photo.places, find_places(again)))
    assert known == places
    assert photo.places.map == find_places(again).map
    content = json.loads((folder / "record.json").read_text())
    for changes in ({"weights": {"a": "b"}}, {"settings": {}}, {"pictures": []}):
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
