"""Whose run computes: visitors take turns, and nobody who leaves keeps a place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from app.server.turns import BusyError, Turns


def play(scene: Callable[[Turns], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def act() -> None:
        async with asyncio.timeout(20):
            await scene(Turns(**options))

    asyncio.run(act())


async def visit(turns: Turns, visitor: str, seen: list[str], held: asyncio.Event) -> None:
    async with turns.join(visitor) as turn:
        async for _ in turn.wait():
            pass
        seen.append(visitor)
        await held.wait()


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def begin(turns: Turns, names: str) -> tuple[list[asyncio.Task[None]], list[str], asyncio.Event]:
    seen, held = list[str](), asyncio.Event()
    return [asyncio.create_task(visit(turns, name, seen, held)) for name in names], seen, held


@pytest.mark.parametrize(
    ("came", "served"),
    [
        ("a", "a"),
        ("aaab", "abaa"),  # one who comes last waits for one run of another's many
        ("aaabbc", "abcaba"),
        ("abcabc", "abcabc"),
    ],
)
def test_visitors_take_turns(came: str, served: str) -> None:
    async def scene(turns: Turns) -> None:
        tasks, seen, held = begin(turns, came)
        await settle()
        held.set()
        await asyncio.gather(*tasks)
        assert "".join(seen) == served
        assert turns.holder is None
        assert not turns.line

    play(scene)


def test_who_was_served_is_next_after_who_was_not() -> None:
    async def scene(turns: Turns) -> None:
        for came, served in (("a", "a"), ("b", "b"), ("xab", "xab"), ("xbca", "xcab")):
            tasks, seen, held = begin(turns, came)
            await settle()
            held.set()
            await asyncio.gather(*tasks)
            assert "".join(seen) == served

    play(scene)


def test_who_waits_is_told_her_place() -> None:
    async def scene(turns: Turns) -> None:
        tasks, _, held = begin(turns, "aab")
        await settle()
        told = []

        async def watch() -> None:
            async with turns.join("c") as turn:
                told.extend([before async for before in turn.wait()])

        watching = asyncio.create_task(watch())
        await settle()
        tasks[2].cancel()  # b leaves the line
        await settle()
        held.set()
        await watching
        assert told == [2, 1]

    play(scene)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_vanished_visitor_keeps_nobody_waiting(number: int) -> None:
    """Whether she has her turn, is next, or is last."""

    async def scene(turns: Turns) -> None:
        tasks, seen, held = begin(turns, "abc")
        await settle()
        tasks[number].cancel()
        await settle()
        held.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(seen) == (3 if number == 0 else 2)
        assert turns.holder is None
        assert not turns.line

    play(scene)


def test_a_failing_run_frees_its_place() -> None:
    async def fail(turns: Turns) -> None:
        async with turns.join("a") as turn:
            async for _ in turn.wait():
                pass
            raise ZeroDivisionError

    async def scene(turns: Turns) -> None:
        with pytest.raises(ZeroDivisionError):
            await fail(turns)
        assert turns.holder is None

    play(scene)


def test_a_full_line_says_so() -> None:
    async def scene(turns: Turns) -> None:
        begun, _, held = begin(turns, "aaabb")  # one of a's has its turn
        await settle()
        with pytest.raises(BusyError, match=r"^2 of your runs are waiting already\. "):
            turns.join("a")
        with pytest.raises(BusyError, match=r"^The server is busy: 4 runs are waiting\. "):
            turns.join("c")
        held.set()
        await asyncio.gather(*begun)
        turns.join("a")

    play(scene, most_waiting=4, most_per_visitor=2)


def test_a_long_run_gives_way_to_others_but_not_to_its_own() -> None:
    async def scene(turns: Turns) -> None:
        seen = []

        async def long() -> None:
            async with turns.join("long") as turn:
                for step in range(8):
                    if turn.is_over:
                        turn.give_way()
                    async for _ in turn.wait():
                        pass
                    seen.append(step)
                    time.sleep(0.02)
                    await asyncio.sleep(0)

        task = asyncio.create_task(long())
        await settle()
        own, _, _ = begin(turns, "")
        first, others, held = begin(turns, "ab")
        held.set()
        await asyncio.gather(task, *first, *own)
        assert others == ["a", "b"]
        assert seen == list(range(8))

    play(scene, slice_seconds=0.05)


def test_nobody_waits_no_slice_is_over() -> None:
    async def scene(turns: Turns) -> None:
        async with turns.join("a") as turn:
            async for _ in turn.wait():
                pass
            assert not turn.is_over
            own, _, held = begin(turns, "a")
            await settle()
            assert not turn.is_over
            other, _, _ = begin(turns, "b")
            await settle()
            assert turn.is_over
            for task in (*own, *other):
                task.cancel()
            held.set()
            await settle()
            assert not turn.is_over

    play(scene, slice_seconds=-1)


def test_a_school_leaves_places_for_others() -> None:
    async def scene(turns: Turns) -> None:
        begun = [turns.join(str(number), "school") for number in range(3)]
        for turn in begun:
            await turn.__aenter__()
        with pytest.raises(BusyError, match="2 runs are waiting"):
            turns.join("3", "school")
        turns.join("elsewhere", "home")
        for turn in begun:
            await turn.__aexit__()

    play(scene, most_per_address=2)


def test_a_dropped_run_leaves_the_line() -> None:
    async def scene(turns: Turns) -> None:
        tasks, _, held = begin(turns, "a")
        await settle()
        turn = turns.join("b")

        async def wait() -> None:
            async with turn:
                async for _ in turn.wait():
                    pass

        waiting = asyncio.create_task(wait())
        await settle()
        turn.drop()
        await waiting
        assert not turns.line
        held.set()
        await asyncio.gather(*tasks)

    play(scene)


def test_few_visitors_are_remembered() -> None:
    async def scene(turns: Turns) -> None:
        for number in range(1100):
            async with turns.join(f"visitor {number}") as turn:
                async for _ in turn.wait():
                    pass
        assert len(turns._last_turns) == 1000

    play(scene)
