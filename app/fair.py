"""Whose turn it is: a client with many requests waits behind those with few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from gradio.queueing import Event, Queue

from app.text import BUSY_WORDS

MAX_WAITING = 16
MAX_PER_ADDRESS = 12  # a class behind one address; the last places are for others
MAX_PER_VISITOR = 4

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


class FairQueue(Queue):
    """Gradio's queue, bounded for each visitor and address, who take turns."""

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        """As in Gradio; a refusal is a sentence, sent with status 503."""
        refused = self.refusal(body.session_hash, address(request))
        if refused:
            return False, refused, "queue_full"
        answer = await super().push(body, request, username)
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
        for name in self.event_queue_per_concurrency_id:
            self._arrange(name)
        return super().get_events()

    def visitors(self, name: str) -> tuple[list[str], list[str]]:
        """Who is served and who waits, in the order of their turns, for concurrency id ``name``."""
        served = [event.session_hash for event in self._served(name)]
        return served, [event.session_hash for event in self._all(name)]

    def _all(self, name: str) -> list[Event]:
        found = self.event_queue_per_concurrency_id.get(name)
        return list(found.queue) if found else []

    def _served(self, name: str) -> list[Event]:
        jobs = [event for job in self.active_jobs for event in job or ()]
        return [event for event in jobs if event.concurrency_id == name]

    def _arrange(self, name: str) -> None:
        """First among the visitors of each address, then among the addresses."""
        served, events = self._served(name), self._all(name)
        events.sort(key=lambda event: event.enqueue_time)
        hashes = [event.session_hash for event in served]
        events = in_turns(events, lambda event: event.session_hash, hashes)
        addresses = [address(event.request) for event in served]
        events = in_turns(events, lambda event: address(event.request), addresses)
        self.event_queue_per_concurrency_id[name].queue[:] = events


def address(request: Any) -> str:
    """Where a request came from; one for all where the server does not know it."""
    client = getattr(request, "client", None)
    return str(client.host) if client else ""
