"""The line before the one thread that computes: visitors take turns, and long runs give way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

FULL = "The server is busy, with {} in the queue. Please try again in a minute."
ENOUGH = "You have {} in the queue already. Please try again when one is done."
_MOST_REMEMBERED = 1000  # visitors


class BusyError(Exception):
    """There is no place in the line now. The message is one sentence for the visitor."""


class Turns:
    """Of those who wait, next is the visitor whose last turn is longest ago.

    ``slice_seconds``: after which a run has to give way to others; ``most_per_address``: how many
    of one address, such as a school's, may wait.
    """

    def __init__(
        self, most_waiting: int = 16, most_per_visitor: int = 4, slice_seconds: float = 5.0,
        most_per_address: int = 12,
    ) -> None:  # fmt: skip
        self.most_waiting, self.slice_seconds = most_waiting, slice_seconds
        self.most_per_visitor, self.most_per_address = most_per_visitor, most_per_address
        self.holder: Turn | None = None
        self.line: list[Turn] = []  # as they came
        self._last_turns: dict[str, int] = {}  # by visitor, the latest at the end

    def join(self, visitor: str, address: str = "") -> Turn:
        """A place at the end of the line. Raises :class:`BusyError`."""
        own = sum(turn.visitor == visitor for turn in self.line)
        neighbours = sum(turn.address == address for turn in self.line if address)
        if own >= self.most_per_visitor:
            raise BusyError(ENOUGH.format(own))
        if neighbours >= self.most_per_address or len(self.line) >= self.most_waiting:
            raise BusyError(FULL.format(len(self.line)))
        return Turn(self, visitor, address)

    def order(self) -> list[Turn]:
        """The turns that wait, in the order in which they will come if nobody else does."""
        left, last, order = list(self.line), dict(self._last_turns), list[Turn]()
        while left:
            turn = min(left, key=lambda one: last.get(one.visitor, 0))
            left.remove(turn)
            order.append(turn)
            last[turn.visitor] = 1 + max(last.values(), default=0)
        return order

    def start_next(self) -> None:
        """Begin the next turn where nobody has one, and let all who wait look where they are."""
        if self.holder is None and self.line:
            self.holder = turn = self.order()[0]
            self.line.remove(turn)
            turn.since = time.monotonic()
            self._last_turns.pop(turn.visitor, None)
            self._last_turns[turn.visitor] = 1 + max(self._last_turns.values(), default=0)
            if len(self._last_turns) > _MOST_REMEMBERED:
                del self._last_turns[next(iter(self._last_turns))]
        for turn in self.line + ([self.holder] if self.holder else []):
            turn.moved.set()


class Turn:
    """A place in the line, within ``async with``: whatever happens there, it is free afterwards."""

    def __init__(self, turns: Turns, visitor: str, address: str = "") -> None:
        self.turns, self.visitor, self.address, self.since = turns, visitor, address, 0.0
        self.moved, self.is_dropped = asyncio.Event(), False

    async def __aenter__(self) -> Turn:
        self.turns.line.append(self)
        self.turns.start_next()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self in self.turns.line:
            self.turns.line.remove(self)
        if self.turns.holder is self:
            self.turns.holder = None
        self.turns.start_next()

    async def wait(self) -> AsyncIterator[int]:
        """How many other visitors are before it, as that changes, until its turn or its drop."""
        last_count = 0
        while self.turns.holder is not self and not self.is_dropped:
            order = self.turns.order()
            earlier = [self.turns.holder, *order[: order.index(self)]]
            before = len({turn.visitor for turn in earlier if turn} - {self.visitor})
            if before == last_count:
                self.moved.clear()
                await self.moved.wait()
            else:
                last_count = before
                yield before

    @property
    def is_over(self) -> bool:
        """Whether its slice is used up and somebody else waits."""
        is_awaited = any(turn.visitor != self.visitor for turn in self.turns.line)
        return is_awaited and time.monotonic() - self.since > self.turns.slice_seconds

    def drop(self) -> None:
        """Nobody wants its result any more: it ends where it waits, or after its next step."""
        self.is_dropped = True
        if self in self.turns.line:
            self.turns.line.remove(self)
        self.turns.start_next()
        self.moved.set()

    def give_way(self) -> None:
        """Back into the line; the holder iterates :meth:`wait` again."""
        self.turns.holder = None
        self.turns.line.append(self)
        self.turns.start_next()
