"""Whose run computes: visitors take turns, and nobody who leaves keeps a place."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from app.server.turns import BusyError, Turns
from app.server.visitors import Visitor, Visitors


class Crowd:
    """Those who came to ``turns``, each until ``may_leave``; ``served``: in this order."""

    def __init__(self, **options: Any) -> None:
        self.turns, self.may_leave, self.served = Turns(**options), asyncio.Event(), list[str]()

    async def come(self, names: str) -> list[asyncio.Task[None]]:
        """One a letter; returns when all of them wait, or have their turn."""
        tasks = [asyncio.create_task(self.visit(name)) for name in names]
        await settle()
        return tasks

    async def visit(self, name: str) -> None:
        async with self.turns.join(Visitor(name)) as turn:
            await turn.come()
            self.served.append(name)
            await self.may_leave.wait()

    async def leave(self, *tasks: asyncio.Task[None]) -> None:
        self.may_leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert self.turns.holder is None
        assert not self.turns.line


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def play(scene: Callable[[Crowd], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def act() -> None:
        async with asyncio.timeout(20):
            await scene(Crowd(**options))

    asyncio.run(act())


@pytest.mark.parametrize(
    "rounds",
    [
        [("a", "a")],
        [("aaab", "abaa")],  # one who comes last waits for one run of another's many
        [("aaabbc", "abcaba")],
        [("abcabc", "abcabc")],
        [("a", "a"), ("b", "b"), ("xab", "xab"), ("xbca", "xbca")],  # from when she came
    ],
)
def test_visitors_take_turns(rounds):
    async def scene(visitors: Crowd) -> None:
        for names, order in rounds:
            visitors.served, visitors.may_leave = [], asyncio.Event()
            await visitors.leave(*await visitors.come(names))
            assert "".join(visitors.served) == order

    play(scene)


@pytest.mark.parametrize("is_one_address", [True, False])
def test_newcomers_without_end_starve_nobody(is_one_address):
    """Neither pages of one address, whose names callers choose, nor addresses."""

    async def scene(visitors: Crowd) -> None:
        turns, tasks = visitors.turns, list[asyncio.Task[None]]()

        async def intrude(number: int) -> None:
            address = "school" if is_one_address else f"school-{number}"
            async with turns.join(Visitor(address, f"page-{number}")) as turn:
                await turn.come()
                visitors.served.append("intruder")
                if number < 40:
                    tasks.append(asyncio.create_task(intrude(number + 1)))
                await settle()

        async with turns.join(Visitor("home")) as turn:
            tasks.append(asyncio.create_task(intrude(0)))
            for _ in range(4):
                await turn.come()
                visitors.served.append("she")
                await settle()
                turn.give_way()
            await turn.come()
        assert visitors.served.count("she") == 4
        assert visitors.served.count("intruder") <= 5
        while tasks:
            await tasks.pop()

    play(scene)


def test_pages_of_one_address_share_its_turns():
    async def scene(visitors: Crowd) -> None:
        served, join = visitors.served, visitors.turns.join

        async def come(page: str, address: str) -> None:
            async with join(Visitor(address, page)) as turn:
                await turn.come()
                served.append(address)
                await settle()

        pages = [("1", "school"), ("2", "school"), ("3", "school"), ("1", "home"), ("2", "home")]
        await asyncio.gather(*(come(*page) for page in pages))
        assert served == ["school", "home", "school", "home", "school"]

    play(scene)


def test_a_part_longer_than_a_slice_is_paid_back():
    """Whoever computes for five slices at once lets others have five."""

    async def scene(visitors: Crowd) -> None:
        order = list[str]()

        async def run(name: str, seconds: float) -> None:
            async with visitors.turns.join(Visitor(name)) as turn:
                for _ in range(6):
                    await turn.come()
                    order.append(name)
                    await asyncio.sleep(0)
                    time.sleep(seconds)
                    turn.give_way()
                await turn.come()

        await asyncio.gather(run("long", 0.5), run("short", 0.0))
        assert order[:5].count("long") == 1

    play(scene, slice_seconds=0.05)


@pytest.mark.parametrize(("names", "expected"), [("aab", [2, 1]), ("ccb", [1, 0]), ("c", [])])
def test_who_waits_is_told_how_many_others_are_before_her(names, expected):
    async def scene(visitors: Crowd) -> None:
        tasks = await visitors.come(names)
        places = list[int]()

        async def watch() -> None:
            async with visitors.turns.join(Visitor("c")) as turn:
                places.extend([before async for before in turn.wait()])

        watching = asyncio.create_task(watch())
        await settle()
        tasks[-1].cancel()  # b, where she is there, leaves the line
        await settle()
        await visitors.leave(watching, *tasks)
        assert places == expected

    play(scene)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_vanished_visitor_keeps_nobody_waiting(number):
    """Whether she has her turn, is next, or is last."""

    async def scene(visitors: Crowd) -> None:
        tasks = await visitors.come("abc")
        tasks[number].cancel()
        await settle()
        await visitors.leave(*tasks)
        assert len(visitors.served) == (3 if number == 0 else 2)

    play(scene)


def test_a_full_line_says_so_and_a_school_leaves_places_for_others():
    async def scene(visitors: Crowd) -> None:
        tasks = await visitors.come("aaabb")  # one of a's has its turn
        with pytest.raises(BusyError, match="has 2 in the queue"):
            visitors.turns.join(Visitor("a"))
        with pytest.raises(BusyError, match=r"^The server is busy, with 4"):
            visitors.turns.join(Visitor("c"))
        await visitors.leave(*tasks)
        join, school = visitors.turns.join, [Visitor("school", page) for page in "1234"]
        async with join(school[0]), join(school[1]), join(school[2]):
            with pytest.raises(BusyError, match="has 2 in the queue"):
                join(school[3])
            join(Visitor("home"))

    play(scene, most=4, most_of_one=2)


def test_few_large_photos_are_begun_at_once():
    """A run that gave way keeps much of its photo in memory; samples may always begin."""

    async def scene(visitors: Crowd) -> None:
        begun, most, account = set[str](), list[int](), Visitors().run_pixels

        async def run(name: str, pixels: int) -> None:
            async with visitors.turns.join(Visitor(name)) as turn:
                turn.begin_anew(account, pixels)
                for _ in range(3):
                    await turn.come()
                    begun.add(name)
                    most.append(len(begun))
                    await asyncio.sleep(0)
                    turn.give_way()
                await turn.come()
                begun.discard(name)

        await asyncio.gather(*(run(f"v{number}", 1_000_000) for number in range(12)))
        assert 2 <= max(most) <= 4
        most.clear()
        await asyncio.gather(*(run(f"v{number}", 0) for number in range(12)))
        assert max(most) == 12

    play(scene)


def test_a_long_line_has_short_slices():
    """Of fifty visitors the last one does not wait for minutes."""

    async def scene(visitors: Crowd) -> None:
        async with visitors.turns.join(Visitor("she")) as turn:
            await turn.come()
            tasks = [asyncio.create_task(visitors.visit(f"v{number}")) for number in range(49)]
            await settle()
            turn.since -= 60 / 50
            assert turn.is_over
        await visitors.leave(*tasks)

    play(scene)


def test_no_slice_is_over_while_nobody_else_waits():
    async def scene(visitors: Crowd) -> None:
        async with visitors.turns.join(Visitor("a")) as turn:
            await turn.come()
            own = await visitors.come("a")
            assert not turn.is_over
            others = await visitors.come("b")
            assert turn.is_over
            others[0].cancel()
            await settle()
            assert not turn.is_over
        await visitors.leave(*own)

    play(scene, slice_seconds=-1)
