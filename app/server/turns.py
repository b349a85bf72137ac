"""The line before the one thread that computes: addresses take turns, and long runs give way."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from itertools import zip_longest

from app.server.visitors import Account, Visitor, VisitorError

FULL = "The server is busy, with {} in the queue. Please try again in a minute."
ENOUGH = "Your network has {} in the queue already. Please try again when one is done."
ROUND_SECONDS = 40.0  # in which every address that waits has its turn, unless steps are long
BEAT_SECONDS = 5.0  # who waits is told her place again, or her line would be taken for dead


class BusyError(VisitorError):
    """There is no place in the line now."""


class Turns:
    """The first of the line is next; when a turn ends, its address and page go behind all others'.

    ``most_of_one``: how many of one address, such as a school's, may wait; ``slice_seconds``: after
    which a run has to give way to others, sooner in a long line; one that takes longer waits for as
    many turns more.
    """

    def __init__(self, most: int = 64, most_of_one: int = 12, slice_seconds: float = 5.0) -> None:
        self.most, self.most_of_one, self.slice_seconds = most, most_of_one, slice_seconds
        self.holder: Turn | None = None
        self.line: list[Turn] = []
        self.present: list[Turn] = []  # also those whose reader is slow
        self._debts, self._awaited_since = Counter[str](), 0.0  # turns, by address

    def join(self, visitor: Visitor) -> Turn:
        """A place at the end of the line, see :class:`Turn`. Raises :class:`BusyError`."""
        count = sum(turn.visitor.address == visitor.address for turn in self.line)
        if count >= self.most_of_one:
            raise BusyError(ENOUGH.format(count))
        if len(self.line) >= self.most:
            raise BusyError(FULL.format(len(self.line)))
        return Turn(self, visitor)

    def drop_page(self, visitor: Visitor) -> None:
        """End all turns of a page; what has no name is none."""
        for turn in [one for one in self.present if visitor.page and one.visitor == visitor]:
            turn.drop()

    def order(self) -> list[Turn]:
        """The turns that wait, in the order in which they will come if nobody else does.

        Those for whose memory there is no room are the last.
        """
        queues = dict[str, dict[Visitor, list[Turn]]]()
        for turn in _put_behind(self.line, self.holder) if self.holder else self.line:
            pages = queues.setdefault(turn.visitor.address, {})
            pages.setdefault(turn.visitor, []).append(turn)
        order = _alternate(_alternate(pages.values()) for pages in queues.values())
        return sorted(order, key=lambda turn: not turn.may_begin)

    def start_next(self) -> None:
        """Begin the next turn where nobody has one, and tell all who wait where they are."""
        if self.holder is None:
            order = sorted(self.line, key=lambda turn: self._debts[turn.visitor.address] > 0)
            if turn := next((turn for turn in order if turn.may_begin), None):
                turn.begin()
                self.line.remove(turn)
                self.holder, turn.since = turn, time.monotonic()
                self._debts -= Counter(self._debts.keys())
        earlier = {self.holder.visitor} if self.holder else set[Visitor]()
        for turn in self.order():
            turn.before = len(earlier) - (turn.visitor in earlier)
            earlier.add(turn.visitor)
        for turn in self.line + ([self.holder] if self.holder else []):
            turn.moved.set()


def _put_behind(line: list[Turn], turn: Turn) -> list[Turn]:
    """All others', then those of its address, then those of its page."""
    her = turn.visitor
    return sorted(line, key=lambda one: (one.visitor.address == her.address, one.visitor == her))


def _alternate(queues: Iterable[list[Turn]]) -> list[Turn]:
    """The first of each, then the second, ..."""
    return [turn for places in zip_longest(*queues) for turn in places if turn]


@dataclass(eq=False)
class Turn:
    """A place in the line, within ``async with``: whatever happens there, it is free afterwards.

    ``memory``, ``amount``: what it keeps once it has begun; ``is_heard``: whether somebody listens,
    without whom it is dropped; ``before``: how many other visitors come first; ``since``: when its
    latest turn began.
    """

    turns: Turns
    visitor: Visitor
    memory: Account = field(default_factory=Account)
    amount: int = 0
    is_heard: Callable[[], bool] = lambda: True
    moved: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    was_dropped: bool = field(default=False, init=False)
    has_begun: bool = field(default=False, init=False)
    before: int = field(default=0, init=False)
    since: float = field(default=0.0, init=False)

    async def __aenter__(self) -> Turn:
        self.turns.present.append(self)
        self.give_way()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.free_memory()
        self.turns.present.remove(self)
        self.leave()

    def begin_anew(self, memory: Account, amount: int) -> None:
        """At the line's end, to keep something else in memory than before."""
        self.free_memory()
        self.memory, self.amount = memory, amount
        self.give_way()

    def free_memory(self) -> None:
        if self.has_begun:
            self.memory.give_back(self.visitor.address, self.amount)
        self.has_begun = False

    @property
    def may_begin(self) -> bool:
        """Whether it has begun, or there is room for what it will keep in memory."""
        return self.has_begun or not self.memory.find_refusal(self.visitor.address, self.amount)

    def begin(self) -> None:
        if not self.has_begun:
            self.memory.take(self.visitor.address, self.amount)
        self.has_begun = True

    async def wait(self) -> AsyncIterator[int]:
        """How many other visitors are before it, as that changes, until its turn or its drop."""
        place = 0
        while self.turns.holder is not self and not self.is_dropped:
            if self.before != place:
                place = self.before
                yield place
                continue
            self.moved.clear()
            try:
                await asyncio.wait_for(self.moved.wait(), BEAT_SECONDS)
            except TimeoutError:
                yield place

    async def come(self) -> None:
        """Return when it is its turn."""
        async for _ in self.wait():
            pass

    @property
    def is_dropped(self) -> bool:
        """Whether nobody wants its result any more."""
        return self.was_dropped or not self.is_heard()

    @property
    def is_over(self) -> bool:
        """Whether its slice is used up and somebody else waits."""
        others = {turn.visitor.address for turn in self.turns.line if turn.visitor != self.visitor}
        most = min(self.turns.slice_seconds, ROUND_SECONDS / max(1, len(others)))
        return bool(others) and time.monotonic() - self.since > most

    def drop(self) -> None:
        """It ends where it waits, or after its next step."""
        self.was_dropped = True
        self.leave()
        self.moved.set()

    def leave(self, is_back: bool = False) -> None:
        """Neither in the line nor its holder, or at the line's end."""
        turns = self.turns
        if self in turns.line:
            turns.line.remove(self)
        if turns.holder is self:
            turns.holder = None
            turns.line = _put_behind(turns.line, self)
            used = time.monotonic() - max(self.since, turns._awaited_since)
            if turns.line and turns.slice_seconds > 0:
                turns._debts[self.visitor.address] += max(0, int(used // turns.slice_seconds) - 1)
        if is_back:
            turns._awaited_since = turns._awaited_since if turns.line else time.monotonic()
            turns.line.append(self)
        turns.start_next()

    def give_way(self) -> None:
        """To the line's end; who had its turn iterates :meth:`wait` again."""
        self.leave(is_back=True)
