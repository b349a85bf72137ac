"""The loaded models, what a visitor may ask of them, and one run."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from app.runs.compute_thread import computed, computed_steps
from app.runs.gpu import borrowed, choose_device, expected_seconds, lends_gpus, on_lent_gpu
from app.runs.watch import News, Step, watch
from app.server.decoder import read_square
from app.server.errors import RunError, translate_errors
from app.server.limits import BUDGET_SECONDS
from dga.corruptions import compile_corruptions, corrupt
from dga.images import Pixels, to_tensor
from dga.networks.classifier import Prediction
from dga.networks.compute import Compute
from dga.networks.models import ModelFiles, Models, find_models
from dga.pipeline import classify
from dga.request import Request
from dga.speed.pace import Pace, slow_pace
from dga.systems import System
from dga.weights.sources import Sources

Done = TypeVar("Done")
TOO_LONG = (
    "The run took longer than {seconds:.0f} seconds and was stopped; "
    "a smaller DDA depth or a higher τ needs fewer steps."
)
PAUSE = 0.5  # seconds between two looks whether a run goes on


class CancelledError(RuntimeError):
    """The visitor pressed Cancel."""


@dataclass(frozen=True)
class Picture:
    """The picture of one run, uint8 ``[S, S, 3]``; ``clean`` only if we corrupted it."""

    input: Pixels
    input_prediction: Prediction
    clean: Pixels | None = None
    clean_prediction: Prediction | None = None

    @property
    def whole(self) -> Pixels:
        """As it came, before we corrupted it."""
        return self.input if self.clean is None else self.clean


class Session:
    """Models shared by all visitors; runs are started one at a time by the queue.

    ``models``: loaded, or where they are; whoever needs them then waits for
    :meth:`load_models`. ``pace``: of a large model on a processor, whose budget a run fits into.
    """

    def __init__(self, models: Models | ModelFiles, budget_seconds: float = BUDGET_SECONDS) -> None:
        self.profile = models.profile
        self.pace: Pace | None = None
        self.budget_seconds = budget_seconds
        self._files = models
        self._runs: set[object] = set()  # those that go on
        self._loaded = Future[Models]()
        if isinstance(models, Models):
            self._loaded.set_result(models)
        self._lent: Callable[..., Generator[Any]] = on_lent_gpu(self._on_models)

    @classmethod
    def open(cls, profile: str = "everyday16", sources: Sources = Sources()) -> Session:
        """With models that are there and unaltered, but not loaded.

        Raises :class:`~dga.weights.checkpoints.WeightsError` or ``ValueError``.
        """
        files = find_models(profile, sources)
        files.verify()
        return cls(files)

    @classmethod
    def load(cls, profile: str = "everyday16", sources: Sources = Sources()) -> Session:
        """With models as ``load_models`` loads them, and what it raises."""
        session = cls.open(profile, sources)
        session.load_models()
        return session

    @property
    def models(self) -> Models:
        """Waits until they are loaded."""
        return self._loaded.result()

    @property
    def weights(self) -> dict[str, str]:
        """Which exact weights the models have, by network."""
        return self._files.weights

    def load_models(self) -> None:
        """Load what was only found, once. Raises ``WeightsError``, for those who wait too."""
        assert isinstance(self._files, ModelFiles)
        try:
            models = computed(self._files.load, computed(Compute.choose, choose_device()))
            self.pace = None if lends_gpus() else computed(slow_pace, models)
        except BaseException as error:
            self._loaded.set_exception(error)
            raise
        self._loaded.set_result(models)

    def subject(self, path: str | Path | None, settings: Request) -> Picture:
        """Read, resize, perhaps corrupt one upload. Raises ``UploadError`` or :class:`RunError`."""
        with translate_errors():
            picture = read_square(path, self.profile.image_size)
            if settings.corruption is None:
                return Picture(picture, self._classify(picture))
            damaged = corrupt(picture, settings.corruption, settings.severity, settings.seed)
            return Picture(damaged, self._classify(damaged), picture, self._classify(picture))

    def events(
        self,
        pixels: Pixels,
        settings: Request,
        cancel: threading.Event | None = None,
        extent: int | None = None,
        chosen: Sequence[System] | None = None,
    ) -> Generator[News]:
        """Run the pipeline, within the time budget and until ``cancel`` is set.

        ``extent``: as in :func:`~dga.pipeline.adapt_steps`, with every depth's outcome unless
        the machine is slow; ``chosen``: by default the usual ones, in the order in which they are
        wanted. Raises what :meth:`lent` does.
        """
        profile, stopping = self.profile, settings.stopping(self.profile)
        chosen = settings.usual(profile) if chosen is None else chosen
        every = extent if self.pace is None else None
        longest = expected_seconds(profile, chosen, stopping.paths)
        asked = pixels, settings.seed, stopping, chosen, extent, every
        return self.lent(cancel, watch, *asked, longest=longest)

    def lent(
        self,
        cancel: threading.Event | None,
        steps: Callable[..., Generator[Done]],
        *asked: Any,
        pictures: int = 1,
        longest: float = math.inf,
        too_long: str = TOO_LONG,
        long: bool = False,
    ) -> Generator[Done]:
        """``steps(models, *asked)``, within the time budget and until ``cancel`` is set.

        Both are looked at after each. ``pictures``: how many the budget is for; ``longest``:
        seconds for which a GPU is borrowed where the host lends them; ``long``: it gives way to
        others. Raises :class:`RunError`, with the sentence ``too_long``, and
        :class:`CancelledError`.
        """
        _, run = self.models, object()  # waited for here
        seconds = self.budget(pictures)
        deadline = time.monotonic() + seconds
        self._runs.add(run)
        try:
            work = self._lent(min(longest, seconds), steps, *asked)
            work = work if lends_gpus() else computed_steps(work, long)
            with translate_errors(), contextlib.closing(work):
                for event in work:
                    if cancel is not None and cancel.is_set():
                        raise CancelledError
                    yield event
                    if time.monotonic() > deadline:
                        raise RunError(too_long.format(seconds=seconds))
        finally:
            self._runs.discard(run)

    def _on_models(
        self, seconds: float, steps: Callable[..., Generator[Done]], *asked: Any
    ) -> Generator[Done]:
        yield from steps(borrowed(self.models), *asked)

    def budget(self, pictures: int = 1) -> float:
        """Seconds for so many together: more than usual only where one takes minutes."""
        longest = self.pace.longest(self.profile) if self.pace else 0.0
        return max(self.budget_seconds, 2 * pictures * longest)

    def warm_up(self) -> None:
        """Pay for slow imports and first calls before a visitor does."""
        size = self.profile.image_size
        grey = np.full((size, size, 3), 128, np.uint8)
        self._classify(grey)
        if self.pace is None:  # else it would keep the first visitor waiting for minutes
            with contextlib.closing(self.events(grey, Request(None, 1, 1.0, 0, 1))) as events:
                next((event for event in events if isinstance(event, Step)), None)
        while self._runs:  # a run beside what compiles would take seconds longer
            time.sleep(PAUSE)
        compile_corruptions()

    def _classify(self, pixels: Pixels) -> Prediction:
        x = to_tensor(pixels)[None].to(self.models.device)  # [1, 3, S, S]
        return computed(classify, self.models, x)[0]
