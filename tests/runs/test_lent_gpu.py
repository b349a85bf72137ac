"""How long a run may compute, and where: on hosts that lend a GPU it borrows that."""

import asyncio
import pickle
import time
from types import SimpleNamespace

import pytest

from app.runs import models as running
from app.runs.settings import Settings
from app.runs.subject import Original, Subject
from app.runs.watch import watch
from app.server.turns import Turns
from dga.networks.models import Models


class Movable:
    """Models that note where they were moved."""

    def __init__(self, device="cpu"):
        self.device = device

    def to(self, device):
        return Movable(str(device))


def steps(models, count):
    yield from (f"{models.device} {n}" for n in range(count))


def test_without_lending_steps_are_as_they_are():
    assert list(running.lend_gpu(steps, Movable())(2)) == ["cpu 0", "cpu 1"]


def test_a_run_borrows_the_gpu_and_the_page_keeps_its_processor(monkeypatch):
    durations = []

    def lend(duration):
        durations.append(duration)
        return lambda function: function

    monkeypatch.setattr(running, "LENDS_GPUS", True)
    monkeypatch.setattr(running, "spaces", SimpleNamespace(GPU=lend), raising=False)
    models = Movable()
    assert list(running.lend_gpu(steps, models)(2)) == ["cuda 0", "cuda 1"]
    assert durations == [running.GPU_SECONDS]
    assert models.device == "cpu"


def test_what_was_computed_in_the_borrowed_process_is_kept_by_the_page(
    monkeypatch, shipped_models, cat
):
    def copy(value):
        return pickle.loads(pickle.dumps(value))

    def lend(duration):
        return lambda run: lambda *arguments: map(copy, run(*copy(arguments)))

    monkeypatch.setattr(running, "LENDS_GPUS", True)
    monkeypatch.setattr(running, "spaces", SimpleNamespace(GPU=lend), raising=False)
    monkeypatch.setattr(Models, "to", lambda models, device: models)
    settings = Settings(photo="own", damage="gaussian_noise", strength=3)
    subject = Subject.make(Original("own", "cat", cat), settings)
    first = list(watch(shipped_models, subject, settings))
    assert subject.result.shape == cat.shape
    assert len(list(watch(shipped_models, subject, settings))) == len(subject.stages) < len(first)


@pytest.mark.parametrize(("count", "is_too_long"), [(1, False), (2, True)])
def test_a_run_that_ends_with_the_part_that_took_too_long_is_not_thrown_away(
    monkeypatch, shipped_models, count, is_too_long
):
    async def collect():
        networks, parts = running.Networks(shipped_models), []
        async with Turns().join("a") as turn:
            async for part in networks.run_steps(lambda models: (n for n in range(count)), turn):
                parts.append(part)
        return parts

    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.0)
    if is_too_long:
        with pytest.raises(running.TooLongError, match="longer than"):
            asyncio.run(collect())
    else:
        assert asyncio.run(collect()) == [0]


def test_waiting_for_the_thread_is_no_computing(monkeypatch, shipped_models):
    """Somebody else's last step may still be under way."""

    async def collect():
        networks, parts = running.Networks(shipped_models), []
        networks._thread.submit(time.sleep, 0.5)
        async with Turns().join("a") as turn:
            async for part in networks.run_steps(lambda models: (n for n in range(3)), turn):
                parts.append(part)
        return parts

    monkeypatch.setattr(running, "BUDGET_SECONDS", 0.2)
    assert asyncio.run(collect()) == [0, 1, 2]
