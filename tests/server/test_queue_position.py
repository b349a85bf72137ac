"""The line in front of the models, and what is remembered of each visitor."""

import asyncio
from types import SimpleNamespace

import gradio as gr

from app.runs.visitors import Visitors
from app.server.queue_position import PATIENCE, PHOTOGRAPHS_ID, QueuePositions, place_words
from app.server.strict_blocks import StrictBlocks
from app.server.turns import caller


def test_the_line_tells_places(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("app.server.queue_position.time.monotonic", lambda: now[0])
    queued = []
    line = QueuePositions(lambda: ([], queued))
    assert line.wait("a") == 0
    with line.served("a"):
        assert line.wait("b") == 1
        queued.append("b")
        assert [line.wait("c"), line.wait("b")] == [2, 1]
        assert line.place("c") == 2
        assert line.place("a") == line.place("nobody") == 0
        assert [line.has(name) for name in ("a", "b", "nobody")] == [True, True, False]
        queued.clear()
        assert line.place("c") == 1
    assert line.place("c") == 0
    with line.served("c"):
        assert line.wait("d") == 1
        now[0] += PATIENCE + 1  # d has closed the page
        assert line.wait("e") == 1
        assert not line.has("d")


def test_places_follow_the_queue():
    line = QueuePositions()
    for visitor in ("a", "b"):
        line.wait(visitor)
    line.queued = lambda: (["program 1"], ["program 2", "b"])
    assert line.place("b") == 2
    assert line.place("a") == 3  # has pressed, but waits at the end of the queue
    line.queued = lambda: (["b"], ["a"])
    assert line.place("b") == 1  # everyone but herself
    assert line.place("a") == 1


def test_names_that_only_say_so_do_not_lengthen_the_line():
    line = QueuePositions()
    line.queued = lambda: (["a"], ["b"])
    for number in range(100):
        line.wait(f"nobody {number}")
    assert line.wait("c") == 2


def test_photographs_wait_behind_each_other_and_end_beside_a_run():
    line = QueuePositions()
    photos = QueuePositions(name=PHOTOGRAPHS_ID, first=line)
    assert photos.beside is line.beside
    with photos.served("a"):
        assert (line.wait("b"), photos.wait("c")) == (0, 1)
        assert (line.busy(), photos.busy()) == (False, True)
    with line.served("b"):
        assert (photos.wait("c"), photos.busy()) == (0, True)
    assert not photos.busy()


def test_a_run_that_is_dropped_frees_the_line():
    line = QueuePositions()

    def work():
        with line.served("a"):
            yield 1

    going = work()
    next(going)
    assert line.wait("b") == 1
    going.close()
    assert line.place("b") == 0


def test_a_place_in_words():
    said = [place_words(place).split()[1] for place in (1, 2, 3, 11)]
    assert said == ["1st", "2nd", "3rd", "11th"]


def test_the_oldest_visitor_is_forgotten():
    visitors = Visitors[int]()
    for number in range(65):
        assert visitors.put(f"visitor {number}", number) == number
    assert visitors.last("visitor 0") is None
    assert visitors.last("visitor 64") == 64
    visitors.put("visitor 1", 1)  # is the newest now
    visitors.put("visitor 65", 65)
    assert visitors.last("visitor 1") == 1
    assert visitors.last("visitor 2") is None


def test_recorded_runs_take_no_places_from_others():
    """One recorded run is shown to everybody who opens the page."""
    visitors = Visitors[str](shared=lambda value: value == "recorded")
    visitors.put("hers", "her own run")
    for number in range(1_100):
        visitors.put(f"{number}", "recorded")
    assert visitors.last("hers") == "her own run"
    kept = [number for number in range(1_100) if visitors.last(f"{number}")]
    assert len(kept) == 1_000
    for number in range(64):
        visitors.put(f"own {number}", f"run {number}")
    assert visitors.last("hers") is None
    assert visitors.last("1099") == "recorded"


def test_every_step_of_a_run_knows_its_visitors_address():
    """What is put aside during one counts for her, whoever was served before."""

    def steps():
        for _ in range(2):
            yield caller.get()

    with StrictBlocks() as blocks:
        gr.Button("run").click(steps, None, gr.Textbox())

    async def said(host):
        request = SimpleNamespace(client=SimpleNamespace(host=host))
        first = await blocks.process_api(blocks.fns[0], [], request=request)
        second = await blocks.process_api(
            blocks.fns[0], [], request=request, iterator=first["iterator"]
        )
        return first["data"] + second["data"]

    for host in ("10.0.0.1", "10.0.0.2"):
        assert asyncio.run(said(host)) == [host, host]


def test_an_address_with_many_runs_loses_its_own_first():
    visitors = Visitors[int]()
    caller.set("home")
    visitors.put("she@home", 1)
    caller.set("elsewhere")
    for number in range(200):
        visitors.put(f"{number}@elsewhere", number)
    assert visitors.last("she@home") == 1
    kept = [number for number in range(200) if visitors.last(f"{number}@elsewhere") is not None]
    assert len(kept) == 63
    assert visitors.last("199@elsewhere") == 199
