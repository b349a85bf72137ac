"""A run as the page's script gets it: JSON with every picture, figure and sentence of Try it."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.parts.pictures import data_uri, uri
from app.runs import links
from app.runs.run_state import DepthSeries, RunState
from app.runs.sprites import COLUMNS
from app.runs.watch import NOISED, alike, fixed_depth
from app.words.try_it import AS_IT_CAME, DAMAGE, FAINT, OWN_PICTURE, UNKNOWN
from dga.images import Pixels
from dga.networks.classifier import Prediction
from dga.pipeline import Reconstruction, Search, checked_repair
from dga.profiles import Profile, StoppingConfig
from dga.record import sentence
from dga.request import Request
from dga.sentences import (
    Reading,
    Sentence,
    Story,
    per_mille,
    spent,
    spent_on_inverse,
    title,
)
from dga.stopping import Stop
from dga.systems import System
from dga.titles import title as named

FEW_CLASSES = 64  # of more, only those that occur are named
FAINT_GAIN = 4  # from here on 8 bits have left few shades


def blank_value(profile: Profile, stopping: StoppingConfig | None = None) -> dict[str, Any]:
    """The page's value before any run: what its script takes for granted."""
    return {
        "key": "",
        "phase": "empty",
        "source": "",
        "steps": profile.schedule.steps,
        "tau": (stopping or profile.stopping).tau,
        "dda_depth": profile.dda_depth,
        "kinds": len(profile.classifier.classes),
        "side": profile.image_size,
        "classes": [],
        "title": "",
        "curves": [],
    }


def run_value(state: RunState) -> dict[str, Any]:
    """All that the page shows of the run, ready for JSON; sentences once it has ended.

    Lists are copies, so that Gradio sees growth.
    """
    with state.lock:
        if state.judged and not state.forward:
            state.film()  # drawn when it is first looked at
        value = blank_value(state.profile, state.stopping) | {
            "key": state.key,
            "phase": state.phase,
            "curves": state.curves,
            "lanes": [lane.value() for lane in state.lanes.values()],
            "dda_depth": state.settings.dda_depth,
            "progress": dataclasses.asdict(state.progress) if state.busy else None,
            "recorded": state.key if state.source == "recorded" else "",
            "draws": state.draws,
            "error": state.error,
            "title": state.example.title if state.example else OWN_PICTURE,
            "own": state.example is None,
            "damage": damage_words(state),
            "brief": brief_damage(state.settings),
            "source": state.source,
            "notice": state.notice,
            "forward": {"src": state.forward, "columns": COLUMNS, "depths": state.extent + 1},
            "dda_line": _fixed_series(state),
            "found": found(state.explained) if state.explained else None,
            "link": links.write(
                state.profile, state.settings, state.example.name if state.example else None
            ),
        }
        if search := state.search:
            value |= {"t_star": search.stop.t_star, "crossed": search.stop.crossed}
            value["x_t_star"] = data_uri(search.x_t_star) if search.stop.t_star else ""
            value |= {"mean": np.mean(value["curves"], 0).tolist(), **state.by_tau}
            value |= _Sentences(state, search).value()
        return value | _pictures(state)


def known_classes(state: RunState) -> tuple[str, ...]:
    """All classes; of a thousand only those that are among any picture's five likeliest."""
    every, subject = state.profile.classifier.classes, state.subject
    if len(every) <= FEW_CLASSES:
        return every
    known = [p for series in state.series.values() for p in series.predictions]
    known += [result.prediction for result in state.results.values()]
    known += [p for p in (subject.input_prediction, subject.clean_prediction) if p]
    seen = {label for prediction in known for label, _ in prediction.top(5)}
    return tuple(sorted(seen | ({state.truth} if state.truth else set())))


def _pictures(state: RunState) -> dict[str, Any]:
    """Every picture so far, and how it is read."""
    subject, series, classes = state.subject, dict(state.series), known_classes(state)

    def probs(prediction: Prediction) -> list[int]:
        shares = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [per_mille(shares[name]) for name in classes]

    def picture(pixels: Pixels | None, prediction: Prediction | None) -> dict[str, Any] | None:
        if pixels is None or prediction is None:
            return None
        return {"src": data_uri(pixels), "probs": probs(prediction)}

    def result(name: str, pixels: Pixels) -> dict[str, Any]:
        done = state.results.get(name)
        unfinished = "running" if state.running else "interrupted"
        shares = probs(done.prediction) if done else None
        return {"src": data_uri(pixels), "probs": shares, "state": "done" if done else unfinished}

    noised = series.pop(NOISED, DepthSeries(()))
    return {
        "classes": classes,
        "truth": classes.index(state.truth) if state.truth in classes else None,
        "input": picture(subject.input, subject.input_prediction),
        "clean": picture(subject.clean, subject.clean_prediction),
        "forward_probs": [probs(p) for p in noised.predictions],
        "every": {
            name: {
                "src": uri(one.sheet, "webp"),
                "columns": COLUMNS,
                "probs": [probs(p) for p in one.predictions],
            }
            for name, one in series.items()
        },
        "results": {name: result(name, pixels) for name, pixels in state.shown.items()},
    }


def damage_words(state: RunState) -> str:
    """``Impulse noise, severity 2``, or that the picture is as it came."""
    settings = state.settings
    if settings.corruption is None:
        return AS_IT_CAME
    return DAMAGE.format(corruption=named(settings.corruption), severity=settings.severity)


def brief_damage(settings: Request) -> str:
    """``Impulse noise 2``."""
    return f"{named(settings.corruption)} {settings.severity}" if settings.corruption else ""


def _fixed(state: RunState) -> System:
    """The system that noises every picture to the same depth."""
    return next(system for system in state.systems.values() if fixed_depth(system))


def _twins(state: RunState) -> list[str]:
    """Other systems that give the same picture as the fixed one from its depth."""
    fixed = _fixed(state)
    return [s.name for s in state.systems.values() if s != fixed and alike(s, fixed)]


def _fixed_series(state: RunState) -> str | None:
    """Whose outcomes at every depth are those of the fixed system, too: its own, or a twin's."""
    names = (_fixed(state).name, *_twins(state))
    return next((name for name in names if name in state.series), None)


def found(explained: Search) -> dict[str, Any]:
    """Where DGA+'s noise ends, which picture is noised, and what its repair cannot bring back.

    ``enters``: whether it is as noisy as a state of the forward process, and taken for one.
    """
    gain = explained.found.degradation.exposure.gain
    return {
        "limit": FAINT if gain >= FAINT_GAIN else "",
        "t_star": explained.stop.t_star,
        "enters": explained.found.entry >= explained.stop.t_star,
        "unchanged": explained.unchanged,
        "noised": data_uri(explained.x_t_star) if explained.stop.t_star else "",
    }


def reading(prediction: Prediction) -> Reading:
    """The likeliest class."""
    return Reading(prediction.label, prediction.probability)


class _Sentences:
    """Every sentence that the page may need, by system and state, so that it only looks up."""

    def __init__(self, state: RunState, search: Search) -> None:
        self.state, self.search = state, search
        before = reading(state.subject.input_prediction)
        self.story = Story(before, state.truth, state.stopping.horizon)
        self.brief = dataclasses.replace(self.story, before=Reading(before.label, None))
        self.says: defaultdict[str, dict[str, Sentence]] = defaultdict(dict)
        self.present: defaultdict[str, dict[str, Sentence]] = defaultdict(dict)
        self.spent: dict[str, str] = {}
        deepest = state.stopping.max_depth
        stops = [Stop(depth, True) for depth in range(deepest + 1)]
        stops += [Stop(deepest, False), Stop(0, False)]
        self.stops = {key(stop): stop for stop in stops}
        for system in state.systems.values():
            result = state.results.get(system.name)
            if system.explain:
                self._explained(system.name, result)
            elif fixed_depth(system):
                self._fixed(system, result)
            else:
                self._chosen(system, result)

    def value(self) -> dict[str, Any]:
        return {
            "says": {**self.says, "unknown": UNKNOWN},
            "present": self.present,
            "spent": self.spent,
            "same": bool(_twins(self.state)),
            "titles": {key: title(stop) for key, stop in self.stops.items()},
        }

    def _known(self, name: str | None) -> list[Reading]:
        """How a system's outcomes are read at depths 0, 1, ..."""
        series = self.state.series.get(name or "")
        return [reading(prediction) for prediction in series.predictions] if series else []

    def _chosen(self, system: System, result: Reconstruction | None) -> None:
        """A system whose depth follows the curve."""
        name, known, choosing = system.name, self._known(system.name), self.search.seconds
        guided = checked_repair(system).end.guidance is not None
        for at, stop in self.stops.items():
            own, depth = result if self.search.stop == stop else None, stop.t_star
            after = _after(own, known, depth) if depth else self.story.before
            if after is not None:
                self.says[name][at] = self.story.own_depth(stop, after, guided)
                self.present[name][at] = self.story.shown(name, stop, after)
        for depth, after in enumerate(known):
            self.says[name][f"{depth}d"] = self.story.by_hand(depth, after)
            self.present[name][f"{depth}d"] = self.brief.by_hand(depth, Reading(after.label, None))
        if result is not None:
            self.spent[name] = spent(result.steps, result.seconds, choosing)

    def _fixed(self, system: System, result: Reconstruction | None) -> None:
        name, known = system.name, self._known(_fixed_series(self.state))
        for depth in {*range(1, len(known)), *([result.depth] if result else [])}:
            own, at = result if result and result.depth == depth else None, str(depth)
            after = _after(own, known, depth)
            assert after is not None
            self.says[name][at] = self.story.fixed_depth(depth, after)
            self.present[name][at] = self.story.shown(name, Stop(depth, True), after)
        if result is not None:
            self.spent[name] = spent(result.steps, result.seconds)

    def _explained(self, name: str, result: Reconstruction | None) -> None:
        if result is None:
            return
        for depth, after in enumerate(self._known(name)):
            self.says[name][str(depth)] = self.story.plus_from(depth, after)
            self.present[name][str(depth)] = self.brief.plus_from(depth, Reading(after.label, None))
        after, search = reading(result.prediction), result.search
        stop, unchanged, choosing = search.stop, search.unchanged, search.seconds
        told = sentence(search), stop, unchanged, search.found.flat
        self.says[name]["own"] = self.story.plus(*told, after)
        self.present[name]["own"] = self.story.shown(name, stop, after, unchanged)
        if not result.steps and not unchanged:
            seconds = choosing + result.seconds
            self.spent[name] = spent_on_inverse(seconds)
            return
        self.spent[name] = spent(result.steps, result.seconds, choosing, plus=True)


def _after(own: Reconstruction | None, known: Sequence[Reading], depth: int) -> Reading | None:
    """How the run's own picture is read, else the outcome at this depth, if it is known."""
    if own is not None:
        return reading(own.prediction)
    return known[depth] if depth < len(known) else None


def key(stop: Stop) -> str:
    """``7c``, or ``24n`` for one that the rule did not meet."""
    return f"{stop.t_star}{'c' if stop.crossed else 'n'}"
