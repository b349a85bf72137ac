"""One picture under all fifteen corruptions: what is computed and what the page says of it."""

import csv
import dataclasses
import io
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.pages.fifteen.cards import grid_value, heading_html, link, note_html, status_value
from app.pages.fifteen.handlers import FifteenComponents, FifteenHandlers
from app.pages.fifteen.results import CorruptionResult, FifteenResults, check_choice
from app.pages.fifteen.run import run
from app.runs.session import CancelledError, RunError, Session
from app.server.queue_position import QueuePositions
from app.words.errors import REFUSED
from app.words.fifteen import CSV_COLUMNS, METHODS, ORDERS, VERDICTS
from dga.corruptions import CORRUPTIONS, corrupt
from dga.images import to_pixels, to_square
from dga.networks.classifier import Prediction
from dga.pipeline import adapt, default_routes
from dga.profiles import EVERYDAY16
from dga.stopping import Stop


@pytest.fixture(scope="module")
def cat_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "cat.png"
    Image.fromarray(skimage.data.chelsea()).save(path)
    return str(path)


def choose(cat_file, profile=EVERYDAY16, upload=None, **changes):
    asked = {"example": "cat", "damaged": False, "severity": 2, "method": "dga"} | changes
    return check_choice(profile, {"cat": cat_file}, upload, *asked.values())


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"severity": 0}, "from 1 to 5"),
        ({"severity": 2.5}, "from 1 to 5"),
        ({"severity": "3"}, "from 1 to 5"),
        ({"severity": None}, "from 1 to 5"),
        ({"method": "tent"}, "dga-guided, dga, dda, dga-plus"),
        ({"method": None}, "dga-guided, dga, dda, dga-plus"),
        ({"example": "../../etc/passwd"}, "Choose one of: cat"),
        ({"example": None}, "Choose one of: cat"),
    ],
)
def test_bad_requests_name_what_is_allowed(cat_file, changes, allowed):
    with pytest.raises(ValueError, match=allowed):
        choose(cat_file, **changes)


@pytest.mark.parametrize("changes", [{"method": []}, {"example": {}}, {"severity": []}])
def test_values_of_another_kind_are_refused(cat_file, changes):
    with pytest.raises(ValueError, match=r"Choose one of|from 1 to 5"):
        choose(cat_file, **changes)


def test_an_upload_goes_before_the_example(cat_file):
    own = choose(cat_file, upload="/uploads/own.png", damaged=True)
    assert (own.example, own.path, own.damaged) == (None, "/uploads/own.png", True)
    assert choose(cat_file, damaged=True).damaged is False  # examples are known to be clean
    assert choose(cat_file, upload="/uploads/own.png", damaged="yes").damaged is False


def test_cards_are_corrupted_as_the_library_does(cat_file):
    results = FifteenResults.open(EVERYDAY16, choose(cat_file, severity=4))
    cat = to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), 64))
    assert np.array_equal(results.clean, cat)
    assert [row.corruption for row in results.rows] == list(CORRUPTIONS)
    for row in results.rows:
        assert np.array_equal(row.before, corrupt(cat, row.corruption, 4, 0))


def say(label, probability):
    rest = [name for name in EVERYDAY16.classifier.classes if name != label]
    share = (1 - probability) / len(rest)
    return Prediction((label, *rest), (probability, *[share] * len(rest)))


def finished(cat_file, **changes):
    """Results with four rows: corrected, still wrong, made wrong, still right."""
    results = FifteenResults(EVERYDAY16, choose(cat_file, **changes))
    results.reference = None if results.choice.damaged else say("cat", 0.9)
    picture = np.zeros((64, 64, 3), np.uint8)
    told = [("dog", "cat"), ("dog", "frog"), ("cat", "dog"), ("cat", "cat")]
    stops = [Stop(7, True), Stop(24, False), Stop(0, False), Stop(0, True)]
    for row, (before, after), stop in zip(results.rows, told, stops, strict=False):
        row.before = row.after = picture
        row.said, row.says, row.stop = say(before, 0.6), say(after, 0.8), stop
    return results


def test_verdicts_and_counts(cat_file):
    results = finished(cat_file)
    verdicts = [results.verdict(row) for row in results.rows]
    assert verdicts[:4] == ["corrected", "still-wrong", "made-wrong", "still-right"]
    assert verdicts[4:] == [None] * 11
    assert results.counts() == {"done": 4, "before": 2, "after": 2, "changed": 3}
    results.phase = "cancelled"
    sentence = heading_html(results)["sentence"]
    assert sentence == "One cat: of 4 rebuilt, 2 labelled correctly before, 2 after."
    results.phase = "done"
    assert "2 labelled correctly before, 2 after" in heading_html(results)["sentence"]


def test_without_a_clean_label_nothing_is_called_correct(cat_file):
    results = finished(cat_file, upload=cat_file, damaged=True)
    assert [results.verdict(row) for row in results.rows[:4]] == ["changed"] * 3 + ["unchanged"]
    results.phase = "done"
    said = heading_html(results)
    assert said["sentence"].endswith("rebuilding changed 3 of 4 labels.")
    assert "not known" in said["lead"]
    assert "Corrected" not in str(grid_value(results))


def test_orders(cat_file):
    orders = finished(cat_file).orders()
    assert tuple(orders) == tuple(ORDERS)
    assert orders["family"] == list(CORRUPTIONS)
    first = list(CORRUPTIONS[:4])
    assert orders["depth"] == [first[1], first[0], first[2], first[3], *CORRUPTIONS[4:]]
    # 0.8 - 0.4/15 gained, then 0.2, then nothing, then lost.
    assert orders["gain"][:4] == [first[0], first[3], first[1], first[2]]
    assert orders["gain"][4:] == list(CORRUPTIONS[4:])


def test_changes_come_first_where_no_label_is_right(cat_file):
    orders = finished(cat_file, upload=cat_file, damaged=True).orders()
    assert orders["gain"][:4] == list(CORRUPTIONS[:4])


def test_table(cat_file):
    lines = list(csv.DictReader(io.StringIO(finished(cat_file).csv())))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert [line["corruption"] for line in lines] == list(CORRUPTIONS)
    assert lines[0] | {"probability_before": ""} == {
        "corruption": "gaussian_noise",
        "family": "noise",
        "severity": "2",
        "seed": "0",
        "method": "dga",
        "depth": "7",
        "crossed": "True",
        "label_before": "dog",
        "probability_before": "",
        "label_after": "cat",
        "probability_after": "0.8",
        "label_undamaged": "cat",
        "probability_undamaged": "0.9",
        "verdict": "corrected",
    }
    assert (lines[2]["depth"], lines[2]["crossed"]) == ("0", "False")
    assert (lines[9]["depth"], lines[9]["label_after"], lines[9]["verdict"]) == ("", "", "")


def test_depths_in_words_and_dots(cat_file):
    cards = list(grid_value(finished(cat_file))["cards"].values())
    assert "of 100" in cards[0]["foot"]
    assert "hollow" not in cards[0]["foot"]
    assert "the maximum" in cards[1]["foot"]
    assert "hollow" in cards[1]["foot"]
    assert "left as it is" in cards[2]["foot"]
    assert "hollow" in cards[2]["foot"]
    assert "left as it is" in cards[3]["foot"]
    assert "hollow" not in cards[3]["foot"]
    for card, verdict in zip(cards, ("corrected", "still-wrong", "made-wrong"), strict=False):
        assert VERDICTS[verdict] in card["foot"]


def test_links_name_what_the_card_shows(cat_file):
    address = urlsplit(link(choose(cat_file), "jpeg_compression"))
    assert parse_qs(address.query) == {
        "image": ["cat"],
        "corruption": ["jpeg_compression"],
        "severity": ["2"],
        "tau": [f"{EVERYDAY16.stopping.tau:.2f}"],
        "seed": ["0"],
    }


def test_an_upload_is_in_no_link(cat_file):
    results = finished(cat_file, upload=cat_file)
    assert link(results.choice, "fog") == ""
    assert "href" not in str(grid_value(results)["cards"])
    assert "do not open" in note_html(results)
    assert "own-picture" in grid_value(results)["file"]


@pytest.fixture
def tiny(tiny_models):
    return Session(tiny_models)


@pytest.mark.parametrize("method", METHODS)
def test_all_fifteen_agree_with_one_at_a_time(tiny, cat_file, method):
    choice = choose(cat_file, tiny.profile, method=method)
    results = FifteenResults.open(tiny.profile, choice)
    for _ in run(tiny, results):
        pass
    assert results.phase == "done"
    assert len(results.finished) == 15
    route = default_routes(tiny.profile)[method]
    for row in results.rows[::7]:
        one = adapt(tiny.models, row.before, seed=0, routes=[route])
        result = one.reconstructions[method]
        assert row.stop.t_star == result.depth
        assert np.abs(row.after.astype(int) - result.image).max() <= 1
        assert row.says.label == result.prediction.label


def test_dga_plus_tells_an_inverse_from_a_picture_left_alone(tiny, cat_file):
    results = FifteenResults.open(tiny.profile, choose(cat_file, tiny.profile, method="dga-plus"))
    assert {results.phase for _ in run(tiny, results)} == {"read", "forward"}
    assert len(results.finished) == 15
    row = results.rows[0] = dataclasses.replace(results.rows[0], stop=Stop(0, crossed=True))
    for after, words in ((row.before, "left as it is"), (255 - row.before, "the inverse alone")):
        row.after = after
        assert words in grid_value(results)["cards"][row.corruption]["foot"]
    plus = tiny.profile.plus
    said = f"{plus.noise_tau:.2f}</li><li>At most {plus.stopping.max_depth} deeper"
    assert said in note_html(results)


def test_what_is_known_is_shown_at_once(tiny, cat_file):
    results = FifteenResults.open(tiny.profile, choose(cat_file, tiny.profile, method="dda"))
    phases = [results.phase for _ in run(tiny, results)]
    assert list(dict.fromkeys(phases)) == ["read", "forward", "reverse"]
    assert phases.count("reverse") == tiny.profile.dda_depth + 1


def test_cancel_takes_effect_within_a_step(tiny, cat_file):
    results = FifteenResults.open(tiny.profile, choose(cat_file, tiny.profile, method="dda"))
    steps = run(tiny, results)
    while results.progress != (2, tiny.profile.dda_depth) or results.phase != "reverse":
        next(steps)
    results.cancel.set()
    with pytest.raises(CancelledError):
        next(steps)
    assert results.progress[0] == 3


def test_time_budget(tiny, cat_file):
    hurried = Session(tiny.models, budget_seconds=0.0)
    results = FifteenResults.open(tiny.profile, choose(cat_file, tiny.profile))
    with pytest.raises(RunError, match="longer than 0 seconds"):
        list(run(hurried, results))


@pytest.fixture
def handlers(tiny, cat_file):
    """Handlers whose parts stand for themselves."""
    names = [field.name for field in dataclasses.fields(FifteenComponents)]
    components = FifteenComponents(**{name: name for name in names})
    return FifteenHandlers(tiny, {"cat": cat_file}, components, QueuePositions())


def test_before_a_run_there_are_corrupted_pictures_and_empty_wells(handlers):
    shown = handlers.preview("v", None, "cat", False, 3, "dga-guided")
    assert shown["head"]["sentence"].startswith("One cat, damaged in fifteen ways")
    cards = shown["grid"]["cards"].values()
    assert len(cards) == 15
    assert all("data:image/webp" in card["before"] for card in cards)
    assert not any("<img" in card["after"] for card in cards)
    assert shown["table"]["interactive"] is False


def test_a_bad_request_becomes_a_sentence(handlers, tmp_path):
    assert "from 1 to 5" in handlers.preview("v", None, "cat", False, 9, "dga")["status"]["error"]
    *_, last = handlers.run("v", None, "cat", False, 9, "dga")
    assert "from 1 to 5" in last["status"]["error"]
    assert last["run"]["interactive"] is True
    words = tmp_path / "words.png"
    words.write_text("no picture at all")
    *_, last = handlers.run("v", str(words), "cat", False, 3, "dga")
    assert "not a PNG" in last["status"]["error"]


def test_cancelling_keeps_what_is_there(handlers):
    asked = (None, "cat", False, 3, "dda")
    assert "before it began" in handlers.cancel("v", *asked)["status"]["error"]
    updates = handlers.run("v", *asked)
    for update in updates:
        if update.get("status", {}).get("phase") == "reverse":
            break
    shown = handlers.cancel("v", *asked)
    assert "Cancelled. 0 of 15" in shown["status"]["error"]
    assert shown["run"]["interactive"] is True
    assert all("data:image/webp" in card["before"] for card in shown["grid"]["cards"].values())
    rest = list(updates)
    assert rest[-1]["run"]["interactive"] is True
    assert not any("after" in str(update.get("head")) for update in rest)


def test_who_waits_is_told_the_place(handlers):
    """The line is that of all pages; whoever cancels has left it."""
    asked = (None, "cat", False, 3, "dda")
    queued: list[str] = []
    handlers.line.follow(lambda: ([], queued))
    with handlers.line.served("somebody on another page"):
        assert handlers.press("v", *asked)["status"]["words"] == "Waiting, 1st in line"
        queued.append("v")
        assert handlers.press("w", *asked)["status"]["words"] == "Waiting, 2nd in line"
        handlers.cancel("v", *asked)
        queued.remove("v")
        looked = handlers.look("w")
        assert looked["status"]["words"] == "Waiting, 1st in line"
        assert looked["timer"].active
    assert handlers.look("w")["timer"].active is False
    assert handlers.look("nobody")["timer"].active is False


def test_a_preview_that_comes_late_leaves_a_run_alone(handlers):
    asked = (None, "cat", False, 5, "dga")
    handlers.press("v", *asked)
    assert set(handlers.preview("v", *asked)) == {"status"}
    handlers.cancel("v", *asked)
    shown = handlers.preview("v", *asked)
    assert shown["thumbs"]["chosen"] == "cat"
    assert not {"run", "cancel"} & set(shown)


def test_a_finished_run_offers_its_table(handlers):
    page = {}
    for update in handlers.run("v", None, "cat", False, 1, "dga"):
        page |= update
    assert page["table"]["interactive"] is True
    assert page["run"]["interactive"] is True
    assert page["grid"]["csv"].count("\n") == 16
    assert status_value(handlers.runs.last("v"))["phase"] == "done"


def test_a_row_without_pictures_can_be_shown(cat_file):
    results = FifteenResults(EVERYDAY16, choose(cat_file))
    assert results.rows[0] == CorruptionResult("gaussian_noise")
    assert len(grid_value(results)["cards"]) == 15


def test_previews_are_made_few_at_a_time(handlers, monkeypatch):
    monkeypatch.setattr("app.pages.fifteen.handlers.PREVIEW_PATIENCE", 0.01)
    with handlers._preview_turn():
        refused = handlers.preview("v", None, "cat", False, 3, "dga")
    assert refused["status"]["error"] == REFUSED
    assert not handlers.preview("v", None, "cat", False, 3, "dga")["status"].get("error")


def test_a_visitor_who_leaves_leaves_no_run_behind(handlers):
    going = handlers.run("v", None, "cat", False, 3, "dga")
    while not (results := handlers.runs.last("v")) or not results.running:
        next(going)
    going.close()
    assert not results.running
