"""Runs on hosts that lend a GPU to one call at a time; played here by a stand-in package."""

from __future__ import annotations

import copy
import pickle
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from app.parts.examples import load_examples
from app.runs import gpu
from app.runs.board import Board, run
from app.runs.session import CancelledError, Session
from app.runs.watch import Step
from dga.networks.models import Models
from dga.pipeline import Adaptation, adapt
from dga.profiles import EVERYDAY16, IMAGENET, Profile
from dga.request import Request

SETTINGS = Request("fog", 3, 0.5, 7, 4)


class Lender(ModuleType):
    """Like ``spaces``: what goes in and what comes out crosses to another process."""

    def __init__(self) -> None:
        super().__init__("spaces")
        self.lent: list[float] = []
        self.returned = 0

    def GPU(self, duration: Callable[..., float]) -> Callable[..., Any]:  # noqa: N802
        def wrap(steps: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
            def borrow(*arguments: Any) -> Iterator[Any]:
                arguments = pickle.loads(pickle.dumps(arguments))
                self.lent.append(duration(*arguments))
                try:
                    for step in steps(*arguments):
                        yield pickle.loads(pickle.dumps(step))
                finally:
                    self.returned += 1

            return borrow

        return wrap


@pytest.fixture
def lender(monkeypatch: pytest.MonkeyPatch) -> Lender:
    lender = Lender()
    monkeypatch.setenv(gpu.LENT, "true")
    monkeypatch.setattr(gpu, "spaces", lender, raising=False)
    monkeypatch.setattr(gpu, "DEVICE", "cpu")
    return lender


def _pixels(models: Models) -> np.ndarray:
    size = models.profile.image_size
    return np.random.default_rng(0).integers(0, 256, (size, size, 3), np.uint8)


def test_a_lent_gpu_gives_the_same_run(lender: Lender, tiny_models: Models) -> None:
    session, pixels = Session(tiny_models), _pixels(tiny_models)
    settings = replace(SETTINGS, tau=tiny_models.profile.stopping.tau)
    *_, run = session.events(pixels, settings)
    alone = adapt(tiny_models, pixels, seed=7)
    assert isinstance(run, Adaptation)
    assert run.t_star == alone.t_star
    assert np.array_equal(run.reconstructions["dga"].image, alone.reconstructions["dga"].image)
    assert len(lender.lent) == lender.returned == 1


def test_a_board_borrows_one_for_all_its_pictures(lender: Lender, tiny_models: Models) -> None:
    session = Session(tiny_models)
    board = Board.of_example(session.profile, load_examples()[0], 2)
    list(run(session, board))
    assert len(board.complete) == 15
    assert len(lender.lent) == lender.returned == 1


def test_only_the_lent_steps_ask_for_the_gpu(
    lender: Lender, tiny_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one the page's own work stays on the processor."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # as ZeroGPU pretends
    assert gpu.choose_device() == "cpu"
    monkeypatch.setattr(gpu, "DEVICE", "meta")
    session = Session(tiny_models)
    subject = session.subject(load_examples()[0].path, SETTINGS)
    assert lender.lent == []
    moved = gpu.borrowed(copy.deepcopy(session.models))
    assert {network_device(moved), moved.device.type} == {"meta"}
    assert subject.clean is not None


def network_device(models: Models) -> str:
    return next(models.denoiser.parameters()).device.type


def test_cancel_returns_it(lender: Lender, tiny_models: Models) -> None:
    """The flag stays on this side: it cannot cross."""
    cancel = threading.Event()
    events = Session(tiny_models).events(_pixels(tiny_models), SETTINGS, cancel)
    while not isinstance(next(events), Step):
        pass
    cancel.set()
    with pytest.raises(CancelledError):
        next(events)
    assert lender.returned == 1


def test_nothing_is_wrapped_elsewhere(
    lender: Lender, tiny_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(gpu.LENT)
    list(Session(tiny_models).events(_pixels(tiny_models), SETTINGS))
    assert lender.lent == []


def test_the_package_is_imported_only_where_gpus_are_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    lender = Lender()
    monkeypatch.setitem(sys.modules, "spaces", lender)
    path = str(Path(gpu.__file__))
    monkeypatch.setenv(gpu.LENT, "1")
    assert runpy.run_path(path)["spaces"] is lender
    monkeypatch.setenv(gpu.LENT, "0")
    assert "spaces" not in runpy.run_path(path)


def test_more_work_borrows_for_longer_and_never_beyond_the_budget(
    lender: Lender, tiny_models: Models
) -> None:

    def expected(profile: Profile, **asked: int) -> float:
        request = Request.of(profile, severity=3, seed=0, **asked)
        return gpu.expected_seconds(profile, request.usual(profile), request.paths)

    usual = expected(IMAGENET)
    assert expected(IMAGENET, paths=8) > usual
    assert expected(IMAGENET, max_depth=100) > usual
    assert expected(IMAGENET, dda_depth=100) > usual
    assert expected(EVERYDAY16) < 10 < usual
    next(iter(Session(tiny_models, budget_seconds=1.5).events(_pixels(tiny_models), SETTINGS)))
    assert lender.lent == [1.5]
