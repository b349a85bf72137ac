"""Whose turn it is: a client with many requests waits behind those with few."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from gradio.queueing import Event, Queue
from gradio.route_utils import get_fn
from starlette import status
from starlette.exceptions import HTTPException

from app.server.gradio_sessions import is_name
from app.server.limits import neighbourhood
from app.words.errors import BUSY_WORDS, GATE_WORDS

MAX_WAITING = 16
MAX_PER_ADDRESS = 12  # a class behind one address; the last places are for others
MAX_PER_VISITOR = 4
MAX_SESSIONS = 500  # whose messages are kept until somebody collects them
MAX_UNREAD = 1000  # messages of one session; the longest run has 400
MAX_UNREAD_TOGETHER = 5000
KEPT_SECONDS = 600  # without a run and without a request for one

Item = TypeVar("Item")


def in_turns(
    items: Sequence[Item], key: Callable[[Item], Hashable], served: Iterable[Hashable] = ()
) -> list[Item]:
    """Everyone's first, then everyone's second...; otherwise in the order they came.

    ``served``: keys that are having a turn now, one entry a turn: theirs come a round later.
    """
    turns, order = Counter(served), []
    for place, item in enumerate(items):
        order.append((turns[key(item)], place))
        turns[key(item)] += 1
    return [items[place] for _, place in sorted(order)]


class Mailboxes(dict[str, Any]):
    """Messages by session; each of several streams of a session takes it away when it ends."""

    def __delitem__(self, name: str) -> None:
        self.pop(name, None)


class FairQueue(Queue):
    """Gradio's queue, bounded for each visitor and address, who take turns."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Gradio's own would forget the oldest session, also one that is being served.
        self.pending_messages_per_session: Any = Mailboxes()
        self._joined: dict[str, float] = {}  # when each session last asked for a run
        self._clock = time.monotonic
        self._arranged: dict[str, tuple[list[Event], list[Event]]] = {}  # served, in turn

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        """As in Gradio; a refusal is a sentence.

        Gradio's script shows the sentence of every status but 503, for which it has a vaguer
        one; for the Python client it is the other way round.
        """
        if body.session_hash is not None and not is_name(body.session_hash):
            return False, GATE_WORDS["misunderstood"], "error"
        fn = get_fn(self.blocks, None, body)
        if not fn.queue or len(body.data) > len(fn.inputs):  # Gradio would keep what is too much
            return False, GATE_WORDS["misunderstood"], "error"
        refused = self.refusal(body.session_hash, address(request))
        if refused and "sec-fetch-mode" in request.headers:  # only browsers say that
            raise HTTPException(status.HTTP_429_TOO_MANY_REQUESTS, refused)
        if refused:
            return False, refused, "queue_full"
        answer = await super().push(body, request, username)
        if answer[0]:
            self._joined[body.session_hash] = self._clock()
        self._forget()
        for name in self.event_queue_per_concurrency_id:
            self._arrange(name)
            self.broadcast_estimations(name)
        return answer

    def refusal(self, visitor: str | None, client: str) -> str:
        """Why another event of this visitor cannot wait; empty if it can."""
        waiting = [
            event for name in self.event_queue_per_concurrency_id for event in self._all(name)
        ]
        if len(waiting) >= MAX_WAITING:
            return BUSY_WORDS["full"].format(count=len(waiting))
        if sum(address(event.request) == client for event in waiting) >= MAX_PER_ADDRESS:
            return BUSY_WORDS["address"].format(count=MAX_PER_ADDRESS)
        if sum(event.session_hash == visitor for event in waiting) >= MAX_PER_VISITOR:
            return BUSY_WORDS["visitor"].format(count=MAX_PER_VISITOR)
        return ""

    def get_events(self) -> Any:
        """The next event, by turns."""
        self._free_lost()
        for name in self.event_queue_per_concurrency_id:
            self._arrange(name)
        return super().get_events()

    def send_message(self, event: Any, event_message: Any) -> None:
        """As in Gradio, where a message that nobody can collect would end the whole queue."""
        messages = self.pending_messages_per_session.get(event.session_hash)
        if messages is not None and messages.qsize() < MAX_UNREAD:
            super().send_message(event, event_message)
        else:
            event.alive = False

    def _free_lost(self) -> None:
        """Places of events whose task ended before its first step, which Gradio keeps for good."""
        going = "\n".join(task.get_name() for task in self._asyncio_tasks)
        for place, job in enumerate(self.active_jobs):
            named = job and not job[0].fn.batch  # a task that works on one event has its name
            if named and not any(event._id in going for event in job):
                self.active_jobs[place] = None
                self.event_queue_per_concurrency_id[job[0].concurrency_id].current_concurrency -= 1

    def _forget(self) -> None:
        """What nobody can ask for any more; Gradio keeps some of it for good."""
        events = self._living()
        self._forget_events({event._id for event in events})
        self._forget_sessions({event.session_hash for event in events})

    def _forget_events(self, living: set[str]) -> None:
        """Of several cancels at once only one is seen to the end."""
        for name in self.event_ids_to_events.keys() - living:
            del self.event_ids_to_events[name]
        if self.server_app is not None:
            self.server_app.iterators_to_reset.intersection_update(living)

    def _forget_sessions(self, living: set[str]) -> None:
        """Those that are idle, the oldest of too many, and those with the most unread messages."""
        boxes, now = self.pending_messages_per_session, self._clock()
        idle = [name for name in boxes if name not in living]
        spare = len(boxes) - MAX_SESSIONS
        for place, name in enumerate(idle):
            if place < spare or now - self._joined.get(name, now) > KEPT_SECONDS:
                del boxes[name]
        unread = sorted((box.qsize(), name) for name, box in boxes.items())
        together = sum(count for count, _ in unread)
        while together > MAX_UNREAD_TOGETHER:
            count, name = unread.pop()
            together -= count
            del boxes[name]
        for known in (self.pending_event_ids_session, self._joined):
            for name in known.keys() - boxes.keys() - living:
                del known[name]

    def address_of(self, visitor: str) -> str:
        """Where a visitor who is served or waits came from; empty for any other."""
        events = [event for event in self._living() if event.session_hash == visitor]
        return address(events[0].request) if events else ""

    def visitors(self, name: str) -> tuple[list[str], list[str]]:
        """Who is served and who waits, in the order of their turns, for concurrency id ``name``."""
        served = [event.session_hash for event in self._served(name)]
        return served, [event.session_hash for event in self._all(name)]

    def _living(self) -> list[Event]:
        """All that are served or wait."""
        return [
            event
            for name in list(self.event_queue_per_concurrency_id)  # asked for from threads
            for event in (*self._served(name), *self._all(name))
        ]

    def _all(self, name: str) -> list[Event]:
        found = self.event_queue_per_concurrency_id.get(name)
        return list(found.queue) if found else []

    def _served(self, name: str) -> list[Event]:
        jobs = [event for job in self.active_jobs for event in job or ()]
        return [event for event in jobs if event.concurrency_id == name]

    def _arrange(self, name: str) -> None:
        """First among the visitors of each address, then among the addresses."""
        served, events = self._served(name), self._all(name)
        if self._arranged.get(name) == (served, events):  # nobody has come or gone
            return
        events.sort(key=lambda event: event.enqueue_time)
        hashes = [event.session_hash for event in served]
        events = in_turns(events, lambda event: event.session_hash, hashes)
        addresses = [address(event.request) for event in served]
        events = in_turns(events, lambda event: address(event.request), addresses)
        self.event_queue_per_concurrency_id[name].queue[:] = events
        self._arranged[name] = served, events


def address(request: Any) -> str:
    """Where a request came from; one for all where the server does not know it."""
    client = getattr(request, "client", None)
    return neighbourhood(str(client.host)) if client else ""
