"""How long a run may compute."""

import asyncio

import pytest

from app.runs import models as running
from app.server.turns import Turns
from app.server.visitors import Visitor


async def count(models, number):
    """What a run of so many steps yields, until it is stopped."""
    steps = (n for n in range(number))
    async with Turns().join(Visitor("a")) as turn:
        parts = running.Networks(models).run_steps(lambda models: steps, turn)
        return [part async for part in parts]


def test_a_run_that_ends_with_the_part_that_took_too_long_is_not_thrown_away(
    monkeypatch, shipped_models
):
    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.0)
    assert asyncio.run(count(shipped_models, 1)) == [0]
    with pytest.raises(running.TooLongError, match="longer than"):
        asyncio.run(count(shipped_models, 2))
    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.2)
    assert asyncio.run(count(shipped_models, 3)) == [0, 1, 2]
