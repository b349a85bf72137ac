"""What is known of one run so far, ready to be shown."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.parts.examples import Example
from app.runs.run_value import SHOWN, Line, extent, pills, run_value
from app.runs.session import Picture
from app.runs.sprites import COLUMNS, Lane, forward_sprites, picture_uri
from app.words.adapt import OWN_PICTURE
from app.words.common import (
    CARD_NOTES,
    CARD_TITLES,
    INPUT_TITLE,
    LEFT_NOTE,
    NEVER_CROSSED_NOTE,
    UNTOUCHED_NOTE,
)
from app.words.timeline import PROGRESS
from app.words.try_it import PROGRESS as WORDS
from dga.diffusion import Schedule, forward_path
from dga.explanation import Scored
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.pipeline import (
    Adaptation,
    Denoised,
    Event,
    Explained,
    Halted,
    Judged,
    Noised,
    Outcomes,
    Reconstruction,
)
from dga.profiles import Profile, StoppingConfig
from dga.record import sentence
from dga.request import Request
from dga.stopping import Stop, choose_depth, confidence_from_logits, is_decided
from dga.titles import title

Phase = Literal["empty", "damaged", "forward", "reverse", "done", "cancelled", "error"]
TAUS = tuple(percent / 100 for percent in range(101))
CARDS = ("input", "x_t_star", "dga", "dga-guided", "dda", "dga-plus")


@dataclass
class Card:
    """One result: ``image`` is uint8 ``[S, S, 3]``, a preview until ``prediction`` is there."""

    name: str
    detail: str = ""
    title: str = ""
    image: Pixels | None = None
    prediction: Prediction | None = None
    agrees: bool | None = None
    note: str = ""
    interrupted: bool = False


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` steps; ``method`` is None while noise goes in.

    ``total`` None: candidate explanations are judged, and how many there will be is not known.
    """

    done: int
    total: int | None
    method: str | None = None
    path: int = 0
    every: bool = False

    def words(self, paths: int, words: dict[str, str] = PROGRESS) -> str:
        """As it stands above the curve."""
        kind = "reverse" if self.method else "forward" if paths == 1 else "paths"
        kind = "explaining" if self.total is None else kind
        kind = "every" if self.every else kind
        return words[kind].format(
            done=self.done, total=self.total, method=self.method, path=self.path + 1, paths=paths
        )

    def share(self, paths: int) -> float:
        """From 0 to 1, of this way alone."""
        share = 0.0 if self.total is None else self.done / max(self.total, 1)
        return share if self.method else (self.path + share) / paths


def stops_by_tau(
    logits: ArrayLike,
    stopping: StoppingConfig,
    bound: Sequence[float] | None = None,
    taus: Sequence[float] = TAUS,
) -> list[Stop]:
    """Where :func:`~dga.stopping.choose_depth` stops at each tau, the rest as configured."""
    return [choose_depth(logits, dataclasses.replace(stopping, tau=t), bound) for t in taus]


def blank_timeline(profile: Profile, stopping: StoppingConfig | None = None) -> dict[str, Any]:
    """The timeline's value before any run."""
    stopping = stopping or profile.stopping
    return {
        "key": "",
        "phase": "empty",
        "steps": profile.schedule.steps,
        "side": profile.image_size,
        "rule": stopping.rule,
        "max_depth": stopping.max_depth,
        "horizon": stopping.horizon,
        "paths": stopping.paths,
        "tau": stopping.tau,
        "bound": None,
        "curves": [],
        "forward": "",
        "lanes": [],
        "progress": None,
        "recorded": "",
        "error": "",
    }


def blank_value(profile: Profile, stopping: StoppingConfig | None = None) -> dict[str, Any]:
    """The page's value before any run."""
    stopping = stopping or profile.stopping
    return {
        "key": "",
        "phase": "empty",
        "source": "",
        "steps": profile.schedule.steps,
        "side": profile.image_size,
        "max_depth": stopping.max_depth,
        "horizon": stopping.horizon,
        "paths": stopping.paths,
        "tau": stopping.tau,
        "dda_depth": profile.dda_depth,
        "extent": min(max(SHOWN, stopping.max_depth), profile.schedule.steps),
        "classes": [],
        "truth": None,
        "input": None,
        "clean": None,
        "title": "",
        "damage": "",
        "curves": [],
        "forward": {"src": "", "columns": COLUMNS, "depths": 0},
        "forward_probs": [],
        "every": {},
        "dda_line": None,
        "results": {},
        "lanes": [],
        "found": None,
        "says": {},
        "progress": None,
        "recorded": "",
        "notice": "",
        "link": "",
        "own": False,
        "error": "",
    }


class RunState:
    """One run: events go in, the timeline's value and six cards come out.

    ``bound``: the quantile rule's logits at depths 0...T, where that rule is asked for.
    ``logits``: ``[paths, T + 1]``, once the forward process halted; ``result``: the finished run.
    """

    def __init__(
        self,
        profile: Profile,
        settings: Request,
        subject: Picture,
        bound: Sequence[float] | None = None,
        example: Example | None = None,
        source: str = "full",
    ) -> None:
        self.profile = profile
        self.settings = settings
        self.subject = subject
        self.stopping = settings.stopping(profile)
        self.bound = bound
        self.key = secrets.token_hex(4)
        self.recorded = ""
        self.source, self.notice = source, ""
        self.example = example.name if example else None
        self.title = example.title if example else OWN_PICTURE
        known = example is not None and example.truth in profile.classifier.classes
        self.truth = example.truth if example and known else None
        self.extent = extent(profile, settings)
        self.filmed = 0
        self.lines: dict[str, Line] = {}
        self.shown: dict[str, Pixels] = {}
        self.results: dict[str, Reconstruction] = {}
        self.choosing: float | None = None
        self.phase: Phase = "damaged" if source == "damaged" else "forward"
        self.curves: list[list[float]] = []
        self.forward = ""
        self.lanes: dict[str, Lane] = {}
        self.stop: Stop | None = None
        self.explained: Explained | None = None
        self.logits: NDArray[np.float64] | None = None
        self.result: Adaptation | None = None
        self.error = ""
        self.progress = Progress(0, profile.schedule.steps)
        self.cards = {name: Card(name) for name in CARDS}
        self._read: Any = None
        self.working = False
        self._lock = threading.RLock()  # Cancel comes from another thread than the events
        self._finish("input", self._damage(), subject.input, subject.input_prediction)

    def take(self, event: Event) -> list[str]:
        """Note one event; return the names of the cards it changed."""
        with self._lock:
            if self.phase in ("cancelled", "error"):
                return []
            if isinstance(event, Noised):
                self.filmed = self.extent + 1
                self.forward = forward_sprites(event.states[: self.filmed])
                return []
            if isinstance(event, Outcomes):
                self.lines[event.route.name if event.route else "noised"] = Line.of(event)
                return []
            if isinstance(event, Judged):
                return self._judged(event)
            if isinstance(event, Halted):
                return self._halted(event)
            if isinstance(event, Scored):
                return self._scored()
            if isinstance(event, Explained):
                return self._explained(event)
            if isinstance(event, Denoised):
                return self._denoised(event)
            if isinstance(event, Reconstruction):
                return self._rebuilt(event)
            if isinstance(event, Adaptation):
                self.phase, self.result = "done", event
            return []

    def _judged(self, event: Judged) -> list[str]:
        if event.path == len(self.curves):
            self.curves.append([])
        curve = self.curves[event.path]
        curve += [float(value) for value in event.confidence]
        self.progress = Progress(len(curve) - 1, self.profile.schedule.steps, path=event.path)
        return []

    def _halted(self, event: Halted) -> list[str]:
        self.phase, self.stop, self.logits = "reverse", event.stop, event.logits
        self.curves = confidence_from_logits(event.logits).tolist()
        self.choosing = event.seconds
        for route in self.settings.routes(self.profile):
            if not route.plus:
                visited = tuple(route.visited(event.stop.t_star))
                self.lanes[route.name] = Lane(route.name, visited)
        detail = f"{_steps(event.stop.t_star)} forward · {event.seconds:.1f} s"
        note = CARD_NOTES["x_t_star"] if event.stop.t_star else UNTOUCHED_NOTE
        self._finish("x_t_star", detail, event.x_t_star, event.prediction, note)
        return ["x_t_star"]

    def _scored(self) -> list[str]:
        known = self.progress.done if self.progress.total is None else 0
        self.progress = Progress(known + 1, None, CARD_TITLES["dga-plus"])
        return []

    def _explained(self, event: Explained) -> list[str]:
        self.explained, name = event, event.route.name
        lane = Lane(name, tuple(event.route.visited(event.stop.t_star)))
        if not event.stop.t_star and not event.unchanged:
            lane.restored = picture_uri(event.restored)
        self.lanes[name], self.cards[name].image = lane, event.restored
        self.shown[name] = event.restored
        return [name]

    def _denoised(self, event: Denoised) -> list[str]:
        self.progress = Progress(event.step, event.steps, event.route.title)
        self.lanes[event.route.name].add(event.x)
        card = self.cards[event.route.name]
        card.image = event.x
        self.shown[card.name] = event.x0_hat
        card.detail = f"step {event.step} of {event.steps}"
        return [card.name]

    def _rebuilt(self, event: Reconstruction) -> list[str]:
        name, depth = event.route.name, event.depth
        self.results[name], self.shown[name] = event, event.image
        lane = self.lanes[name]
        if len(lane.visited) > 1 and not lane.strips and not lane.started:
            twin = next(r for r in self.lanes.values() if r.visited == lane.visited and r.started)
            twin.value()
            lane.strips = twin.strips  # the same picture, not made twice
        steps = _steps(event.steps)
        detail = f"{depth} + {steps} · {event.seconds:.1f} s" if depth else steps
        if event.route.plus:
            detail = f"depth {depth} · {steps} · {event.seconds:.1f} s"
        self._finish(name, detail, event.image, event.prediction, self._note(name))
        return [name]

    def _note(self, name: str) -> str:
        if name == "dga-plus" and self.explained is not None:
            return sentence(self.explained)
        if name == "dda" or self.stop is None:
            return CARD_NOTES[name]
        if self.stop.hopeless:
            return LEFT_NOTE
        if not self.stop.crossed:
            return NEVER_CROSSED_NOTE.format(depth=self.stop.t_star)
        return CARD_NOTES[name] if self.stop.t_star else UNTOUCHED_NOTE

    def _finish(
        self, name: str, detail: str, image: Pixels, prediction: Prediction, note: str = ""
    ) -> None:
        clean = self.subject.clean_prediction
        agrees = None if clean is None else prediction.label == clean.label
        note = note or CARD_NOTES[name]
        as_it_came = name == "input" and self.settings.corruption is None
        title = INPUT_TITLE if as_it_came else ""
        self.cards[name] = Card(name, detail, title, image, prediction, agrees, note)

    def _damage(self) -> str:
        if self.settings.corruption is None:
            return "as it came"
        return f"{title(self.settings.corruption)}, severity {self.settings.severity}"

    def again(self, source: str) -> RunState:
        """The same picture and settings, with nothing known yet."""
        state = RunState(self.profile, self.settings, self.subject, self.bound, source=source)
        state.example, state.title, state.truth = self.example, self.title, self.truth
        return state

    def film(self, depths: int) -> None:
        """Show the noise going in at depths 0 to ``depths`` - 1, drawn from the seed alone."""
        schedule = Schedule.from_config(self.profile.schedule)
        path = forward_path(schedule, to_tensor(self.subject.input), self.settings.seed)
        forward = forward_sprites(from_tensor(path[:depths]))
        with self._lock:
            self.forward, self.filmed = forward, depths

    def deepen(self, logits: NDArray[np.float64]) -> None:
        """Take the rest of the curve, ``[paths, n]``: no stop can change but unknown ones."""
        with self._lock:
            assert self.logits is not None
            self.logits = np.concatenate([self.logits, logits], axis=1)
            self.curves = confidence_from_logits(self.logits).tolist()

    def cancel(self) -> None:
        """Keep what exists; say where the run stopped."""
        at = self.progress
        where = f"{at.method}, reverse" if at.method else "forward"
        step = f"{where} step {at.done} of {at.total}"
        if at.total is None:
            step = f"{at.method}, explanation {at.done}"
        self._end("cancelled", f"Cancelled at {step}.")

    def fail(self, sentence: str) -> None:
        """Keep what exists, with a sentence above it."""
        self._end("error", sentence)

    def _end(self, phase: Phase, sentence: str) -> None:
        with self._lock:
            self.phase, self.error = phase, sentence
            for card in self.cards.values():
                card.interrupted = card.prediction is None

    @property
    def busy(self) -> bool:
        """Whether something is computed: the run, or more of a finished one (``working``)."""
        return self.running or self.working

    @property
    def running(self) -> bool:
        """Whether events are still expected."""
        return self.phase in ("forward", "reverse")

    @property
    def settled(self) -> bool:
        """Whether the run has ended with a depth, so that something can be said of it."""
        return self.stop is not None and self.logits is not None and not self.running

    @property
    def stops(self) -> list[tuple[int, bool] | None]:
        """Where the rule stops at every tau, the run's own last; None: not judged that far."""
        return self._decided[1]

    @property
    def alone_by_tau(self) -> list[list[int | None]]:
        """By tau, where each noise path by itself crosses."""
        return [list(depths) for depths in zip(*self._decided[2], strict=True)]

    @property
    def _decided(self) -> Any:
        """(logits, stops, t* of each path): read anew when the curve was judged further."""
        if self._read is None or self._read[0] is not self.logits:
            taus = (*TAUS, self.stopping.tau)
            rules = [dataclasses.replace(self.stopping, tau=tau) for tau in taus]
            assert self.logits is not None
            together = [
                (s.t_star, s.crossed) if is_decided(self.logits, rule) else None
                for rule in rules
                for s in [choose_depth(self.logits, rule)]
            ]
            alone = [stops_by_tau(row, self.stopping, None, taus) for row in self.logits]
            crossed = [[s.t_star if s.crossed else None for s in path] for path in alone]
            self._read = self.logits, together, crossed
        return self._read

    def value(self) -> dict[str, Any]:
        """All that the page shows of the run, ready for JSON (:mod:`app.runs.run_value`)."""
        with self._lock:
            value = blank_value(self.profile, self.stopping) | {
                "key": self.key,
                "phase": self.phase,
                "extent": self.extent,
                "curves": [list(curve) for curve in self.curves],
                "lanes": [lane.value() for lane in self.lanes.values()],
                "dda_depth": self.settings.dda_depth,
                "progress": self._progress(WORDS) if self.busy else None,
                "recorded": self.key if self.recorded else "",
                "error": self.error,
            }
            if self.stop is not None and self.logits is not None:
                value |= {"t_star": self.stop.t_star, "crossed": self.stop.crossed}
                value |= {"mean": np.mean(self.curves, 0).tolist()}
                value |= {"stops": self.stops, "alone": self._decided[2], "pills": pills(self)}
            return value | run_value(self)

    def timeline(self) -> dict[str, Any]:
        """The timeline's value, ready for JSON; lists are copies, so that Gradio sees growth."""
        with self._lock:
            after = self.cards["dga-guided"].prediction
            value = blank_timeline(self.profile, self.stopping) | {
                "key": self.key,
                "phase": self.phase,
                "bound": None
                if self.bound is None
                else confidence_from_logits(self.bound).tolist(),
                "curves": [list(curve) for curve in self.curves],
                "forward": self.forward,
                "lanes": [lane.value() for lane in self.lanes.values()],
                "dda_depth": self.settings.dda_depth,
                "before": self.subject.input_prediction.top(1)[0],
                "after": after.top(1)[0] if after else None,
                "progress": self._progress() if self.running else None,
                "recorded": self.recorded,
                "error": self.error,
            }
            if self.stop is not None:
                value |= {"t_star": self.stop.t_star, "crossed": self.stop.crossed}
                value |= self._rule_read
            return value

    @cached_property
    def _rule_read(self) -> dict[str, Any]:
        """What the rule reads (``mean``), and where it stops at every tau, the run's own last.

        ``alone``: t* of each noise path by itself, None where it does not cross.
        """
        assert self.logits is not None
        taus = (*TAUS, self.stopping.tau)
        alone = [stops_by_tau(row, self.stopping, self.bound, taus) for row in self.logits]
        together = stops_by_tau(self.logits, self.stopping, self.bound, taus)
        quantile = self.stopping.rule == "quantile"
        mean = confidence_from_logits(self.logits.mean(0)) if quantile else np.mean(self.curves, 0)
        return {
            "mean": mean.tolist(),
            "stops": [[stop.t_star, stop.crossed] for stop in together],
            "alone": [[s.t_star if s.crossed else None for s in path] for path in alone],
        }

    def _progress(self, words: dict[str, str] = PROGRESS) -> dict[str, Any]:
        paths = self.settings.paths
        return {
            "words": self.progress.words(paths, words),
            "share": round(self.progress.share(paths), 3),
        }


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"
