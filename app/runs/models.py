"""The loaded networks, and the one thread that computes with them.

OpenMP keeps helpers for every thread that ever computed; once they are more than the cores, each
pass wakes them thousands of times. So one thread computes for all visitors, a step at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from app.server.turns import Turn
from app.server.visitors import VisitorError
from dga.adaptation import classify
from dga.images import to_tensor
from dga.networks.compute import Compute, choose_default_device
from dga.networks.models import ModelFiles, Models
from dga.weights.sources import EXPLAINER

BUDGET_SECONDS = 150.0
"""Of computing for one run."""
READER_SECONDS = 1.0
"""For which a run keeps its turn while nobody takes its last part."""
NO_MORE_PARTS = object()


class TooLongError(VisitorError):
    """A run used up its seconds."""


class Networks:
    """Where the networks are; whoever needs them waits until they are loaded."""

    def __init__(self, files: ModelFiles | Models) -> None:
        self.profile = files.profile
        self.weights = files.weights
        self.has_explainer = EXPLAINER in self.weights  # else DGA+ asks the discriminator
        self._files = files
        self._thread = ThreadPoolExecutor(1, "networks")
        self._loaded: Future[Models] = Future()
        if isinstance(files, Models):
            self._loaded.set_result(files)

    @property
    def models(self) -> Models:
        """Waits until they are loaded. Raises what loading raised."""
        return self._loaded.result()

    def load(self) -> None:
        """Load what was only found. Raises ``WeightsError``, for those who wait, too."""
        try:
            self._loaded.set_result(self._thread.submit(self._load).result())
        except BaseException as error:
            self._loaded.set_exception(error)
            raise

    def _load(self) -> Models:
        assert isinstance(self._files, ModelFiles)
        models = self._files.load(Compute.choose(choose_default_device()))
        size = self.profile.image_size
        grey = np.full((1, size, size, 3), 128, np.uint8)
        classify(models, to_tensor(grey).to(models.device))  # the first one is slow
        return models

    async def run_steps(
        self, steps: Callable[[Models], Generator[Any]], turn: Turn
    ) -> AsyncIterator[Any]:
        """What ``steps(models)`` yields, while it is the visitor's turn.

        Numbers between are visitors before this one. Raises :class:`TooLongError`, and what the
        steps raise.
        """
        loop = asyncio.get_running_loop()
        models = await loop.run_in_executor(None, lambda: self.models)
        work = steps(models)
        spent = 0.0
        try:
            while True:
                async for before in turn.wait():
                    yield before
                if turn.is_dropped:
                    return
                part, seconds = await loop.run_in_executor(self._thread, time_next, work)
                if part is NO_MORE_PARTS:
                    return
                if spent > BUDGET_SECONDS:  # by what came before: the last part may end later
                    most = f"{BUDGET_SECONDS:.0f} seconds"
                    raise TooLongError(f"This took longer than {most} and was stopped.")
                spent += seconds
                slow = loop.call_later(READER_SECONDS, turn.leave)
                yield part
                slow.cancel()
                if turn.is_over or turn.turns.holder is not turn:
                    turn.give_way()
        finally:
            with contextlib.suppress(RuntimeError):  # the server ends
                self._thread.submit(work.close)
                self._thread.submit(return_memory)


def time_next(work: Iterator[Any]) -> tuple[Any, float]:
    """The next part, and the seconds that it took here, without those of waiting for the thread."""
    start = time.perf_counter()
    return next(work, NO_MORE_PARTS), time.perf_counter() - start


def return_memory() -> None:
    """Give freed memory back to the system; glibc alone keeps half a gigabyte of a photograph's."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # other systems have no such call
        ctypes.CDLL(None).malloc_trim(0)
