"""Taking turns: a visitor with many requests cannot keep the others waiting."""

from __future__ import annotations

import asyncio
import random
import types
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio.server_messages import EstimationMessage

from app.server.fair_queue import (
    KEPT_SECONDS,
    MAX_PER_ADDRESS,
    MAX_PER_VISITOR,
    MAX_SESSIONS,
    MAX_UNREAD,
    MAX_UNREAD_TOGETHER,
    MAX_WAITING,
    FairQueue,
    in_turns,
)
from app.words.errors import GATE_WORDS
from tests.fixtures.app import Served

GREEDY, OTHER = "10.0.0.1", "10.0.0.2"


def first(text: str) -> str:
    return text[0]


@pytest.mark.parametrize(
    ("waiting", "served_now", "order"),
    [
        ("a1 a2 a3 b1", "", "a1 b1 a2 a3"),
        ("a1 a2 a3 b1", "a", "b1 a1 a2 a3"),
        ("a1 a2 b1 b2 c1", "", "a1 b1 c1 a2 b2"),
        ("a1 b1 c1", "", "a1 b1 c1"),
        ("", "a", ""),
    ],
)
def test_turns(waiting: str, served_now: str, order: str) -> None:
    assert in_turns(waiting.split(), first, served_now) == order.split()


def test_nobody_waits_longer_than_one_round() -> None:
    """Whatever the others do, one's first request has at most one of each of them before it."""
    chance = random.Random(0)
    for _ in range(200):
        waiting = [f"{chance.choice('abcd')}{n}" for n in range(chance.randint(1, 30))]
        order = in_turns(waiting, first)
        assert sorted(order) == sorted(waiting)
        for client in {first(item) for item in waiting}:
            place = next(i for i, item in enumerate(order) if first(item) == client)
            before = [first(item) for item in order[:place]]
            assert len(before) == len(set(before))
            own = [item for item in order if first(item) == client]
            assert own == [item for item in waiting if first(item) == client]


class Crowd:
    """A queue that is not being worked on, and clients of it."""

    def __init__(self) -> None:
        with gr.Blocks() as blocks:
            gr.Button("a").click(lambda: None, concurrency_id="models", concurrency_limit=1)
        self.fn = next(iter(blocks.fns.values()))
        self.queue = FairQueue(True, 4, 1, MAX_WAITING, blocks)
        self.queue.active_jobs = [None] * 4

    def join(
        self, visitor: str | None, host: str, data: list[Any] | None = None
    ) -> tuple[bool, str, str]:
        body: Any = types.SimpleNamespace(
            fn_index=self.fn._id, session_hash=visitor, request=None, event_id=None, data=data or []
        )
        request: Any = types.SimpleNamespace(headers={}, client=types.SimpleNamespace(host=host))
        return asyncio.run(self.queue.push(body, request, None))

    def serve(self) -> str:
        """The next in turn; nothing works on her."""
        events, *_ = self.queue.get_events()
        self.queue.active_jobs[0] = events
        self.queue._asyncio_tasks = [types.SimpleNamespace(get_name=lambda: events[0]._id)]
        return events[0].session_hash


def test_one_visitor_may_wait_only_so_often() -> None:
    crowd = Crowd()
    assert all(crowd.join("a", GREEDY)[0] for _ in range(MAX_PER_VISITOR))
    refused, sentence, state = crowd.join("a", GREEDY)
    assert (refused, state) == (False, "queue_full")
    assert sentence.startswith(f"{MAX_PER_VISITOR} of your runs are waiting already.")
    assert crowd.join("b", GREEDY)[0]


def test_one_address_leaves_room_for_others_and_is_served_in_turn() -> None:
    crowd = Crowd()
    for _ in range(MAX_PER_ADDRESS):
        assert crowd.join(None, GREEDY)[0]  # each call of a program is a visitor of its own
    assert "from your network are waiting" in crowd.join(None, GREEDY)[1]
    crowd.serve()
    assert crowd.join("late", OTHER)[0]
    assert crowd.queue.visitors("models")[1][0] == "late"
    assert crowd.serve() == "late"


def test_a_full_queue_says_so() -> None:
    crowd = Crowd()
    for number in range(MAX_WAITING):
        assert crowd.join(f"{number}", f"10.0.1.{number}")[0]
    assert crowd.join("x", OTHER)[1].startswith(f"The server is busy: {MAX_WAITING} runs")


@pytest.mark.parametrize("visitor", ["", "x" * 65, "a<gradio-sep>b", "a b", "é", "a\n"])
def test_a_visitor_has_a_name(visitor: str) -> None:
    """Gradio takes an empty one for none in one place and not in another."""
    crowd = Crowd()
    assert crowd.join(visitor, OTHER) == (False, GATE_WORDS["misunderstood"], "error")
    assert not crowd.queue.pending_messages_per_session


def test_those_who_wait_are_not_forgotten_for_others() -> None:
    crowd = Crowd()
    assert crowd.join("waits", OTHER)[0]
    for number in range(2 * MAX_SESSIONS):
        gone = f"gone-{number}"
        assert crowd.join(gone, GREEDY)[0]
        asyncio.run(crowd.queue.clean_events(session_hash=gone))
    known = crowd.queue.pending_messages_per_session
    assert "waits" in known
    assert len(known) <= MAX_SESSIONS + 1
    assert len(crowd.queue.pending_event_ids_session) <= MAX_SESSIONS + 1


def test_a_place_is_free_again_when_its_work_is_lost() -> None:
    """Gradio's own stays taken where a task is cancelled before its first step."""
    crowd = Crowd()
    assert crowd.join("lost", GREEDY)[0]
    assert crowd.join("next", OTHER)[0]
    assert crowd.serve() == "lost"
    [events] = crowd.queue.event_queue_per_concurrency_id.values()
    events.current_concurrency = 1
    assert crowd.queue.get_events() is None
    crowd.queue._asyncio_tasks = set()
    assert crowd.serve() == "next"
    assert events.current_concurrency == 0


def test_addresses_of_visitors() -> None:
    crowd = Crowd()
    assert crowd.join("a", GREEDY)[0]
    assert crowd.join("b", OTHER)[0]
    assert crowd.serve() == "a"
    assert [crowd.queue.address_of(name) for name in "abc"] == [GREEDY, OTHER, ""]


def test_events_that_nobody_works_on_are_forgotten() -> None:
    """Of several cancels at once Gradio sees one to the end; the events of the others stay."""
    crowd = Crowd()
    for visitor in ("cancelled", "served", "waits"):
        assert crowd.join(visitor, OTHER)[0]
    lost, *_ = crowd.queue.get_events()
    assert lost[0].session_hash == "cancelled"
    served, *_ = crowd.queue.get_events()
    crowd.queue.active_jobs[0] = served
    resets = {lost[0]._id, served[0]._id}
    crowd.queue.server_app = types.SimpleNamespace(iterators_to_reset=resets)
    assert crowd.join("next", GREEDY)[0]
    kept = [event.session_hash for event in crowd.queue.event_ids_to_events.values()]
    assert kept == ["served", "waits", "next"]
    assert resets == {served[0]._id}


def test_idle_sessions_are_forgotten() -> None:
    crowd, now = Crowd(), 0.0
    crowd.queue._clock = lambda: now
    for visitor in ("waits", "gone"):
        assert crowd.join(visitor, OTHER)[0]
    asyncio.run(crowd.queue.clean_events(session_hash="gone"))
    crowd.queue.pending_event_ids_session["left in mid-run"] = {"id"}
    known = crowd.queue.pending_messages_per_session
    now = KEPT_SECONDS
    assert crowd.join("a", GREEDY)[0]
    assert set(known) == {"waits", "gone", "a"}
    assert "left in mid-run" not in crowd.queue.pending_event_ids_session
    now += 1
    assert crowd.join("b", GREEDY)[0]
    assert set(known) == set(crowd.queue._joined) == {"waits", "a", "b"}


def test_unread_messages_are_bounded() -> None:
    crowd = Crowd()
    for visitor in ("deaf", "listens"):
        assert crowd.join(visitor, OTHER)[0]
    deaf, listens = crowd.queue.event_queue_per_concurrency_id["models"].queue
    message = EstimationMessage(queue_size=1)
    for _ in range(2 * MAX_UNREAD):
        crowd.queue.send_message(deaf, message)
    known = crowd.queue.pending_messages_per_session
    assert known["deaf"].qsize() == MAX_UNREAD
    assert (deaf.alive, listens.alive) == (False, True)

    for number in range(MAX_UNREAD_TOGETHER // MAX_UNREAD):
        for _ in range(MAX_UNREAD - 1 - number):
            known.setdefault(f"more-{number}", asyncio.Queue()).put_nowait(message)
    assert crowd.join("next", GREEDY)[0]
    assert "deaf" not in known
    assert {"listens", "next", "more-0"} <= set(known)


def test_two_streams_of_a_session_may_end_together() -> None:
    """Gradio's second one would not end the task that keeps it going."""
    crowd = Crowd()
    assert crowd.join("a", OTHER)[0]
    for _ in range(2):
        del crowd.queue.pending_messages_per_session["a"]
    assert not crowd.queue.pending_messages_per_session


def test_no_more_values_than_there_are_inputs() -> None:
    crowd = Crowd()
    refused = (False, GATE_WORDS["misunderstood"], "error")
    assert crowd.join("a", OTHER, [[]]) == refused
    crowd.fn.queue = False
    assert crowd.join("a", OTHER) == refused


def test_messages_for_nobody_are_dropped() -> None:
    """In Gradio's own queue they end it, for everybody."""
    crowd = Crowd()
    assert crowd.join("gone", GREEDY)[0]
    assert crowd.join("stays", OTHER)[0]
    del crowd.queue.pending_messages_per_session["gone"]
    crowd.queue.broadcast_estimations("models")
    assert crowd.queue.pending_messages_per_session["stays"].qsize() > 0


@pytest.mark.parametrize(
    ("headers", "status"), [({}, 503), ({"sec-fetch-mode": "cors"}, 429)], ids=["program", "page"]
)
def test_the_page_has_such_a_queue(served: Served, headers: dict[str, str], status: int) -> None:
    """Also over HTTP: more calls than one visitor may have waiting get the sentence."""
    data = [None, "fog", 1, 0.5, 0, 1]
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if d["api_name"] == "adapt")
    body = {"data": data, "fn_index": number, "session_hash": f"greedy-{status}"}

    async def press() -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60, headers=headers) as client:
            address = f"{served.url}gradio_api/queue/join"
            return await asyncio.gather(*(client.post(address, json=body) for _ in range(40)))

    answers = asyncio.run(press())
    assert {answer.status_code for answer in answers} <= {200, status}
    assert any(answer.status_code == status for answer in answers)
    for answer in answers:
        if answer.status_code == status:
            assert answer.json()["detail"].endswith("when one is done.")
