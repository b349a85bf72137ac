"""What is known of one run so far: the one record that the page is made from."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.parts.examples import Example
from app.runs.compute_thread import computed
from app.runs.session import Picture
from app.runs.settings import deepest_shown
from app.runs.sprites import Lane, forward_sprites, outcome_sheet
from app.runs.watch import NOISED, News, Step, Swept
from app.words.try_it import CANCELLED, PROGRESS
from dga.diffusion import ForwardPath, Schedule
from dga.discriminator import Judged
from dga.explanation.search import Scored
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Reconstruction, Search, SearchEnded
from dga.profiles import Profile, StoppingConfig
from dga.request import Request
from dga.sentences import pill
from dga.stopping import choose_depth, confidence_from_logits, is_decided
from dga.systems import System
from dga.titles import PLAIN

Phase = Literal["empty", "damaged", "forward", "reverse", "done", "cancelled", "error"]
Source = Literal["damaged", "run", "recorded"]
TAUS = tuple(percent / 100 for percent in range(101))


@dataclass(frozen=True)
class Progress:
    """``words``: as they stand on the button; ``share``: from 0 to 1, of this way alone."""

    words: str
    share: float = 0.0

    @classmethod
    def of(
        cls, kind: str, done: int, total: int, method: str = "", path: int = 0, paths: int = 1
    ) -> Progress:
        """``done`` of ``total`` steps of a kind of ``PROGRESS``, on one of several paths."""
        known = {"done": done, "total": total, "method": method, "path": path + 1, "paths": paths}
        share = round((path + done / max(total, 1)) / paths, 3)
        return cls(PROGRESS["paths" if paths > 1 else kind].format(**known), share)


@dataclass(frozen=True)
class DepthSeries:
    """What comes out at depths 0, 1, ...; ``sheet``: a WebP file of the pictures, if shown."""

    predictions: Sequence[Prediction]
    sheet: bytes = b""


def stops_by_tau(logits: NDArray[np.float64], stopping: StoppingConfig) -> dict[str, list[Any]]:
    """Where the rule stops at every tau, the run's own last, and what stands there.

    ``logits``: ``[paths, K]``; None: not judged that far.
    """
    told: dict[str, list[Any]] = {"stops": [], "pills": []}
    for tau in (*TAUS, stopping.tau):
        rule = replace(stopping, tau=tau)
        known, stop = is_decided(logits, rule), choose_depth(logits, rule)
        alone = [choose_depth(path, rule) for path in logits]
        crossed = [one.t_star if one.crossed else None for one in alone]
        told["stops"].append((stop.t_star, stop.crossed) if known else None)
        told["pills"].append(pill(stop, stopping.horizon, crossed) if known else None)
    return told


@dataclass
class RunState:
    """One run; events go in.

    ``example``: the picture that it began with, None for an own one; ``key``: who knows it may
    see the run; ``kind``: the class that a visitor says her own picture shows; ``draws``: of a
    recorded run with other seeds, see :func:`app.presets.store.draws`; ``judged``: logits of each
    noise path, as far as they are known; ``search``: the paper's, ``by_tau``: where it ends at
    every tau, ``searches``: each system's; ``series``: what comes out at every depth, by system
    and for the noised states; ``shown``: each system's picture so far, uint8 ``[S, S, 3]``;
    ``results``: those that are finished; ``result``: the finished run. ``first``: the system that
    is wanted before the others; ``working``: more of a finished run is computed.
    """

    profile: Profile
    settings: Request
    subject: Picture
    example: Example | None = None
    source: Source = "run"
    first: str = "dga-guided"
    kind: str = ""
    draws: dict[str, int] = field(default_factory=dict)
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    phase: Phase = "forward"
    notice: str = ""
    error: str = ""
    working: bool = False
    tried: int = 0  # candidate explanations; how many there will be is not known
    forward: str = ""
    judged: list[NDArray[np.float64]] = field(default_factory=list)
    search: Search | None = None
    searches: dict[str, Search] = field(default_factory=dict)
    by_tau: dict[str, list[Any]] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    series: dict[str, DepthSeries] = field(default_factory=dict)
    shown: dict[str, Pixels] = field(default_factory=dict)
    results: dict[str, Reconstruction] = field(default_factory=dict)
    result: Adaptation | None = None

    def __post_init__(self) -> None:
        if self.source == "damaged":
            self.phase = "damaged"
        self.stopping = self.settings.stopping(self.profile)
        self.progress = Progress.of("forward", 0, self.extent, paths=self.settings.paths)
        self.lock = threading.RLock()  # Cancel comes from another thread than the events

    def repeats(self, other: RunState) -> bool:
        """Whether it can only end as the other one, which was not recorded elsewhere."""
        same = self.settings == other.settings and other.source != "recorded"
        return same and np.array_equal(self.subject.input, other.subject.input)

    def name_as(self, other: RunState | None) -> None:
        """An own picture stays what it was said to show, whatever is done to it."""
        if other is not None and np.array_equal(self.subject.whole, other.subject.whole):
            self.kind = other.kind

    def adopt(self, other: RunState) -> None:
        """Keep what a run that this one repeats has found: what is known stays as it is.

        Lists within lists may not get shorter, either: Gradio's differences of them are wrong.
        """
        for name in ("judged", "search", "by_tau", "forward", "result"):
            setattr(self, name, getattr(other, name))
        for name in ("searches", "lanes", "series", "shown", "results"):
            setattr(self, name, dict(getattr(other, name)))
        for name in self.shown.keys() - self.results.keys():  # half of one
            del self.shown[name]

    def begin(self) -> None:
        """Events come from now on."""
        self.source, self.phase, self.notice = "run", "forward", ""

    def wanted(self, slow: bool = False) -> list[System]:
        """What is to be computed: all that is missing, or everything anew, the first one's kind
        before the other; on a slow machine the first one alone.
        """
        left = [s for s in self.systems.values() if s.name not in self.results]
        left = left or list(self.systems.values())
        first = next((s for s in left if s.name == self.first), left[0])
        left.sort(key=lambda system: bool(system.explain) != bool(first.explain))
        return [first] if slow else left

    @cached_property
    def extent(self) -> int:
        """How deep the page looks."""
        return deepest_shown(self.profile, self.settings)

    @cached_property
    def systems(self) -> dict[str, System]:
        """Those that are compared, by name."""
        return {system.name: system for system in self.settings.usual(self.profile)}

    @property
    def truth(self) -> str | None:
        """The true class, if the classifier has it."""
        truth = self.example.truth if self.example else self.kind
        return truth if truth in self.profile.classifier.classes else None

    @property
    def curves(self) -> list[list[float]]:
        """Confidence on each noise path, as far as it is known."""
        return [confidence_from_logits(logits).tolist() for logits in self.judged]

    @property
    def explained(self) -> Search | None:
        """What was found by the system that explains the damage, once it is known."""
        found = (s for name, s in self.searches.items() if self.systems[name].explain)
        return next(found, None)

    def take(self, news: News) -> None:
        """Note one event."""
        with self.lock:
            if self.phase in ("cancelled", "error"):
                return
            if isinstance(news, Judged):
                self._judged(news)
            elif isinstance(news, SearchEnded):
                self._searched(news.system, news.search)
            elif isinstance(news, Scored):
                self.tried += 1
                self.progress = Progress(PROGRESS["explaining"].format(done=self.tried))
            elif isinstance(news, Step):
                self._stepped(news)
            elif isinstance(news, Reconstruction):
                self.results[news.system.name] = news
                self.shown[news.system.name] = news.image
            elif isinstance(news, Swept):
                # The noised states have a film of their own.
                sheet = b"" if news.system == NOISED else outcome_sheet(news.sweep.images)
                self.series[news.system] = DepthSeries(news.sweep.predictions, sheet)
            else:
                known = {name: self.results[name] for name in self.systems if name in self.results}
                self.phase, self.result = "done", replace(news, reconstructions=known)

    def _judged(self, news: Judged) -> None:
        if news.explained or self.search:  # not of the curve that is shown, or of one that is known
            return
        if news.path == len(self.judged):
            self.judged.append(np.empty(0))
        self.judged[news.path] = np.concatenate([self.judged[news.path], news.logits])
        last, paths = len(self.judged[news.path]) - 1, self.settings.paths
        total = max(self.extent, last)
        self.progress = Progress.of("forward", last, total, path=news.path, paths=paths)

    def _searched(self, system: System | None, search: Search) -> None:
        if system is None:
            self.phase = "reverse"
            if self.search is None or len(search.logits[0]) > len(self.judged[0]):
                self.search, self.judged = search, list(search.logits)
                self.by_tau = stops_by_tau(search.logits, self.stopping)
            return
        if system.name in self.results:
            return
        self.searches[system.name] = search
        self.lanes[system.name] = Lane(system.name, search.visited)
        if system.explain:
            self.shown[system.name] = search.restored

    def _stepped(self, step: Step) -> None:
        for name in step.systems:
            if name not in self.results:
                self.lanes[name].states.append(step.x)
                self.shown[name] = step.x0_hat
        first = self.lanes[step.systems[0]]
        done, total = first.visited.index(step.depth), len(first.visited) - 1
        self.progress = Progress.of("reverse", done, total, PLAIN[first.name])

    def film(self) -> None:
        """Show the noise going in, drawn from the seed alone."""
        schedule = Schedule.from_config(self.profile.schedule)
        path = ForwardPath(schedule, to_tensor(self.subject.input), self.settings.seed)
        forward = forward_sprites(computed(lambda: from_tensor(path.up_to(self.extent))))
        with self.lock:
            self.forward = forward

    def end(self, sentence: str = CANCELLED, phase: Phase = "cancelled") -> None:
        """Keep what exists, and say why no more comes."""
        with self.lock:
            whole = phase == "cancelled" and len(self.results) == len(self.systems)
            self.phase, self.error = ("done" if whole else phase), sentence

    @property
    def running(self) -> bool:
        """Whether events are still expected."""
        return self.phase in ("forward", "reverse")

    @property
    def busy(self) -> bool:
        """Whether something is computed: the run, or more of a finished one."""
        return self.running or self.working

    @property
    def settled(self) -> bool:
        """Whether the run has ended with a depth, so that something can be said of it."""
        return self.search is not None and not self.running
