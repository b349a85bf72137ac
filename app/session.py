"""The loaded models, what a visitor may ask of them, and one run."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.decoder import read_square
from app.decoder import start as start_decoder
from app.faults import RequestError, RunError, told
from app.gpu import borrowed, choose_compute, expected_seconds, lends_gpus, on_lent_gpu
from app.text import NO_CORRUPTION
from dga.classifier import Prediction
from dga.corruptions import CORRUPTIONS, check_corruption, corrupt, warm_up
from dga.images import Pixels, to_tensor
from dga.models import Models, load_models
from dga.pace import Pace, slow_pace
from dga.pipeline import Denoised, Event, Route, adapt_steps, classify, default_routes
from dga.profiles import Profile, StoppingConfig
from dga.stopping import confidence_from_logits

MAX_SEED = 2**31 - 1
MAX_PATHS = 8
MAX_SCALE = 20
RULES = ("threshold", "quantile")
BUDGET_SECONDS = 120.0


class CancelledError(RuntimeError):
    """The visitor pressed Cancel."""


@dataclass(frozen=True)
class Settings:
    """One checked request. ``corruption`` is None for a picture taken as it is.

    ``paths``: noise paths, 1 to 8; ``scale``: strength of DGA + G's guidance, None for the
    profile's; ``max_depth``: deepest t*, None for the profile's; ``rule``: of stopping.
    """

    corruption: str | None
    severity: int
    tau: float
    seed: int
    dda_depth: int
    paths: int = 1
    scale: float | None = None
    max_depth: int | None = None
    rule: str = "threshold"


@dataclass(frozen=True)
class Subject:
    """The picture of one run, uint8 ``[S, S, 3]``; ``clean`` only if we corrupted it."""

    input: Pixels
    input_prediction: Prediction
    clean: Pixels | None = None
    clean_prediction: Prediction | None = None


def check_settings(
    profile: Profile,
    corruption: object,
    severity: object,
    tau: object,
    seed: object,
    dda_depth: object,
    paths: object = None,
    scale: object = None,
    max_depth: object = None,
    rule: object = None,
) -> Settings:
    """Check a request from anywhere; None stands for the profile's own value of the last four.

    Raises :class:`RequestError` naming what is allowed.
    """
    if corruption is not None and corruption != NO_CORRUPTION and corruption not in CORRUPTIONS:
        allowed = ", ".join((NO_CORRUPTION, *CORRUPTIONS))
        raise RequestError(f"Unknown corruption {_short(corruption)}. Choose one of: {allowed}.")
    settings = Settings(
        corruption=None if corruption in (None, NO_CORRUPTION) else str(corruption),
        severity=_whole("Severity", severity, 1, 5),
        tau=_number("tau", tau, 0, 1),
        seed=_whole("The seed", seed, 0, MAX_SEED),
        dda_depth=_whole("DDA's depth", dda_depth, 1, profile.schedule.steps),
        paths=_paths(profile, paths),
        scale=None if scale is None else _number("The guidance's strength", scale, 0, MAX_SCALE),
        max_depth=None if max_depth is None else _max_depth(profile, max_depth),
        rule=profile.stopping.rule if rule is None else _rule(rule),
    )
    if settings.corruption:
        check_corruption(settings.corruption, settings.severity)
    return settings


def _paths(profile: Profile, value: object) -> int:
    known = profile.stopping.paths if value is None else value
    return _whole("The number of noise paths", known, 1, MAX_PATHS)


def _max_depth(profile: Profile, value: object) -> int:
    return _whole("The maximum depth", value, 1, profile.schedule.steps)


def _rule(value: object) -> str:
    if value not in RULES:
        raise RequestError(f"The stopping rule is {' or '.join(RULES)}, not {_short(value)}.")
    return str(value)


def stopping_for(profile: Profile, settings: Settings) -> StoppingConfig:
    """The profile's stopping with what the visitor chose; a horizon is never the shallower."""
    stopping = profile.stopping
    depth = settings.max_depth or stopping.max_depth
    horizon = None if stopping.horizon is None else max(stopping.horizon, depth)
    return dataclasses.replace(
        stopping,
        rule=settings.rule,  # type: ignore[arg-type]  # checked by StoppingConfig itself
        tau=settings.tau,
        paths=settings.paths,
        max_depth=depth,
        horizon=horizon,
    )


def routes_for(profile: Profile, settings: Settings) -> tuple[Route, ...]:
    """DGA, DGA + G with the visitor's strength of guidance, and DDA from her depth."""
    routes = default_routes(profile, settings.dda_depth)
    if settings.scale is not None:
        guidance = dataclasses.replace(profile.guidance, scale=settings.scale)
        routes["dga-guided"] = dataclasses.replace(routes["dga-guided"], guidance=guidance)
    return tuple(routes.values())


def _number(name: str, value: object, low: int, high: int) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # type: ignore[operator]  # NaN fails too
        raise RequestError(f"{name} is a number from {low} to {high}, not {_short(value)}.")
    return float(value)  # type: ignore[arg-type]


def _whole(name: str, value: object, low: int, high: int) -> int:
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    if not is_whole or not low <= value <= high:  # type: ignore[operator]
        raise RequestError(f"{name} is a whole number from {low} to {high}, not {_short(value)}.")
    return int(value)  # type: ignore[call-overload]


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not write out numbers of thousands of digits
        return "a number that long"
    return text if len(text) <= 40 else text[:39] + "…"


class Session:
    """Models shared by all visitors; runs are started one at a time by the queue."""

    def __init__(
        self, models: Models, budget_seconds: float = BUDGET_SECONDS, pace: Pace | None = None
    ) -> None:
        self.models = models
        self.pace = pace
        self.profile = models.profile
        self.budget_seconds = budget_seconds
        self._steps = on_lent_gpu(self._adapt, self._expected_seconds)

    @classmethod
    def load(
        cls,
        profile: str = "everyday16",
        weights: Path | None = None,
        diffusion: Path | None = None,
        discriminator: Path | None = None,
        classifier: Path | None = None,
    ) -> Session:
        """Models as ``load_models`` loads them.

        A large model on a processor has a ``pace``, and a budget that a run fits into.
        Raises :class:`~dga.weights.WeightsError` or ``ValueError``.
        """
        models = load_models(
            profile,
            weights,
            choose_compute(),
            discriminator,
            diffusion=diffusion,
            classifier=classifier,
        )
        pace = None if lends_gpus() else slow_pace(models)
        longest = pace.longest(models.profile) if pace else 0.0
        return cls(models, max(BUDGET_SECONDS, 2 * longest), pace)

    def subject(self, path: str | Path | None, settings: Settings) -> Subject:
        """Read, resize, perhaps corrupt one upload. Raises ``UploadError`` or :class:`RunError`."""
        with told():
            picture = read_square(path, self.profile.image_size)
            if settings.corruption is None:
                return Subject(picture, self._classify(picture))
            damaged = corrupt(picture, settings.corruption, settings.severity, settings.seed)
            return Subject(damaged, self._classify(damaged), picture, self._classify(picture))

    def events(
        self, pixels: Pixels, settings: Settings, cancel: threading.Event | None = None
    ) -> Generator[Event]:
        """Run the pipeline, within the time budget and until ``cancel`` is set.

        Both are looked at after every step. Raises :class:`RunError`, :class:`CancelledError`
        and :class:`RequestError` for a rule that these models cannot follow.
        """
        deadline = time.monotonic() + self.budget_seconds
        self.bound(settings)
        with told(), contextlib.closing(self._steps(pixels, settings)) as steps:
            for event in steps:
                if cancel is not None and cancel.is_set():
                    raise CancelledError
                yield event
                if time.monotonic() > deadline:
                    raise RunError(
                        f"The run took longer than {self.budget_seconds:.0f} seconds and was "
                        "stopped; a smaller DDA depth or a higher τ needs fewer steps."
                    )

    def _adapt(self, pixels: Pixels, settings: Settings) -> Generator[Event]:
        stopping = stopping_for(self.profile, settings)
        routes = routes_for(self.profile, settings)
        models = borrowed(self.models)
        yield from adapt_steps(models, pixels, settings.seed, stopping, routes)

    def _expected_seconds(self, pixels: Pixels, settings: Settings) -> float:
        depth = stopping_for(self.profile, settings).max_depth
        expected = expected_seconds(self.profile, settings.paths, depth, settings.dda_depth)
        return min(expected, self.budget_seconds)

    def bound(self, settings: Settings) -> list[float] | None:
        """The quantile rule's bound, a confidence for each depth 0...T; None for the threshold.

        Raises :class:`RequestError` where the discriminator has no such bound.
        """
        if settings.rule != "quantile":
            return None
        logits = self.models.source_bound(self.profile.stopping.quantile)
        if logits is None:
            raise RequestError("These models have no bound for the quantile rule; use threshold.")
        return [float(value) for value in confidence_from_logits(logits)]

    def budget(self, pictures: int) -> float:
        """Seconds for so many together: more of them only where one takes minutes."""
        if self.pace is None:
            return self.budget_seconds
        return max(self.budget_seconds, 2 * pictures * self.pace.longest(self.profile))

    def warm_up(self) -> None:
        """Pay for slow imports and first calls before a visitor does."""
        start_decoder()
        size = self.profile.image_size
        grey = np.full((size, size, 3), 128, np.uint8)
        warm_up()
        self._classify(grey)
        if self.pace is not None:
            return  # it would keep the first visitor waiting for minutes
        for event in self.events(grey, Settings(None, 1, 1.0, 0, 1)):
            if isinstance(event, Denoised):
                break

    def _classify(self, pixels: Pixels) -> Prediction:
        x = to_tensor(pixels)[None].to(self.models.device)  # [1, 3, S, S]
        return classify(self.models, x)
