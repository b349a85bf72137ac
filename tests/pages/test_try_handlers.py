"""What the page Try it gets from the server: one value, runs, every depth, uploads, links."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import gradio as gr
import numpy as np
import pytest
from gradio.utils import diff
from PIL import Image

from app.pages.adapt.try_handlers import TryComponents, TryHandlers
from app.parts.examples import Example, load_examples
from app.presets.store import Presets
from app.runs.beside import DroppedError, SideLane
from app.runs.run_state import RunState
from app.runs.run_value import run_value
from app.runs.session import Session
from app.runs.settings import check_settings
from app.server.queue_position import QueuePositions
from app.words.errors import REFUSED
from app.words.try_it import NOTICES
from dga.networks.models import Models
from dga.pipeline import Adaptation, Reconstruction
from dga.speed.pace import Pace

SCREEN = "screen"
ASKED = ("gaussian_noise", 3, 0.45, 0, 5, 2, 0.75, 12, "dga-guided")


@pytest.fixture
def example(tmp_path: Path) -> Example:
    path = tmp_path / "cat.png"
    pixels = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return Example("cat", "Cat", str(path), "", "cat")


@pytest.fixture
def line() -> QueuePositions:
    return QueuePositions()


@pytest.fixture
def handlers(tiny_models: Models, example: Example, line: QueuePositions) -> TryHandlers:
    session, examples = Session(tiny_models), [example]
    page = TryComponents(**{f.name: f.name for f in dataclasses.fields(TryComponents)})  # type: ignore[arg-type]
    return TryHandlers(session, line, page, examples, Presets(session, examples))


def _run(handlers: TryHandlers, visitor: str, *asked: Any) -> dict[str, Any]:
    *_, last = (update for update in handlers.run(visitor, *asked) if SCREEN in update)
    return last[SCREEN]


@pytest.fixture
def value(handlers: TryHandlers, example: Example) -> dict[str, Any]:
    return _run(handlers, "a", example.path, *ASKED)


def test_a_run_tells_every_depth_and_every_sentence(value: dict[str, Any]) -> None:
    assert json.loads(json.dumps(value))
    assert value["phase"] == "done"
    assert value["classes"][value["truth"]] == "cat"
    assert len(value["forward_probs"]) == value["forward"]["depths"] == 33
    assert set(value["every"]) == {"dga-plus"}
    assert len(value["every"]["dga-plus"]["probs"]) == 33
    assert set(value["results"]) == {"dga", "dga-guided", "dda", "dga-plus"}
    for result in value["results"].values():
        assert abs(sum(result["probs"]) - 1000) <= 8
    own = f"{value['t_star']}{'c' if value['crossed'] else 'n'}"
    for name in ("dga", "dga-guided"):
        assert {own, "0c", "0n"} == set(value["says"][name])
        assert value["spent"][name]
    assert value["says"]["dga-plus"]["own"][1] in ("right", "wrong")
    assert set(value["says"]["dda"]) == {"5"}
    assert len(value["stops"]) == len(value["pills"]) == 102
    for stop, pill in zip(value["stops"], value["pills"], strict=True):
        assert (stop is None) == (pill is None)
    assert [title for key, title in value["titles"].items() if key == "12n"] == [
        "Noised to depth 12"
    ]


def test_a_verdict_is_against_the_true_class_alone(handlers: TryHandlers, example: Example) -> None:
    """Not against what the classifier says of the undamaged picture, which may be wrong itself."""
    known = handlers.started("b", example.path, *ASKED)
    assert known.truth == "cat"
    assert known.subject.clean_prediction is not None
    own = Path(example.path).with_name("own.png")
    Image.fromarray(255 - np.asarray(Image.open(example.path))).save(own)
    value = _run(handlers, "b", str(own), *ASKED)
    assert value["truth"] is None
    said = [s for m, table in value["says"].items() if m != "unknown" for s in table.values()]
    assert said
    assert all(verdict == "" and "right" not in t and "wrong" not in t for t, verdict in said)
    named = handlers.name_picture("b", "dog")[SCREEN]
    assert named["classes"][named["truth"]] == "dog"
    assert named["says"]["dga-plus"]["own"][1] in ("right", "wrong")
    again = _run(handlers, "b", str(own), *ASKED)
    assert again["truth"] == named["truth"]  # the same picture
    assert handlers.name_picture("b", "no such kind")[SCREEN]["truth"] is None
    assert handlers.name_picture("b", {})[SCREEN]["truth"] is None
    handlers.name_picture("b", "dog")
    assert _run(handlers, "b", example.path, *ASKED)["truth"] == value["classes"].index("cat")
    assert (
        handlers.name_picture("b", "dog")[SCREEN] == gr.skip()
    )  # it is known what an example shows
    assert _run(handlers, "b", str(own), *ASKED)["truth"] is None  # another picture was between


def test_a_fixed_depth_that_is_guided_alike_is_said_to_be_the_same(value: dict[str, Any]) -> None:
    assert "dga-guided" not in value["every"]
    assert value["same"] is True


def test_every_threshold_has_its_stop(value: dict[str, Any]) -> None:
    """The axis ends at 32; the curve is known as far as a stop may depend on it."""
    assert value["forward"]["depths"] == 33
    assert len(value["curves"]) == 2
    assert None not in value["stops"]


def test_other_methods_from_every_depth_on_demand(
    handlers: TryHandlers, value: dict[str, Any]
) -> None:
    shown = [update[SCREEN] for update in handlers.expand("a", "dga-guided")]
    assert shown[0]["progress"]["words"].startswith("Trying every depth")
    after = shown[-1]
    assert after["progress"] is None
    assert len(after["every"]["dga-guided"]["probs"]) == 33
    assert after["dda_line"] == "dga-guided"
    assert len(after["says"]["dda"]) == 32
    own = f"{value['t_star']}{'c' if value['crossed'] else 'n'}"
    assert after["says"]["dga-guided"][own] == value["says"]["dga-guided"][own]
    assert len(after["says"]["dga-guided"]) > len(value["says"]["dga-guided"])


def test_a_depth_by_hand_is_told_without_figures_on_a_projector(
    handlers: TryHandlers, value: dict[str, Any]
) -> None:
    *_, after = (update[SCREEN] for update in handlers.expand("a", "dga-guided"))
    for name, key in (("dga-guided", "0d"), ("dga-guided", "9d"), ("dga-plus", "9")):
        assert "%" in after["says"][name][key][0]
        assert "%" not in after["present"][name][key][0]


def test_a_run_that_is_repeated_takes_nothing_back(
    handlers: TryHandlers, value: dict[str, Any], example: Example
) -> None:
    """Gradio sends differences, and those of lists within lists that get shorter are wrong."""
    again = [u[SCREEN] for u in handlers.run("a", example.path, *ASKED) if SCREEN in u]
    assert len(again[-1]["curves"][0]) == len(value["curves"][0])
    for before, after in pairwise(again):
        edits = diff(json.loads(json.dumps(before)), json.loads(json.dumps(after)))
        assert not [path for done, path, _ in edits if done == "delete" and len(path) > 1]
    assert again[-1]["results"] == value["results"]


def test_what_is_not_computed_says_why_it_is_looked_at(value: dict[str, Any]) -> None:
    unknown = value["says"]["unknown"]
    assert "τ" in unknown["own"]
    assert "by hand" in unknown["hand"]
    assert "fixed depth" in unknown["fixed"]
    assert not any("τ" in unknown[why] for why in ("hand", "fixed"))


def test_a_recorded_run_that_is_looked_further_into_stays_what_it_was(
    handlers: TryHandlers, session: Session, line: QueuePositions
) -> None:
    examples = load_examples()
    presets = Presets(session, examples)
    shipped = TryHandlers(session, line, handlers.page, examples, presets)
    first = presets.all[0]
    before = shipped.pick("a", first.name)[SCREEN]
    first.state.series.pop("dga")
    *_, after = (update[SCREEN] for update in shipped.expand("a", "dga"))
    assert "dga" in before["every"].keys() & after["every"].keys()
    assert after["recorded"] == before["recorded"]
    assert "dga" not in first.state.series
    assert not first.state.working


def test_nothing_to_expand_is_said(handlers: TryHandlers) -> None:
    (update,) = handlers.expand("nobody", "dga")
    assert NOTICES["nothing"] in update["notice"]
    assert "key" not in update[SCREEN]  # the run that is shown stays


def test_a_cancel_says_what_it_ended(
    handlers: TryHandlers, value: dict[str, Any], example: Example
) -> None:
    assert handlers.cancel("a")[SCREEN] == value  # it was done already
    handlers.press("a")
    said = handlers.cancel("a")[SCREEN]
    assert (said["phase"], said["key"]) == ("error", value["key"])  # else it is not shown
    assert "before it began" in said["error"]
    updates = handlers.run("a", example.path, "fog", *ASKED[1:])
    next(update for update in updates if SCREEN in update)
    cancelled = handlers.cancel("a")
    assert cancelled[SCREEN]["phase"] == "cancelled"
    assert cancelled["adapt"]["interactive"]
    assert list(updates)[-1]["adapt"]["interactive"]


def _follow(handlers: TryHandlers, visitor: str) -> list[dict[str, Any]]:
    return [update[SCREEN] for update in handlers.follow(visitor)]


@pytest.mark.parametrize("method", ["dga-guided", "dga-plus"])
def test_a_change_repairs_by_itself_what_is_looked_at_first(
    handlers: TryHandlers, example: Example, method: str
) -> None:
    damaged = handlers.damaged("a", example.path, *ASKED[:-1], method)[SCREEN]
    assert (damaged["phase"], damaged["source"]) == ("damaged", "damaged")
    assert damaged["input"]["src"]
    assert damaged["results"] == {}
    values = _follow(handlers, "a")
    done = [{n for n, r in v["results"].items() if r["state"] == "done"} for v in values]
    assert ("dga-plus" in next(names for names in done if names)) == (method == "dga-plus")
    last = values[-1]
    assert (last["phase"], last["source"], last["key"]) == ("done", "run", damaged["key"])
    assert set(last["results"]) == {"dga", "dga-guided", "dda", "dga-plus"}
    other = _run(handlers, "b", example.path, *ASKED)
    assert last["results"] == other["results"]
    assert last["stops"] == other["stops"]


def test_the_sentence_of_what_is_there_does_not_wait_for_the_rest(
    handlers: TryHandlers, example: Example
) -> None:
    handlers.damaged("a", example.path, *ASKED)
    some = (v for v in _follow(handlers, "a") if 0 < len(v["results"]) < 4 and "says" in v)
    assert any(v["phase"] == "reverse" and v["says"].get("dga-guided") for v in some)


def test_a_run_beside_the_queue_gives_way_and_can_be_continued(
    handlers: TryHandlers, example: Example, line: QueuePositions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.runs.beside.PATIENCE", 0.1)
    handlers.damaged("a", example.path, *ASKED)
    with line.served("b"):
        *_, value = _follow(handlers, "a")
    assert value["notice"] == NOTICES["busy"]
    assert value["phase"] == "damaged"
    steps = handlers.session.events

    def interrupted(*asked: Any, **options: Any) -> Any:
        for event in steps(*asked, **options):
            yield event
            if isinstance(event, Reconstruction):
                line._served.add("b")  # a run of the queue begins

    handlers.session.events = interrupted  # type: ignore[method-assign]
    *_, value = _follow(handlers, "a")
    assert (value["phase"], value["error"]) == ("cancelled", NOTICES["busy"])
    there = {name for name, r in value["results"].items() if r["state"] == "done"}
    assert there
    line._served.discard("b")
    asked = []

    def noted(*given: Any) -> Any:
        asked.append([system.name for system in given[-1]])
        return steps(*given)

    handlers.session.events = noted  # type: ignore[method-assign]
    whole = _run(handlers, "a", example.path, *ASKED[:-1], "dda")
    assert asked == [[n for n in ("dga", "dga-guided", "dda", "dga-plus") if n not in there]]
    assert whole["phase"] == "done"
    assert set(whole["results"]) == {"dga", "dga-guided", "dda", "dga-plus"}


def test_what_a_cancelled_repetition_had_stays(
    handlers: TryHandlers, value: dict[str, Any], example: Example
) -> None:
    updates = handlers.run("a", example.path, *ASKED)
    next(update for update in updates if SCREEN in update)
    cancelled = handlers.cancel("a")[SCREEN]
    assert cancelled["phase"] == "done"
    assert cancelled["results"] == value["results"]


def test_a_link_brings_what_its_sender_looked_at(handlers: TryHandlers, own: str) -> None:
    asked = MINE | {"dda": "7", "method": "dga-plus", "depth": "9"}
    hands = handlers.arrive(_asking(asked), own)[SCREEN]["hands"]
    assert hands == {"tau": 0.4, "fixed": 7, "method": "dga-plus", "depth": 9}
    odd = handlers.arrive(_asking(MINE | {"method": "magic", "depth": "999"}), own)
    assert "magic" in odd["notice"]
    assert "999" in odd["notice"]
    assert odd[SCREEN]["hands"]["depth"] is None


def test_asking_anew_ends_the_last_run(line: QueuePositions) -> None:
    lane, ended = SideLane(line), []

    def first() -> None:
        with lane.served("a") as asked:
            entered.set()
            ended.append(asked.wait(5))

    entered = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(5)
    with lane.served("a") as asked:
        lane.check(asked)
        lane.stop("a")
        with pytest.raises(DroppedError, match=r"^$"):
            lane.check(asked)
    thread.join()
    assert ended == [True]


def test_few_ask_at_once_and_slow_ones_rest(
    line: QueuePositions, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = SideLane(line)
    with lane.served("a"):
        monkeypatch.setattr("app.runs.beside.PATIENCE", 0.05)
        with pytest.raises(DroppedError, match="served"), lane.served("b"):
            pass
        lane._asked["c"] = threading.Event()
        with pytest.raises(DroppedError, match="served"), lane.served("b"):
            pass
    lane._asked.clear()
    monkeypatch.setattr("app.runs.beside.SLOW_SECONDS", 0.0)
    with lane.served("a"):
        time.sleep(0.01)
    with pytest.raises(DroppedError, match="slow"), lane.served("a"):
        pass


def test_nothing_is_shown_of_another_picture_while_a_run_goes_on(
    handlers: TryHandlers, value: dict[str, Any], example: Example
) -> None:
    """From the first update on, no picture of the last run is left."""
    other = "fog", *ASKED[1:]
    updates = (u[SCREEN] for u in handlers.run("a", example.path, *other) if SCREEN in u)
    first = next(updates)
    assert first["key"] != value["key"]
    assert first["results"] == {}
    assert "says" not in first or not first["says"]
    updates.close()


def test_uploads_are_judged_as_they_arrive(handlers: TryHandlers, tmp_path: Path) -> None:
    good, text, tiny = (tmp_path / name for name in ("good.png", "text.png", "tiny.png"))
    Image.new("RGB", (40, 40), "red").save(good)
    text.write_text("not a picture")
    Image.new("RGB", (2, 2)).save(tiny)
    _, note, kept, corruption = handlers.arrived(str(good), None)
    assert (note, kept, corruption) == ("", str(good), "none")
    for path, word in ((text, "not a"), (tiny, "at least 16 pixels")):
        picture, note, kept, _ = handlers.arrived(str(path), str(good))
        assert picture == kept == str(good)
        assert word in note
    _, note, *_ = handlers.arrived(str(good), str(good))
    assert note == ""


def test_a_first_upload_that_is_refused_leaves_the_picture_that_was_filled_in(
    handlers: TryHandlers, example: Example, tmp_path: Path
) -> None:
    (tmp_path / "text.png").write_text("not a picture")
    good = handlers.arrive(_asking({}), None)["good"]
    picture, note, good, _ = handlers.arrived(str(tmp_path / "text.png"), good)
    assert picture == good == example.path
    assert note


def _asking(query: dict[str, str], visitor: str = "a") -> Any:
    return SimpleNamespace(session_hash=visitor, query_params=query)


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.png"
    Image.new("RGB", (40, 40), "red").save(path)
    return str(path)


MINE = {"image": "own", "corruption": "fog", "severity": "2", "tau": "0.40", "seed": "3"}


def test_own_picture_survives_another_page(handlers: TryHandlers, own: str) -> None:
    mine = handlers.arrive(_asking(MINE), own)
    assert mine["picture"] == mine["good"] == own
    assert "own picture" not in mine["notice"]
    assert mine[SCREEN]["phase"] == "damaged"
    assert mine[SCREEN]["tau"] == 0.4
    others = handlers.arrive(_asking(MINE), None)
    assert "own picture, which links never hold" in others["notice"]
    assert others[SCREEN]["title"] == "Cat"


@pytest.mark.parametrize("asked", [{}, MINE | {"tau": "0.90", "dda": "7"}])
def test_coming_back_to_a_tab_brings_its_whole_run(
    handlers: TryHandlers, own: str, asked: dict[str, str]
) -> None:
    """By the header's link, then by the history: its address is that of the run."""
    value = _run(handlers, "a", own, "fog", 2, 0.4, 3, 5, 2, 0.75, 12, "dda")
    list(handlers.expand("a", "dga-guided"))
    left = urlencode(MINE | {"tau": "0.90", "dda": "7", "key": value["key"]})
    back = handlers.arrive(_asking(asked, "b"), own, f"?{left}")
    shown = back[SCREEN]
    assert (back["picture"], shown["title"], shown["phase"]) == (own, "Your picture", "done")
    assert set(shown["every"]) == {"dga-plus", "dga-guided"}
    assert shown["results"] == value["results"]
    assert (shown["tau"], shown["hands"]["tau"], shown["hands"]["fixed"]) == (0.4, 0.9, 7)
    assert shown["progress"] is None
    other = handlers.arrive(_asking(MINE | {"severity": "5"}, "b"), own, f"?{left}")
    assert other[SCREEN]["key"] != value["key"]


def test_a_run_or_picture_that_is_gone_is_told(handlers: TryHandlers, own: str) -> None:
    left = "?" + urlencode(MINE | {"key": "0123456789abcdef" * 2})
    anew = handlers.arrive(_asking({}), own, left)
    assert "no longer kept" in anew["notice"]
    assert (anew["picture"], anew[SCREEN]["phase"]) == (own, "damaged")
    gone = handlers.arrive(_asking(MINE), None, left)
    assert "Your picture is no longer kept" in gone["notice"]
    assert gone[SCREEN]["title"] == "Cat"
    value = _run(handlers, "a", own, "fog", 2, 0.4, 3, 5, 2, 0.75, 12, "dda")
    left = "?" + urlencode(MINE | {"key": value["key"]})
    assert "Your picture is no longer" in handlers.arrive(_asking({}), None, left)["notice"]
    for odd in (None, 7, "?&&=", "?key=", "?image=own"):
        assert handlers.arrive(_asking({}), None, odd)[SCREEN]["title"] == "Cat"


def test_what_a_link_says_amiss_is_told_and_the_default_opens(handlers: TryHandlers) -> None:
    query = {"image": "dodo", "corruption": "rain", "tau": "7", "dda": "400", "rule": "quantile"}
    update = handlers.arrive(_asking(query), None)
    for word in ("dodo", "rain", "“7”", "400", "quantile"):
        assert word in update["notice"]
    assert update[SCREEN]["phase"] == "damaged"
    both = handlers.arrive(_asking({"run": "nowhere", "corruption": "rain"}), None)["notice"]
    assert "nowhere" in both
    assert "rain" in both


@pytest.mark.parametrize(
    "query", [{"run": "nowhere"}, {"corruption": "zzz"}, {"dda": "999"}, {"image": "zzz"}]
)
def test_a_link_of_which_nothing_is_understood_opens_what_the_page_opens(
    handlers: TryHandlers, session: Session, line: QueuePositions, query: dict[str, str]
) -> None:
    (word,) = query.values()
    update = handlers.arrive(_asking(query), None)
    assert word in update["notice"]
    assert update[SCREEN]["key"]  # the script shows what has another key
    examples = load_examples()
    shipped = TryHandlers(session, line, handlers.page, examples, Presets(session, examples))
    assert SCREEN not in shipped.arrive(_asking({}), None)
    update = shipped.arrive(_asking(query), None)
    assert word in update["notice"]
    assert "own picture" not in update["notice"]
    first = shipped.presets.all[0]
    assert update[SCREEN]["recorded"] == first.name
    assert update["picture"] == first.example.path


def test_a_link_holds_the_settings(value: dict[str, Any]) -> None:
    """The script sets tau and the fixed depth as they stand when the link is copied."""
    damage = "corruption=gaussian_noise&severity=3"
    assert value["link"] == f"?image=cat&{damage}&tau=0.45&seed=0&paths=2"


def test_deepest_allowed_may_reach_beyond_the_axis(tiny_models: Models) -> None:
    settings = check_settings(tiny_models.profile, "fog", 3, 0.0, 0, 5, 1, None, 40)
    session = Session(tiny_models)
    pixels = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    from app.runs.session import Picture

    subject = Picture(pixels, session._classify(pixels))
    state = RunState(tiny_models.profile, settings, subject)
    for event in session.events(pixels, settings, extent=state.extent):
        state.take(event)
    assert isinstance(event, Adaptation)
    assert run_value(state)["t_star"] == 40
    assert len(run_value(state)["forward_probs"]) == 41


def test_a_slow_machine_repairs_by_what_is_looked_at_alone(
    handlers: TryHandlers, example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers.session.pace = Pace(denoise=3.0, judge=0.5)
    monkeypatch.setattr(handlers.session, "budget_seconds", 60.0)
    value = _run(handlers, "a", example.path, *ASKED[:-1], "dga-plus")
    assert set(value["results"]) == {"dga-plus"}
    assert value["every"] == {}
    assert "On this processor" in value["notice"] or "on this processor" in value["notice"]
    assert len(value["curves"][0]) <= 13
    more = _run(handlers, "a", example.path, *ASKED[:-1], "dda")
    assert set(more["results"]) == {"dga-plus", "dda"}
    handlers.damaged("a", example.path, *ASKED)
    assert _follow(handlers, "a")[-1]["notice"] == NOTICES["slow"]


def test_a_run_that_finds_the_queue_full_says_so(handlers: TryHandlers) -> None:
    handlers.press("a")
    refused = handlers.free("a")
    assert (refused[SCREEN]["phase"], refused[SCREEN]["error"]) == ("error", REFUSED)
    assert refused["adapt"]["interactive"]
    assert SCREEN not in handlers.free("a")
