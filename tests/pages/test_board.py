"""The Board: what is computed, what it says of it, own pictures, recorded boards."""

import csv
import dataclasses
import io
import json
import shlex
import shutil
import zipfile
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from app.pages.board.handlers import BoardComponents, BoardHandlers, named_kind, parse
from app.pages.board.value import board_value, headline, how, lead, status_value
from app.parts.examples import load_examples
from app.presets import boards as recorded
from app.presets.boards import EXAMPLES, Boards
from app.runs import board as boards
from app.runs.board import COLUMNS, DAMAGED, METHODS, Board, Cell, Row, compared, explained, run
from app.runs.run_state import DepthSeries
from app.runs.session import CancelledError, RunError, Session
from app.server.limits import MAX_OWN
from app.server.queue_position import QueuePositions
from app.server.turns import TURNS
from app.words.board import COMMAND
from app.words.errors import REFUSED
from dga.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from dga.explanation.degradation import Degradation
from dga.io.parsing import split_list
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import adapt
from dga.profiles import EVERYDAY16
from dga.stopping import Stop

TOKEN = "0123456789abcdef" * 2
CLASSES = EVERYDAY16.classifier.classes


@pytest.fixture
def cat():
    return load_examples()[0]


@pytest.fixture
def tiny(tiny_models):
    return Session(tiny_models)


def say(label, probability):
    rest = [name for name in CLASSES if name != label]
    share = (1 - probability) / len(rest)
    return Prediction((label, *rest), (probability, *[share] * len(rest)))


PICTURE = np.zeros((64, 64, 3), np.uint8)
STOPS = (Stop(7, True), Stop(24, False), Stop(0, False), Stop(0, True))


def filled(truth="cat", example="cat"):
    """Four rows, one for each way that the search ends; DGA+ puts the first right."""
    rows = []
    for number, (name, stop) in enumerate(zip(CORRUPTIONS, STOPS, strict=False)):
        found = "left as it is" if number > 1 else "diagnosed as noise"
        plus = say("cat" if number in (0, 3) else "dog", 0.8)
        cells = {
            DAMAGED: Cell(PICTURE, say("cat" if number == 3 else "dog", 0.6)),
            "dga": Cell(PICTURE, say("dog", 0.6), stop),
            "dga-guided": Cell(PICTURE, say("dog", 0.6), stop),
            "dga-plus": Cell(PICTURE, plus, stop, found),
            "dda": Cell(PICTURE, say("dog", 0.6), Stop(24, True)),
        }
        rows.append(Row(name, truth, cells))
    return Board(EVERYDAY16, example, 5 if example else None, rows, "done")


def test_rows_are_filled_from_one_run(tiny, cat):
    board = Board.of_example(tiny.profile, cat, 2)
    assert [row.name for row in board.rows] == list(CORRUPTIONS)
    phases = [board.phase for _ in run(tiny, board)]
    assert list(dict.fromkeys(phases)) == ["read", "forward", "reverse"]
    assert len(board.complete) == 15
    assert board.phase == "done"
    row = board.rows[7]
    assert np.array_equal(row.cells[DAMAGED].image, corrupt(cat.pixels(32), row.name, 2, 0))
    alone = adapt(tiny.models, row.cells[DAMAGED].image, 0, list(compared(tiny.profile).values()))
    assert row.stop == alone.stop
    for name, result in alone.reconstructions.items():
        cell = row.cells[name]
        assert cell.stop.t_star == result.depth
        assert np.abs(cell.image.astype(int) - result.image).max() <= 1
        assert cell.said.label == result.prediction.label


def atlas(*rows, truth="cat", example="cat"):
    """An atlas of rows (own depth, which depths are right); beyond them none is."""
    filled = []
    for name, (own, right) in zip(CORRUPTIONS, rows, strict=False):
        said = [say("cat" if depth in right else "dog", 0.6) for depth in range(33)]
        cell = Cell(stop=Stop(own, own < 24), depths=DepthSeries(said, b"sheet"))
        filled.append(Row(name, truth, {"dga": cell}))
    severity = 2 if example else None
    return Board(EVERYDAY16, example, severity, filled, "done", method="dga-guided")


def test_an_atlas_is_filled_row_by_row_and_goes_on_after_a_stop(tiny, cat):
    board = Board.of_example(tiny.profile, cat, 2).again("dga-guided")
    board.rows = board.rows[6:8]
    steps = run(tiny, board)
    next(step for step in steps if len(board.complete) == 1)
    assert status_value(board)["words"] == "Row 2 of 2"
    board.cancel.set()
    with pytest.raises(CancelledError):
        list(steps)
    first = board.rows[0].depths
    board = board.again("dga-guided")
    next(steps := run(tiny, board))
    assert board.progress[0] == 1
    list(steps)
    assert board.rows[0].depths is first
    row = board.rows[1]
    system = compared(tiny.profile)["dga-guided"]
    alone = adapt(tiny.models, row.cells[DAMAGED].image, 0, [system])
    assert row.stop == alone.stop
    there = row.depths.predictions[row.stop.t_star]
    assert there.label == alone.reconstructions["dga-guided"].prediction.label
    assert Image.open(io.BytesIO(row.depths.sheet)).size == (320, 32 * -(-len(row.right) // 10))
    assert board.again("dga-guided").rows[1].depths is None  # a finished one is run anew


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (((3, {3}), (5, {5})), "2 right at their own depth, more than the 0 at depth 24"),
        (((3, {3}), (5, {24}), (7, ())), "1 right at its own depth, as many as at depth 24"),
        (((3, {24}), (5, {24})), "0 right at their own depth, fewer than the 2 at depth 24"),
    ],
)
def test_an_atlas_counts(rows, told):
    value = board_value(atlas(*rows))
    assert f"One cat, damaged in 15 ways: {told}" in value["headlines"][24]
    best = sum(bool(right) for _, right in rows)
    assert f"Possible: {best}." in value["headlines"][24]
    assert value["counts"] == [sum(k in right for _, right in rows) for k in range(33)]
    assert (value["known"], value["best"]) == (len(rows), best)


def test_without_a_true_class_an_atlas_has_no_totals():
    board = atlas((3, {3}), (0, {0}), truth=None, example=None)
    value = board_value(board)
    assert value["known"] == 0
    assert {tuple(row["right"]) for row in value["rows"]} == {()}
    assert "right" not in value["headlines"][24]
    lines = list(csv.DictReader(io.StringIO(board.csv())))
    assert tuple(lines[0]) == boards.ATLAS_COLUMNS
    assert len(lines) == 2 * 33
    assert {line["verdict"] for line in lines} == {""}
    board.rows[0].truth = "cat"
    assert "One picture whose kind is named: 1 right at its" in board_value(board)["headlines"][24]


def test_verdicts_are_against_the_true_class_and_totals_say_why():
    board = filled()
    assert [row.verdict("dga-plus") for row in board.rows] == ["right", "wrong", "wrong", "right"]
    value = board_value(board)
    assert [total["right"] for total in value["totals"]] == [1, 0, 0, 2, 0]
    assert value["totals"][3]["marks"] == [True, False, False, True]
    assert (
        "1 read right before any repair, 0 from its own depth, 2 with diagnosis (1 gained, 0 lost)."
        in value["headline"]
    )
    assert "a cat" in value["lead"]
    assert [total["why"] for total in value["totals"]] == [
        "before any repair",
        "own depth, coarse shapes not kept",
        "1 stopped by the detector, 1 at the deepest, 2 left alone",
        "2 repaired, 2 left alone",
        "all from depth 24",
    ]
    under = [row["under"] for row in value["rows"]]
    assert under == ["depth 7", "depth 24, the deepest", "too sure: left alone", "left as it is"]
    never = "the detector did not stop by 24, the deepest allowed"
    assert how(board, board.rows[1], "dga") == never
    assert how(board, board.rows[1], "dda").endswith("the same picture as from its own")
    assert how(board, board.rows[0], "dda") == "fixed depth 24"


def test_without_a_true_class_nothing_is_right_or_wrong():
    board = filled(truth=None, example=None)
    value = board_value(board)
    assert {cell["verdict"] for row in value["rows"] for cell in row["cells"]} == {""}
    assert {total["right"] for total in value["totals"]} == {None}
    assert "right" not in value["headline"]
    assert "not known until you name it" in value["lead"]
    board.rows[0].truth = "cat"
    assert headline(board).startswith("One picture whose kind is named: 0 read right before")
    assert [row.verdict("dga-plus") for row in board.rows] == ["right", "", "", ""]
    assert "not known" in lead(board)


@pytest.mark.parametrize(
    ("found", "stop", "words"),
    [
        (Degradation(), Stop(0, True), "left as it is"),
        (Degradation(), Stop(5, True), "rebuilt from depth 5"),
        (Degradation(blur=2.0), Stop(0, True), "diagnosed as blur"),
        (Degradation(noise=0.3), Stop(12, True), "diagnosed as noise, rebuilt from depth 12"),
    ],
)
def test_what_dga_plus_found_in_words(found, stop, words):
    assert explained(found, stop) == words


def test_table_and_links():
    board = filled()
    lines = list(csv.DictReader(io.StringIO(board.csv())))
    assert tuple(lines[0]) == boards.CSV_COLUMNS
    assert len(lines) == 4 * 4
    plus = lines[2]
    assert (plus["method"], plus["depth"], plus["verdict"]) == ("dga-plus", "7", "right")
    assert (plus["label_before"], plus["label_after"], plus["truth"]) == ("dog", "cat", "cat")
    query = parse_qs(urlsplit(board_value(board)["rows"][0]["link"]).query)
    assert (query["image"], query["corruption"]) == (["cat"], ["gaussian_noise"])
    assert (query["severity"], query["seed"]) == (["5"], ["0"])
    own = filled(example=None)
    own.rows[0].name = "=cmd.png"
    assert "\n'=cmd.png," in own.csv()
    query = parse_qs(urlsplit(board_value(own)["rows"][0]["link"]).query)
    assert (query["image"], query["corruption"]) == (["own"], ["none"])


def test_cancel_takes_effect_within_a_step(tiny, cat):
    board = Board.of_example(tiny.profile, cat, 3)
    steps = run(tiny, board)
    next(step for step in steps if board.phase == "forward" and board.progress[0] == 2)
    board.cancel.set()
    with pytest.raises(CancelledError):
        next(steps)
    assert board.progress[0] == 3 or board.rows[3].stop is None


@pytest.mark.parametrize(
    ("method", "words"), [("", "a lower severity needs"), ("dga", "press Run for the other rows")]
)
def test_time_budget(tiny, cat, method, words):
    board = Board.of_example(tiny.profile, cat, 3).again(method)
    with pytest.raises(RunError, match=f"longer than 0 seconds and was stopped; {words}"):
        list(run(Session(tiny.models, budget_seconds=0.0), board))


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("IMG_cat_01.png", "cat"),
        ("Big-Cat.7.jpg", "big cat"),
        ("cat and dog.png", None),
        ("cathedral.png", None),
        ("mycat.jpg", None),  # not a word of its own, as the page says
        ("bus2.webp", "bus"),
        ("photo.png", None),
    ],
)
def test_a_files_name_may_name_its_kind(file, kind):
    assert named_kind(file, CLASSES) == kind


def test_the_address_says_what_is_shown():
    asked = parse(ask(severity="3"), "v", ["lion", "cat"], 24)
    assert (asked.owner, asked.image, asked.severity, asked.notice) == (TOKEN, "cat", 3, "")
    odd = {"token": "short", "image": "../cat", "severity": "9", "atlas": "dda", "x": []}
    odd["dda"] = "33"
    asked = parse(json.dumps(odd), "v", ["lion", "cat"], 24)
    assert (asked.owner, asked.image, asked.severity) == ("v", "lion", 5)
    for part in ("image=../cat", "severity=9", "atlas=dda", "Pictures is shown", "24 is shown"):
        assert part in asked.notice
    for text in (None, "", "[]", "3", "{", "[" * 10**5):
        assert parse(text, "v", ["lion"], 24).image == "lion"


@pytest.fixture
def handlers(tiny, cat, tmp_path):
    """Handlers whose parts stand for themselves."""
    names = [field.name for field in dataclasses.fields(BoardComponents)]
    components = BoardComponents(**{name: name for name in names})
    known = Boards(tiny, [cat], tmp_path)
    return BoardHandlers(tiny, [cat], components, QueuePositions(), known)


def ask(**changes):
    return json.dumps({"token": TOKEN, "image": "cat", "severity": 3} | changes)


@pytest.fixture
def uploads(tmp_path, monkeypatch):
    """Own pictures as the browser names them, one of them none."""
    monkeypatch.setattr("app.server.request_body.present", lambda: tmp_path)
    files = []
    for number, name in enumerate(("dog.png", "IMG_1.png", "words.png")):
        path = tmp_path / f"{number}.png"
        if name == "words.png":
            path.write_text("no picture")
        else:
            Image.new("RGB", (80, 60), (60 * number, 90, 160)).save(path)
        files.append({"path": str(path), "name": name})
    return files


def test_own_pictures_become_rows(handlers, uploads):
    stranger = {"path": "/etc/passwd", "name": "a/b/passwd"}
    shown = handlers.drop("v", ask(files=[*uploads, stranger]))
    rows = shown["screen"]["rows"]
    named = [(row["name"], row["truth"]) for row in rows]
    assert named == [("dog.png", "dog"), ("IMG_1.png", None)]
    assert "words.png (" in shown["status"]["error"]
    assert "passwd (" in shown["status"]["error"]
    assert shown["run"]["interactive"]
    own = ask(image="own")
    list(handlers.run("v", own))
    assert handlers.show("v", own)["status"]["error"] == ""  # said until they are run
    board = handlers.kept.last(f"{TOKEN} own")
    assert len(board.complete) == 2
    assert [row.verdict("dga") != "" for row in board.rows] == [True, False]
    named = handlers.name("v", ask(row="1", truth="frog"))["screen"]
    assert named["rows"][1]["cells"][1]["verdict"] in ("right", "wrong")
    unnamed = handlers.name("v", ask(row=1, truth="unicorn"))["screen"]
    assert unnamed["rows"][1]["truth"] is None
    assert lead(board).count("by-") == 0
    list(handlers.run("v", deep := ask(image="own", atlas="dga")))
    atlas = handlers.show("v", deep)["screen"]
    assert [bool(row["right"]) for row in atlas["rows"]] == [True, False]
    named = handlers.name("v", ask(image="own", atlas="dga", row=1, truth="frog"))["screen"]
    assert named["rows"][1]["right"]
    assert handlers.kept.last(f"{TOKEN} own").rows[1].truth == "frog"
    sheet = handlers.pictures("v", ask(image="own", atlas="dga", row=1))["sheet"]
    assert sheet["key"] == "own-dga"
    assert sheet["src"].startswith("data:image/webp")
    for row in (99, -1, None, []):
        assert handlers.pictures("v", ask(image="own", atlas="dga", row=row))["status"]["error"]
        assert handlers.name("v", ask(row=row, truth="frog"))["status"]["error"]
    with zipfile.ZipFile(io.BytesIO(board.zip())) as archive:
        assert len(archive.namelist()) == 1 + 2 * 4
        with Image.open(archive.open("dga-plus/02-IMG_1.png")) as image:
            assert np.array_equal(np.asarray(image), board.rows[1].cells["dga-plus"].image)
    fresh = handlers.drop("v", ask(image="own", atlas="dga", files=uploads[:1]))["screen"]
    assert [(row["name"], row.get("own")) for row in fresh["rows"]] == [("dog.png", None)]


def test_no_more_pictures_than_the_limit_and_at_least_one(handlers, uploads):
    path = Path(uploads[0]["path"])
    many = [path.with_name(f"dog-{n}.png") for n in range(MAX_OWN + 1)]
    for copy in many:
        shutil.copy(path, copy)
    files = [{"path": str(copy), "name": "dog.png"} for copy in [*many, *many]]
    shown = handlers.drop("v", ask(files=files))
    assert len(shown["screen"]["rows"]) == MAX_OWN
    assert str(MAX_OWN) in shown["screen"]["notice"]
    for files in (None, {}, [3, None], uploads[2:]):
        assert "None of these" in handlers.drop("v", ask(files=files))["status"]["error"]
    assert len(handlers.kept.last(f"{TOKEN} own").rows) == MAX_OWN  # the last good ones stay
    *_, last = handlers.run("w", json.dumps({"image": "own"}))
    assert "Drop a picture first" in last["status"]["error"]


def test_results_outlive_other_choices_and_a_reload(handlers):
    *_, last = handlers.run("v", ask())
    assert last["run"]["interactive"]
    kept = handlers.kept.last(f"{TOKEN} cat-3")
    other = handlers.show("v", ask(severity=2))["screen"]
    assert other["key"] == "cat-2"
    assert not any("said" in cell for row in other["rows"] for cell in row["cells"])
    assert handlers.show("after a reload", ask())["screen"] == board_value(kept)
    # An example's run is everybody's; own pictures are their visitor's alone.
    assert handlers.show("stranger", ask(token="f" * 32))["screen"] == board_value(kept)
    handlers.kept.put(f"{TOKEN} own", filled(example=None))
    assert handlers.show("v", ask(image="own"))["screen"]["rows"]
    assert not handlers.show("v", ask(image="own", token="f" * 32))["screen"]["rows"]


def test_bad_requests_and_cancel(handlers):
    *_, last = handlers.run("v", ask(severity=9))
    assert "severity=9 is not known" in last["status"]["error"]
    assert last["run"]["interactive"]
    handlers.press("v")
    assert "before it began" in handlers.cancel("v")["status"]["error"]
    for update in (updates := handlers.run("v", ask())):
        if "have their depth" in update.get("status", {}).get("words", ""):
            break
    shown = handlers.cancel("v")
    assert "Cancelled: 0 of 15 rows" in shown["status"]["words"]
    assert shown["status"]["error"] == ""  # one's own cancel is no fault
    assert shown["run"]["interactive"]
    assert list(updates)[-1]["run"]["interactive"]


def test_a_run_that_finished_no_row_takes_no_results_away(handlers, uploads):
    handlers.drop("v", own := ask(image="own", files=uploads))
    list(handlers.run("v", own))
    results = handlers.show("v", own)["screen"]
    for update in (updates := handlers.run("v", own)):
        if "have their depth" in update.get("status", {}).get("words", ""):
            break
    assert handlers.show("reloaded", own)["screen"] != results  # while it goes on
    shown = handlers.cancel("v")
    list(updates)
    assert "results from before" in shown["status"]["words"]
    assert shown["screen"] == handlers.show("v", own)["screen"] == results


def test_a_kind_named_during_a_run_outlives_its_cancelling(handlers, uploads):
    handlers.drop("v", own := ask(image="own", files=uploads))
    list(handlers.run("v", own))
    next(updates := handlers.run("v", own))
    next(updates)
    handlers.name("v", ask(image="own", row=1, truth="frog"))
    assert handlers.cancel("v")["screen"]["rows"][1]["truth"] == "frog"
    list(updates)
    assert handlers.show("v", own)["screen"]["rows"][1]["truth"] == "frog"


def test_without_own_pictures_nothing_asks_to_be_run(handlers):
    for method, told in (("", "each by every method"), ("dga", "each rebuilt from every depth")):
        screen = handlers.show("v", ask(image="own", atlas=method))["screen"]
        assert told in headline(
            handlers.board(handlers.parsed("v", ask(image="own", atlas=method)))
        )
        assert "Press Run" not in screen["lead"]


def test_damaged_pictures_are_made_few_at_a_time(handlers, monkeypatch):
    monkeypatch.setattr("app.server.turns.PATIENCE", 0.01)
    with TURNS.turn():
        assert handlers.show("v", ask())["status"]["error"] == REFUSED
    assert handlers.show("v", ask())["status"]["error"] == ""


def test_who_waits_is_told_the_place_and_who_is_refused_why(handlers):
    handlers.line.queued = lambda: ([], [])
    with handlers.line.served("somebody on another page"):
        assert handlers.press("v")["status"]["words"] == "Waiting, 1st in line"
        assert set(handlers.show("v", ask())) == {"status"}  # the run goes on
    assert handlers.free("v")["status"]["error"] == REFUSED
    assert "status" not in handlers.free("v")  # one who was served, or left, is told nothing


def test_a_visitor_who_leaves_leaves_no_run_behind(handlers):
    going = handlers.run("v", ask())
    while not (board := handlers.kept.last(f"{TOKEN} cat-3")) or not board.running:
        next(going)
    going.close()
    assert not board.running


def test_a_board_is_recorded_and_read_back(tiny, cat, tmp_path):
    folder = tmp_path / tiny.profile.name / "boards"
    recorded.record(tiny, cat, 3, folder)
    board = Boards(tiny, [cat], tmp_path).find("cat", 3)
    assert len(board.complete) == 15
    again = Board.of_example(tiny.profile, cat, 3)
    list(run(tiny, again))
    for old, new in zip(board.rows, again.rows, strict=True):
        labels = [[row.cells[name].said.label for name in COLUMNS] for row in (old, new)]
        assert (old.stop, old.truth, labels[0]) == (new.stop, new.truth, labels[1])
    again = again.again("dga")
    list(run(tiny, again))
    atlas = Boards(tiny, [cat], tmp_path).find("cat", 3, "dga")
    for old, new in zip(atlas.rows, again.rows, strict=True):
        assert (old.stop, old.right, old.depths.sheet) == (new.stop, new.right, new.depths.sheet)
    for one in (board, atlas):
        assert status_value(one)["words"] == "Recorded"
    content = json.loads((folder / "cat-3.json").read_text())
    for changes in (
        {"weights": {"classifier": "another"}}, {"settings": {}}, {"pictures": []},
        {"rows": [{}]}, {"rows": content["rows"][1:]},
    ):  # fmt: skip
        (folder / "cat-3.json").write_text(json.dumps(content | changes))
        assert Boards(tiny, [cat], tmp_path).find("cat", 3) is None
        assert Boards(tiny, [cat], tmp_path).find("cat", 3, "dga") is None


def test_shipped_boards_are_complete_and_small(session):
    found = Boards(session, load_examples())
    for name, severity in product(EXAMPLES, SEVERITIES):
        board = found.find(name, severity)
        assert [row.name for row in board.complete] == list(CORRUPTIONS)
        assert {row.truth for row in board.rows} == {"cat"}
        for method in METHODS:  # at its own depth an atlas holds what the board does
            for row in found.find(name, severity, method).rows:
                own = row.depths.predictions[row.stop.t_star]
                assert own.label == row.cells[method].said.label
                assert len(row.depths.predictions) == 33
    folder = shipped("assets/presets") / session.profile.name / "boards"
    assert sum(path.stat().st_size for path in folder.rglob("*.*")) < 3_000_000


def test_the_command_for_a_folder_names_methods_that_exist():
    *words, names = shlex.split(COMMAND)
    assert words == ["python", "-m", "dga", "adapt", "FOLDER", "--methods"]
    assert tuple(split_list(names)) == COLUMNS[1:]
    assert set(split_list(names)) == set(compared(EVERYDAY16))
