"""How long a run may compute."""

import asyncio
import time

import pytest

from app.runs import models as running
from app.server.turns import Turns
from app.server.visitors import Visitor


async def count(models, number):
    """What a run of so many steps yields, until it is stopped."""
    networks, parts = running.Networks(models), []
    networks._thread.submit(time.sleep, 0.5)  # somebody else's last step, which does not count
    async with Turns().join(Visitor("a")) as turn:
        async for part in networks.run_steps(lambda models: (n for n in range(number)), turn):
            parts.append(part)
    return parts


def test_a_run_that_ends_with_the_part_that_took_too_long_is_not_thrown_away(
    monkeypatch, shipped_models
):
    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.0)
    assert asyncio.run(count(shipped_models, 1)) == [0]
    with pytest.raises(running.TooLongError, match="longer than"):
        asyncio.run(count(shipped_models, 2))
    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.2)
    assert asyncio.run(count(shipped_models, 3)) == [0, 1, 2]
