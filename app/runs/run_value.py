"""A run as the page's script gets it: JSON with every picture, figure and sentence of Try it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.parts.pictures import data_uri, uri
from app.runs import links
from app.runs.sprites import COLUMNS, outcome_sheet
from app.words.try_it import AS_IT_CAME, AS_IT_IS, DAMAGE, UNKNOWN
from dga.images import Pixels
from dga.networks.classifier import Prediction
from dga.pipeline import Explained, Outcomes, Reconstruction, Route
from dga.profiles import Profile
from dga.record import remedies, sentence
from dga.request import Request
from dga.sentences import (
    SAME,
    Reading,
    Said,
    Story,
    cost,
    inverse_cost,
    per_mille,
    spent,
    spent_on_inverse,
    title,
)
from dga.stopping import Stop
from dga.titles import SYSTEMS
from dga.titles import title as named

if TYPE_CHECKING:
    from app.runs.run_state import RunState

OWN = ("dga", "dga-guided")  # methods whose depth follows the curve
FEW_CLASSES = 64  # of more, only those that occur are told
SHOWN = 32  # depths that the page shows unless a setting goes deeper


@dataclass(frozen=True)
class Line:
    """What comes out at depths 0, 1, ...; ``sheet``: a WebP file of the pictures, if shown."""

    predictions: Sequence[Prediction]
    sheet: bytes = b""

    @classmethod
    def of(cls, outcomes: Outcomes) -> Line:
        """The noised states themselves have a film of their own."""
        sheet = outcome_sheet(outcomes.images) if outcomes.route else b""
        return cls(outcomes.predictions, sheet)

    def reading(self, depth: int) -> Reading | None:
        """How the outcome at a depth is read, as far as it is known."""
        return reading(self.predictions[depth]) if depth < len(self.predictions) else None


def reading(prediction: Prediction) -> Reading:
    """The likeliest class."""
    return Reading(prediction.label, prediction.probability)


def known_classes(state: RunState, predictions: Iterable[Prediction]) -> tuple[str, ...]:
    """All classes; of a thousand only those that are among any picture's five likeliest."""
    every = state.profile.classifier.classes
    if len(every) <= FEW_CLASSES:
        return every
    seen = {label for prediction in predictions for label, _ in prediction.top(5)}
    return tuple(sorted(seen | ({state.truth} if state.truth else set())))


def run_value(state: RunState) -> dict[str, Any]:
    """What is known by now; sentences once the run has ended."""
    subject, lines = state.subject, state.lines
    predictions = [
        subject.input_prediction,
        *(p for line in lines.values() for p in line.predictions),
    ]
    predictions += [r.prediction for r in state.results.values()]
    if subject.clean_prediction is not None:
        predictions.append(subject.clean_prediction)
    classes = known_classes(state, predictions)

    def probs(prediction: Prediction) -> list[int]:
        shares = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [per_mille(shares[name]) for name in classes]

    def picture(pixels: Pixels, prediction: Prediction) -> dict[str, Any]:
        return {"src": data_uri(pixels), "probs": probs(prediction)}

    clean = subject.clean
    noised = lines.get("noised")
    return {
        "classes": classes,
        "truth": classes.index(state.truth) if state.truth in classes else None,
        "title": state.title,
        "damage": damage_words(state),
        "source": state.source,
        "notice": state.notice,
        "input": picture(subject.input, subject.input_prediction),
        "clean": None
        if clean is None or subject.clean_prediction is None
        else picture(clean, subject.clean_prediction),
        "forward": {"src": state.forward, "columns": COLUMNS, "depths": state.filmed},
        "forward_probs": [probs(p) for p in noised.predictions] if noised else [],
        "every": {
            name: {
                "src": uri(line.sheet, "webp"),
                "columns": COLUMNS,
                "probs": [probs(p) for p in line.predictions],
            }
            for name, line in lines.items()
            if name != "noised"
        },
        "dda_line": dda_line(state),
        "results": {
            name: _result(state, name, pixels, probs) for name, pixels in state.shown.items()
        },
        "found": found(state.explained) if state.explained else None,
        "link": links.write(
            state.profile, state.settings, state.example.name if state.example else None
        ),
        **(said(state) if state.settled else {}),
    }


def _result(state: RunState, name: str, pixels: Pixels, probs: Any) -> dict[str, Any]:
    """A picture so far; how it is read once it is finished."""
    result = state.results.get(name)
    unfinished = "running" if state.running else "interrupted"
    return {
        "src": data_uri(pixels),
        "probs": None if result is None else probs(result.prediction),
        "state": unfinished if result is None else "done",
    }


def damage_words(state: RunState) -> str:
    """``Impulse noise, severity 2``, or that the picture is as it came."""
    settings = state.settings
    if settings.corruption is None:
        return AS_IT_CAME
    return DAMAGE.format(corruption=named(settings.corruption), severity=settings.severity)


def dda_line(state: RunState) -> str | None:
    """On whose line the fixed depth lies: its own, DGA + G's where both are guided alike."""
    if "dda" in state.lines:
        return "dda"
    return "dga-guided" if guided_alike(state) and "dga-guided" in state.lines else None


def guided_alike(state: RunState) -> bool:
    """Whether DGA + G and the fixed depth give the same picture from the same depth."""
    routes = {route.name: route for route in state.settings.routes(state.profile)}
    return routes["dda"].alike(routes["dga-guided"])


def found(explained: Explained) -> dict[str, Any]:
    """What DGA+ found: a sentence, three gauges from 0 to 1, every candidate with its score."""
    explanation = explained.explanation
    degradation = explanation.degradation
    gain = degradation.exposure.gain
    exposure = "moved" if gain == 1 and any(degradation.exposure.offset) else f"x{gain:.2g}"
    blur = f"{degradation.blur:g} px" if degradation.blur else AS_IT_IS
    noise = f"{degradation.noise:.2f}" if degradation.noise else "none"
    sparse = degradation.impulses is not None  # how much of it is not known
    gauges = [
        ("exposure", exposure, math.log(max(gain, 1.0), 14.0)),
        ("sharpness", blur, degradation.blur / 4),
        ("noise", "impulses", None) if sparse else ("noise", noise, degradation.noise),
    ]
    return {
        "sentence": sentence(explained),
        "t_star": explained.stop.t_star,
        "gauges": [{"name": n, "words": w, "at": a and round(min(a, 1), 3)} for n, w, a in gauges],
        "scored": [
            [
                ", ".join(remedies(s.degradation)) or "nothing",
                None if s.score is None else round(s.score, 2),
                s.degradation == degradation,
            ]
            for s in explanation.scored
        ],
    }


def said(state: RunState) -> dict[str, Any]:
    """Every sentence that the page may need, by method and state, so that it only looks up."""
    told = _Told(state)
    return {
        "says": {**told.says, "unknown": UNKNOWN},
        "present": told.present,
        "second": {
            "fixed": told.rivals,
            "same": SAME if guided_alike(state) else "",
            "spent": told.spent,
        },
        "titles": {key: title(stop) for key, stop in told.stops.items()},
        "costs": told.costs,
    }


class _Told:
    """Sentences of one run, by method and by what was asked of it."""

    def __init__(self, state: RunState) -> None:
        self.state, before = state, reading(state.subject.input_prediction)
        self.story = Story(before, state.truth, state.stopping.horizon)
        self.brief = replace(self.story, before=Reading(before.label, None))
        self.says: defaultdict[str, dict[str, Said]] = defaultdict(dict)
        self.present: defaultdict[str, dict[str, Said]] = defaultdict(dict)
        self.costs: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
        self.spent: dict[str, str] = {}
        self.rivals: dict[str, Said] = {}
        deepest = state.stopping.max_depth
        stops = [Stop(depth, True) for depth in range(deepest + 1)]
        stops += [Stop(deepest, False), Stop(0, False)]
        self.stops = {key(stop): stop for stop in stops}
        routes = {route.name: route for route in state.settings.routes(state.profile)}
        for name in OWN:
            self._own(name, routes[name])
        self._fixed(routes["dda"])
        if "dga-plus" in state.results and state.explained is not None:
            self._plus(state.results["dga-plus"], state.explained)

    def _own(self, name: str, route: Route) -> None:
        state, line = self.state, self.state.lines.get(name)
        result, choosing = state.results.get(name), state.choosing
        for at, stop in self.stops.items():
            own = result if state.stop == stop else None
            after = self.story.before if not stop.t_star else _after(own, line, stop.t_star)
            if after is not None:
                self.says[name][at] = self.story.own_depth(SYSTEMS[name], stop, after)
                self.present[name][at] = self.story.shown(name, stop, after)
                self.costs[name][at] = _cost(route, stop.t_star, own, choosing)
        for depth, read in enumerate(line.predictions if line else ()):
            self.says[name][f"{depth}d"] = self.story.by_hand(depth, reading(read))
            self.present[name][f"{depth}d"] = self.brief.by_hand(depth, Reading(read.label, None))
        if result is not None and choosing is not None:
            self.spent[name] = spent(result.steps, result.seconds, choosing)

    def _fixed(self, route: Route) -> None:
        name, line = "dda", self.state.lines.get(dda_line(self.state) or "")
        result = self.state.results.get(name)
        depths = set(range(1, len(line.predictions))) if line else set()
        for depth in depths | ({result.depth} if result else set()):
            own = result if result and result.depth == depth else None
            after, at = _after(own, line, depth), str(depth)
            assert after is not None
            self.says[name][at] = self.story.fixed_depth(depth, after)
            self.present[name][at] = self.story.shown(name, Stop(depth, True), after)
            self.rivals[at] = self.story.rival(depth, after)
            self.costs[name][at] = _cost(replace(route, depth=depth), depth, own, None)
        if result is not None:
            self.spent[name] = spent(result.steps, result.seconds)

    def _plus(self, result: Reconstruction, explained: Explained) -> None:
        name, after, stop = "dga-plus", reading(result.prediction), explained.stop
        flat, line = explained.explanation.flat, self.state.lines.get(name)
        for depth, read in enumerate(line.predictions if line else ()):
            self.says[name][str(depth)] = self.story.plus_from(depth, reading(read))
            self.present[name][str(depth)] = self.brief.plus_from(depth, Reading(read.label, None))
        own = self.story.plus(sentence(explained), stop, explained.unchanged, flat, after)
        self.says[name]["own"] = own
        self.present[name]["own"] = self.story.shown(name, stop, after, explained.unchanged)
        if not result.steps and not explained.unchanged:
            self.costs[name]["own"] = inverse_cost(result.seconds)
            self.spent[name] = spent_on_inverse(result.seconds)
            return
        noised = max(0, stop.t_star - explained.explanation.entry)
        rebuilding = max(0.0, result.seconds - explained.seconds)
        self.costs[name]["own"] = cost(noised, result.steps, rebuilding, explained.seconds)
        self.spent[name] = spent(result.steps, rebuilding, explained.seconds, plus=True)


def _after(own: Reconstruction | None, line: Line | None, depth: int) -> Reading | None:
    """How the run's own picture is read, else the outcome at this depth, if it is known."""
    if own is not None:
        return reading(own.prediction)
    return None if line is None else line.reading(depth)


def _cost(
    route: Route, depth: int, own: Reconstruction | None, choosing: float | None
) -> tuple[str, str]:
    """Seconds only of what was really run."""
    steps = len(route.visited(depth)) - 1
    if own is None:
        return "", f"{depth} in, {steps} out" if steps else cost(0, 0, 0.0)[1]
    return cost(depth, steps, own.seconds, choosing)


def key(stop: Stop) -> str:
    """``7c``, or ``24n`` for one that the rule did not meet."""
    return f"{stop.t_star}{'c' if stop.crossed else 'n'}"


def extent(profile: Profile, settings: Request) -> int:
    """How deep the page looks."""
    deepest = max(SHOWN, settings.stopping(profile).max_depth, settings.dda_depth)
    return min(deepest, profile.schedule.steps)
