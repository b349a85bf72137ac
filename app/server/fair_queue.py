"""Gradio's queue with room for few, who take turns: a client with many waits behind others."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from gradio.queueing import Event, Queue
from starlette import status
from starlette.exceptions import HTTPException

from app.server.limits import (
    FEW_WAITING,
    MAX_IDLE,
    MAX_PER_ADDRESS,
    MAX_PER_VISITOR,
    MAX_SECONDS,
    MAX_UNREAD,
    MAX_WAITING,
)
from app.server.turns import address_of
from app.words.errors import BUSY_WORDS

Item = TypeVar("Item")


def round_robin(
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


class PendingMessages(OrderedDict[str, Any]):
    """Messages by session; each of several streams of a session takes it away when it ends."""

    def __delitem__(self, name: str) -> None:
        if name in self:
            super().__delitem__(name)


class FairQueue(Queue):
    """Gradio's queue, bounded for each visitor and address, who take turns."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Gradio's own would forget the oldest session, also one that is being served.
        self.pending_messages_per_session: Any = PendingMessages()

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        """As in Gradio; a refusal is a sentence.

        Gradio's script shows the sentence of every status but 503, for which it has a vaguer
        one; for the Python client it is the other way round.
        """
        refused = self.refusal(body.session_hash, address_of(request), body.fn_index)
        if refused and "sec-fetch-mode" in request.headers:  # only browsers say that
            raise HTTPException(status.HTTP_429_TOO_MANY_REQUESTS, refused)
        if refused:
            return False, refused, "queue_full"
        answer = await super().push(body, request, username)
        if body.session_hash in self.pending_messages_per_session:
            self.pending_messages_per_session.move_to_end(body.session_hash)
        self._forget_idle()
        for name in self.event_queue_per_concurrency_id:
            self._arrange(name)
            self.broadcast_estimations(name)
        return answer

    def refusal(self, visitor: str | None, client: str, function: int | None) -> str:
        """Why another event of this visitor cannot wait; empty if it can."""
        waiting = self._waiting()
        if len(waiting) >= MAX_WAITING or self._takes_long(function, waiting):
            return BUSY_WORDS["full"].format(count=len(waiting))
        if sum(address_of(event.request) == client for event in waiting) >= MAX_PER_ADDRESS:
            return BUSY_WORDS["address"].format(count=MAX_PER_ADDRESS)
        if sum(event.session_hash == visitor for event in waiting) >= MAX_PER_VISITOR:
            return BUSY_WORDS["visitor"].format(count=MAX_PER_VISITOR)
        return ""

    def _takes_long(self, function: int | None, waiting: Sequence[Event]) -> bool:
        """Whether those before a function's next event would take too long."""
        if function not in self.blocks.fns:
            return False
        name = self.blocks.fns[function].concurrency_id
        before = [event for event in waiting if event.concurrency_id == name]
        seconds = sum(self.process_time_per_fn[event.fn].avg_time for event in before)
        return len(before) >= FEW_WAITING and seconds >= MAX_SECONDS

    def get_events(self) -> Any:
        """The next event, by turns. Gradio asks a thousand times a second while any wait."""
        self._free_lost()
        for name, events in self.event_queue_per_concurrency_id.items():
            limit = events.concurrency_limit
            if events.queue and (limit is None or events.current_concurrency < limit):
                self._arrange(name)
        return super().get_events()

    def send_message(self, event: Any, event_message: Any) -> None:
        """As in Gradio, where a message that nobody can collect would end the whole queue."""
        messages = self.pending_messages_per_session.get(event.session_hash)
        if messages is not None and messages.qsize() < MAX_UNREAD:
            super().send_message(event, event_message)
        else:
            event.alive = False

    def is_own(self, values: dict[str, Any]) -> bool:
        """Whether a request to cancel names a run, the session that it is of and its function."""
        event = self.event_ids_to_events.get(values["event_id"])
        named = values.get("session_hash"), values.get("fn_index")
        return event is not None and (event.session_hash, event.fn._id) == named

    def visitors(self, name: str) -> tuple[list[str], list[str]]:
        """Who is served and who waits, in the order of their turns, for concurrency id ``name``."""
        both = self._served(), self._waiting()
        served, waiting = ([e.session_hash for e in es if e.concurrency_id == name] for es in both)
        return served, waiting

    def _free_lost(self) -> None:
        """Places of events whose task was cancelled before its first step: Gradio keeps them."""
        going = "\n".join(task.get_name() for task in self._asyncio_tasks)
        for place, job in enumerate(self.active_jobs):
            if job and job[0]._id not in going:
                self.active_jobs[place] = None
                self.event_queue_per_concurrency_id[job[0].concurrency_id].current_concurrency -= 1
                self.event_ids_to_events.pop(job[0]._id, None)

    def _forget_idle(self) -> None:
        """The messages of those who have had no run for longest; Gradio keeps some for good."""
        messages = self.pending_messages_per_session
        busy = {event.session_hash for event in (*self._served(), *self._waiting())}
        idle = [name for name in messages if name not in busy]
        for name in idle[: max(0, len(idle) - MAX_IDLE)]:
            del messages[name]
        for name in self.pending_event_ids_session.keys() - messages.keys() - busy:
            del self.pending_event_ids_session[name]

    def _waiting(self) -> list[Event]:
        queues = list(self.event_queue_per_concurrency_id.values())  # asked for from threads
        return [event for waiting in queues for event in waiting.queue]

    def _served(self) -> list[Event]:
        return [event for job in self.active_jobs for event in job or ()]

    def _arrange(self, name: str) -> None:
        """First among the visitors of each address, then among the addresses."""
        waiting = self.event_queue_per_concurrency_id[name].queue
        served = [event for event in self._served() if event.concurrency_id == name]
        waiting.sort(key=lambda event: event.enqueue_time)
        for key in (lambda event: event.session_hash), (lambda event: address_of(event.request)):
            waiting[:] = round_robin(waiting, key, map(key, served))
