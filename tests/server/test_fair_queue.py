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
    MAX_IDLE,
    MAX_PER_ADDRESS,
    MAX_PER_VISITOR,
    MAX_UNREAD,
    MAX_WAITING,
    FairQueue,
    round_robin,
)
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
    assert round_robin(waiting.split(), first, served_now) == order.split()


def test_nobody_waits_longer_than_one_round() -> None:
    """Whatever the others do, one's first request has at most one of each of them before it."""
    chance = random.Random(0)
    for _ in range(200):
        waiting = [f"{chance.choice('abcd')}{n}" for n in range(chance.randint(1, 30))]
        order = round_robin(waiting, first)
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
        self.messages: Any = self.queue.pending_messages_per_session

    def join(self, visitor: str | None, host: str) -> Any:
        body: Any = types.SimpleNamespace(
            fn_index=self.fn._id, session_hash=visitor, request=None, event_id=None, data=[]
        )
        request: Any = types.SimpleNamespace(headers={}, client=types.SimpleNamespace(host=host))
        return asyncio.run(self.queue.push(body, request, None))

    def serve(self) -> str:
        """The next in turn; nothing works on her."""
        found = self.queue.get_events()
        assert found is not None
        events, *_ = found
        self.queue.active_jobs[0] = events
        tasks: Any = [types.SimpleNamespace(get_name=lambda: events[0]._id)]
        self.queue._asyncio_tasks = tasks
        return events[0].session_hash

    @property
    def waiting(self) -> list[Any]:
        return self.queue.event_queue_per_concurrency_id["models"].queue


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def test_one_visitor_may_wait_only_so_often(crowd: Crowd) -> None:
    assert all(crowd.join("a", GREEDY)[0] for _ in range(MAX_PER_VISITOR))
    refused, sentence, state = crowd.join("a", GREEDY)
    assert (refused, state) == (False, "queue_full")
    assert sentence.startswith(f"{MAX_PER_VISITOR} of your runs are waiting already.")
    assert crowd.join("b", GREEDY)[0]


def test_one_address_leaves_room_for_others(crowd: Crowd) -> None:
    while crowd.join(None, GREEDY)[0]:  # each call of a program is a visitor of its own
        pass
    assert len(crowd.waiting) == MAX_PER_ADDRESS
    assert crowd.join("late", OTHER)[0]
    assert "from your network are waiting" in crowd.join(None, GREEDY)[1]


def test_addresses_are_served_in_turn(crowd: Crowd) -> None:
    for _ in range(3):
        assert crowd.join(None, GREEDY)[0]
    crowd.serve()
    assert crowd.join("late", OTHER)[0]
    assert crowd.waiting[0].session_hash == "late"
    assert crowd.queue.visitors("models")[1][0] == "late"
    assert crowd.serve() == "late"


def test_a_full_queue_says_so(crowd: Crowd) -> None:
    for number in range(MAX_WAITING):
        assert crowd.join(f"{number}", f"10.0.1.{number}")[0]
    assert crowd.join("x", OTHER)[1].startswith(f"The server is busy: {MAX_WAITING} runs")


def test_nobody_waits_much_longer_than_half_a_minute(crowd: Crowd) -> None:
    crowd.queue.process_time_per_fn[crowd.fn].add(6.5)  # seconds of a run
    joined = [crowd.join(f"{number}", f"10.0.1.{number}") for number in range(8)]
    assert [ok for ok, *_ in joined] == [True] * 6 + [False] * 2
    assert joined[-1][1].startswith("The server is busy: 6 runs")
    crowd.queue.process_time_per_fn[crowd.fn].add(6000)  # a model of another size
    for _ in range(3):
        crowd.waiting.pop()
    assert crowd.join("patient", OTHER)[0]
    assert not crowd.join("late", OTHER)[0]


def test_those_who_wait_are_not_forgotten_for_others(crowd: Crowd) -> None:
    """Gradio forgets the oldest of 2,000, and ends its queue over the next message for her."""
    assert crowd.join("waits", OTHER)[0]
    for number in range(MAX_IDLE + 9):
        crowd.join(f"gone-{number}", GREEDY)
        asyncio.run(crowd.queue.clean_events(session_hash=f"gone-{number}"))
        crowd.queue.pending_event_ids_session[f"gone-{number}"] = set()  # as after a run
    assert "waits" in crowd.messages
    assert len(crowd.messages) <= MAX_IDLE + 2
    assert len(crowd.queue.pending_event_ids_session) <= MAX_IDLE + 2


def test_a_place_is_free_again_when_its_work_is_lost(crowd: Crowd) -> None:
    """Gradio's own stays taken where a task is cancelled before its first step."""
    assert crowd.join("lost", GREEDY)[0]
    assert crowd.join("next", OTHER)[0]
    assert crowd.serve() == "lost"
    events = crowd.queue.event_queue_per_concurrency_id["models"]
    events.current_concurrency = 1
    assert crowd.queue.get_events() is None
    crowd.queue._asyncio_tasks = set()
    assert crowd.serve() == "next"
    assert events.current_concurrency == 0


def test_unread_messages_are_bounded(crowd: Crowd) -> None:
    for visitor in ("deaf", "listens"):
        assert crowd.join(visitor, OTHER)[0]
    deaf, listens = crowd.waiting
    for _ in range(MAX_UNREAD + 9):
        crowd.queue.send_message(deaf, EstimationMessage(queue_size=1))
    assert crowd.messages["deaf"].qsize() == MAX_UNREAD
    assert (deaf.alive, listens.alive) == (False, True)


def test_two_streams_of_a_session_may_end_together(crowd: Crowd) -> None:
    """Gradio's second one would not end the task that keeps it going."""
    assert crowd.join("a", OTHER)[0]
    for _ in range(2):
        del crowd.messages["a"]


def test_messages_for_nobody_are_dropped(crowd: Crowd) -> None:
    """In Gradio's own queue they end it, for everybody."""
    assert crowd.join("gone", GREEDY)[0]
    assert crowd.join("stays", OTHER)[0]
    del crowd.messages["gone"]
    crowd.queue.broadcast_estimations("models")
    assert crowd.messages["stays"].qsize() > 0


def test_who_may_cancel(crowd: Crowd) -> None:
    _, event, _ = crowd.join("a", OTHER)
    hers = {"event_id": event, "session_hash": "a", "fn_index": crowd.fn._id}
    assert crowd.queue.is_own(hers)
    for other in ({"session_hash": "b"}, {"fn_index": 99}, {"event_id": "x"}):
        assert not crowd.queue.is_own(hers | other)


def test_the_page_has_such_a_queue(served: Served) -> None:
    """Over HTTP, too: more calls than one visitor may have waiting get the sentence."""
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if d["api_name"] == "adapt")
    body = {"data": [None, "fog", 1, 0.5, 0, 1], "fn_index": number}

    async def press(visitor: str, headers: dict[str, str]) -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60, headers=headers) as client:
            address, asked = f"{served.url}gradio_api/queue/join", body | {"session_hash": visitor}
            return await asyncio.gather(*(client.post(address, json=asked) for _ in range(12)))

    for visitor, headers, status in (
        ("a-visitor", {}, 503),
        ("another-one", {"sec-fetch-mode": "cors"}, 429),
    ):
        answers = asyncio.run(press(visitor, headers))
        assert {answer.status_code for answer in answers} == {200, status}
        refused = [answer for answer in answers if answer.status_code == status]
        assert all(answer.json()["detail"].endswith("when one is done.") for answer in refused)
