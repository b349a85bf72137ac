"""What is known of one run so far, ready to be shown."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.parts.examples import Example
from app.runs.run_value import Line, extent, run_value
from app.runs.session import Picture
from app.runs.sprites import Lane, forward_sprites
from app.words.try_it import CANCELLED, OWN_PICTURE, PROGRESS
from dga.diffusion import Schedule, forward_path
from dga.explanation.search import Scored
from dga.images import Pixels, from_tensor, to_tensor
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
from dga.request import Request
from dga.sentences import pill
from dga.stopping import Stop, choose_depth, confidence_from_logits, is_decided

Phase = Literal["empty", "damaged", "forward", "reverse", "done", "cancelled", "error"]
Source = Literal["full", "quick", "damaged", "recorded"]
TAUS = tuple(percent / 100 for percent in range(101))


@dataclass(frozen=True)
class Progress:
    """``words``: as they stand on the button; ``share``: from 0 to 1, of this way alone."""

    words: str
    share: float = 0.0

    @classmethod
    def of(cls, kind: str, done: int, total: int, method: str = "") -> Progress:
        """``done`` of ``total`` steps of a kind of ``PROGRESS``."""
        words = PROGRESS[kind].format(done=done, total=total, method=method)
        return cls(words, round(done / max(total, 1), 3))

    @classmethod
    def noising(cls, done: int, total: int, path: int, paths: int) -> Progress:
        """While noise goes in: ``path``, from 0, is one of several."""
        kind = "forward" if paths == 1 else "paths"
        words = PROGRESS[kind].format(done=done, total=total, path=path + 1, paths=paths)
        return cls(words, round((path + done / total) / paths, 3))


def decided(logits: NDArray[np.float64], stopping: StoppingConfig) -> dict[str, list[Any]]:
    """Where the rule stops at every tau, the run's own last, and what stands there.

    ``logits``: ``[paths, K]``; None: not judged that far.
    """
    told: dict[str, list[Any]] = {"stops": [], "pills": []}
    for tau in (*TAUS, stopping.tau):
        rule = dataclasses.replace(stopping, tau=tau)
        known, stop = is_decided(logits, rule), choose_depth(logits, rule)
        alone = [choose_depth(path, rule) for path in logits]
        crossed = [one.t_star if one.crossed else None for one in alone]
        told["stops"].append((stop.t_star, stop.crossed) if known else None)
        told["pills"].append(pill(stop, stopping.horizon, crossed) if known else None)
    return told


def blank_value(profile: Profile, stopping: StoppingConfig | None = None) -> dict[str, Any]:
    """The page's value before any run: what its script takes for granted."""
    return {
        "key": "",
        "phase": "empty",
        "source": "",
        "steps": profile.schedule.steps,
        "tau": (stopping or profile.stopping).tau,
        "dda_depth": profile.dda_depth,
        "classes": [],
        "title": "",
        "curves": [],
    }


class RunState:
    """One run: events go in, the page's value comes out.

    ``example``: the picture that it began with, None for an own one; ``logits``: ``[paths, K]``,
    once the forward process halted; ``lines``: what comes out at every depth, by method and for
    the noised states; ``shown``: each method's picture so far, uint8 ``[S, S, 3]``;
    ``results``: those that are finished; ``result``: the finished run.
    """

    def __init__(
        self,
        profile: Profile,
        settings: Request,
        subject: Picture,
        example: Example | None = None,
        source: Source = "full",
    ) -> None:
        self.profile = profile
        self.settings = settings
        self.subject = subject
        self.stopping = settings.stopping(profile)
        self.extent = extent(profile, settings)
        self.key = secrets.token_hex(16)  # who knows it may see the run
        self.source: Source = source
        self.notice = ""
        self.example = example
        self.title = example.title if example else OWN_PICTURE
        known = example is not None and example.truth in profile.classifier.classes
        self.truth = example.truth if example and known else None
        self.phase: Phase = "damaged" if source == "damaged" else "forward"
        self.curves: list[list[float]] = []
        self.forward, self.filmed = "", 0
        self.lanes: dict[str, Lane] = {}
        self.lines: dict[str, Line] = {}
        self.shown: dict[str, Pixels] = {}
        self.results: dict[str, Reconstruction] = {}
        self.stop: Stop | None = None
        self.choosing: float | None = None
        self.explained: Explained | None = None
        self.logits: NDArray[np.float64] | None = None
        self.result: Adaptation | None = None
        self.error = ""
        self.working = False
        self.tried = 0  # candidate explanations; how many there will be is not known
        self.progress = Progress.noising(0, self.extent, 0, settings.paths)
        self._read: tuple[NDArray[np.float64], dict[str, list[Any]]] | None = None
        self._lock = threading.RLock()  # Cancel comes from another thread than the events

    def again(self, source: Source) -> RunState:
        """The same picture and settings, with nothing known yet."""
        return RunState(self.profile, self.settings, self.subject, self.example, source)

    def take(self, event: Event) -> None:
        """Note one event."""
        with self._lock:
            if self.phase in ("cancelled", "error"):
                return
            if isinstance(event, Noised):
                self.filmed = min(self.extent + 1, len(event.states))
                self.forward = forward_sprites(event.states[: self.filmed])
            elif isinstance(event, Judged):
                self._judged(event)
            elif isinstance(event, Halted):
                self._halted(event)
            elif isinstance(event, Scored):
                self.tried += 1
                self.progress = Progress(PROGRESS["explaining"].format(done=self.tried))
            elif isinstance(event, Explained):
                self._explained(event)
            elif isinstance(event, Denoised):
                self.progress = Progress.of("reverse", event.step, event.steps, event.route.title)
                self.lanes[event.route.name].add(event.x)
                self.shown[event.route.name] = event.x0_hat
            elif isinstance(event, Reconstruction):
                self._rebuilt(event)
            elif isinstance(event, Outcomes):
                self.lines[event.route.name if event.route else "noised"] = Line.of(event)
            else:
                self.phase, self.result = "done", event

    def _judged(self, event: Judged) -> None:
        if event.path == len(self.curves):
            self.curves.append([])
        curve = self.curves[event.path]
        curve += [float(value) for value in event.confidence]
        total = max(self.extent, len(curve) - 1)
        paths = self.settings.paths
        self.progress = Progress.noising(len(curve) - 1, total, event.path, paths)

    def _halted(self, event: Halted) -> None:
        self.phase, self.stop, self.logits = "reverse", event.stop, event.logits
        self.curves = confidence_from_logits(event.logits).tolist()
        self.choosing = event.seconds
        if self.source == "quick":
            return
        for route in self.settings.routes(self.profile):
            if not route.plus:
                visited = tuple(route.visited(event.stop.t_star))
                self.lanes[route.name] = Lane(route.name, visited)

    def _explained(self, event: Explained) -> None:
        self.explained, name = event, event.route.name
        self.lanes[name] = Lane(name, tuple(event.route.visited(event.stop.t_star)))
        self.shown[name] = event.restored

    def _rebuilt(self, event: Reconstruction) -> None:
        name = event.route.name
        self.results[name], self.shown[name] = event, event.image
        lane = self.lanes[name]
        if len(lane.visited) > 1 and not lane.started:
            twin = next(r for r in self.lanes.values() if r.visited == lane.visited and r.started)
            twin.value()
            lane.strips = twin.strips  # the same picture, not made twice

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
        self._end("cancelled", CANCELLED.format(words=self.progress.words))

    def fail(self, sentence: str) -> None:
        """Keep what exists, with a sentence above it."""
        self._end("error", sentence)

    def _end(self, phase: Phase, sentence: str) -> None:
        with self._lock:
            self.phase, self.error = phase, sentence

    @property
    def running(self) -> bool:
        """Whether events are still expected."""
        return self.phase in ("forward", "reverse")

    @property
    def busy(self) -> bool:
        """Whether something is computed: the run, or more of a finished one (``working``)."""
        return self.running or self.working

    @property
    def settled(self) -> bool:
        """Whether the run has ended with a depth, so that something can be said of it."""
        return self.stop is not None and not self.running

    def _decided(self) -> dict[str, list[Any]]:
        """:func:`decided`, anew when the curve was judged further."""
        assert self.logits is not None
        if self._read is None or self._read[0] is not self.logits:
            self._read = self.logits, decided(self.logits, self.stopping)
        return self._read[1]

    def value(self) -> dict[str, Any]:
        """All that the page shows of the run, ready for JSON (:mod:`app.runs.run_value`).

        Lists are copies, so that Gradio sees growth.
        """
        with self._lock:
            if self.source == "recorded" and not self.forward:
                self.film(self.extent + 1)  # drawn when it is first looked at
            value = blank_value(self.profile, self.stopping) | {
                "key": self.key,
                "phase": self.phase,
                "curves": [list(curve) for curve in self.curves],
                "lanes": [lane.value() for lane in self.lanes.values()],
                "dda_depth": self.settings.dda_depth,
                "progress": dataclasses.asdict(self.progress) if self.busy else None,
                "recorded": self.key if self.source == "recorded" else "",
                "error": self.error,
            }
            if self.stop is not None:
                value |= {"t_star": self.stop.t_star, "crossed": self.stop.crossed}
                value |= {"mean": np.mean(self.curves, 0).tolist(), **self._decided()}
            return value | run_value(self)
