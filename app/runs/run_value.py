"""A run as the page's script gets it: JSON with every picture, figure and sentence of Try it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from app.parts.pictures import data_uri
from app.runs import links
from app.runs.sprites import COLUMNS, outcome_sheet, webp_uri
from app.words.try_it import (
    AS_IT_CAME,
    AS_IT_IS,
    DAMAGE,
    ONE_STEP_NOTE,
    READ_AS,
    UNKNOWN,
)
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
    pill,
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
    exact: bool = True

    @classmethod
    def of(cls, outcomes: Outcomes) -> Line:
        """The noised states themselves have a film of their own."""
        sheet = outcome_sheet(outcomes.images) if outcomes.route else b""
        return cls(outcomes.predictions, sheet, outcomes.exact)

    def reading(self, depth: int) -> Reading | None:
        """How the outcome at a depth is read, as far as it is known."""
        return reading(self.predictions[depth]) if depth < len(self.predictions) else None


def reading(prediction: Prediction) -> Reading:
    """The likeliest class."""
    return Reading(prediction.label, prediction.probability)


def story(state: RunState) -> Story:
    """The facts of a run that hold at every depth."""
    before = reading(state.subject.input_prediction)
    return Story(before, state.truth, state.stopping.horizon)


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
        "read_as": READ_AS,
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
                "src": webp_uri(line.sheet),
                "columns": COLUMNS,
                "probs": [probs(p) for p in line.predictions],
                "exact": line.exact,
                "note": "" if line.exact else ONE_STEP_NOTE,
            }
            for name, line in lines.items()
            if name != "noised"
        },
        "dda_line": dda_line(state),
        "results": {
            name: _result(state, name, pixels, probs) for name, pixels in state.shown.items()
        },
        "found": found(state.explained) if state.explained else None,
        "link": link(state),
        "own": state.example is None,
        **(said(state) if state.settled else {}),
    }


def _result(state: RunState, name: str, pixels: Pixels, probs: Any) -> dict[str, Any]:
    result = state.results.get(name)
    value: dict[str, Any] = {"src": data_uri(pixels), "probs": None, "top": [], "depth": None}
    value["state"] = "running" if state.running else "interrupted"
    if result is None:
        return value
    return value | {
        "probs": probs(result.prediction),
        "top": [[label, per_mille(share)] for label, share in result.prediction.top(5)],
        "depth": result.depth,
        "steps": result.steps,
        "seconds": round(result.seconds, 2),
        "state": "done",
    }


def damage_words(state: RunState) -> str:
    """``Impulse noise, severity 2``, or that the picture is as it came."""
    settings = state.settings
    if settings.corruption is None:
        return AS_IT_CAME
    return DAMAGE.format(corruption=named(settings.corruption), severity=settings.severity)


def link(state: RunState) -> str:
    """The query that restores the run, without tau and DDA's depth: the script has them."""
    query = links.write(
        state.profile, state.settings, state.example.name if state.example else None
    )
    kept = [(key, value) for key, value in parse_qsl(query[1:]) if key not in ("tau", "dda")]
    return f"?{urlencode(kept)}"


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
    moved = any(degradation.exposure.offset)
    noise = f"{degradation.noise:.2f}" if degradation.noise else ""
    impulses = "" if degradation.impulses is None else "impulses"
    gauges = [
        ("exposure", f"x{gain:.2g}" if gain != 1 or not moved else "moved", _log(gain, 14.0)),
        (
            "sharpness",
            f"{degradation.blur:g} px" if degradation.blur else AS_IT_IS,
            degradation.blur / 4,
        ),
        ("noise", noise or impulses or "none", degradation.noise),
    ]
    return {
        "sentence": sentence(explained),
        "t_star": explained.stop.t_star,
        "entry": explanation.entry,
        "exact": explained.denoised,
        "gauges": [{"name": n, "words": w, "at": round(min(a, 1.0), 3)} for n, w, a in gauges],
        "scored": [
            [
                ", ".join(remedies(s.degradation)) or "nothing",
                None if s.score is None else round(s.score, 2),
                s.degradation == degradation,
            ]
            for s in explanation.scored
        ],
    }


def _log(value: float, most: float) -> float:
    return math.log(max(value, 1.0)) / math.log(most)


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


def pills(state: RunState) -> list[tuple[str, str] | None]:
    """What stands at t*, and beside it, at every tau; None where the stop is not known."""
    return [
        None if stop is None else pill(Stop(*stop), state.stopping.horizon, alone)
        for stop, alone in zip(state.stops, zip(*state.alone, strict=True), strict=True)
    ]


class _Told:
    """Sentences of one run."""

    def __init__(self, state: RunState) -> None:
        self.state, self.story = state, story(state)
        self.steps = state.profile.schedule.steps
        self.says: dict[str, dict[str, Said]] = {}
        self.present: dict[str, dict[str, Said]] = {}
        self.costs: dict[str, dict[str, tuple[str, str]]] = {}
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
        says, present, costs = {}, {}, {}
        for which, stop in self.stops.items():
            own = result is not None and state.stop == stop
            after = None if line is None else line.reading(stop.t_star)
            if own:
                assert result is not None
                after = reading(result.prediction)
            if not stop.t_star:
                after = self.story.before
            if after is None:
                continue
            says[which] = self.story.own_depth(SYSTEMS[name], stop, after)
            present[which] = self.story.shown(name, stop, after)
            steps = len(route.visited(stop.t_star)) - 1
            seconds = result.seconds if own and result else None
            costs[which] = self._cost(stop.t_star, steps, seconds, choosing)
        for depth, prediction in enumerate(line.predictions if line else ()):
            says[f"{depth}d"] = self.story.by_hand(depth, reading(prediction))
        self.says[name], self.present[name], self.costs[name] = says, present, costs
        if result is not None and choosing is not None:
            self.spent[name] = spent(result.steps, result.seconds, choosing)

    def _cost(
        self, noised: int, steps: int, seconds: float | None, choosing: float | None
    ) -> tuple[str, str]:
        """Seconds only of what was really run."""
        if seconds is None:
            return "", f"{noised} in, {steps} out" if steps else cost(0, 0, 0.0)[1]
        return cost(noised, steps, seconds, choosing)

    def _fixed(self, route: Route) -> None:
        state, which = self.state, dda_line(self.state)
        known = {}
        if which is not None:
            line = state.lines[which]
            known = {k: line.reading(k) for k in range(1, len(line.predictions))}
        result = state.results.get("dda")
        if result is not None:
            known[result.depth] = reading(result.prediction)
        says, present, costs = {}, {}, {}
        for depth, after in known.items():
            assert after is not None
            at, own = str(depth), result is not None and result.depth == depth
            says[at] = self.story.fixed_depth(depth, after)
            present[at] = self.story.shown("dda", Stop(depth, True), after)
            self.rivals[at] = self.story.rival(depth, after)
            steps = len(route.sampler.visited(depth)) - 1
            seconds = result.seconds if own and result else None
            costs[at] = self._cost(depth, steps, seconds, None)
        self.says["dda"], self.present["dda"], self.costs["dda"] = says, present, costs
        if result is not None:
            self.spent["dda"] = spent(result.steps, result.seconds)

    def _plus(self, result: Reconstruction, explained: Explained) -> None:
        name, after, stop = "dga-plus", reading(result.prediction), explained.stop
        flat = explained.explanation.flat
        own = self.story.plus(sentence(explained), stop, explained.unchanged, flat, after)
        line = self.state.lines.get(name)
        hovered = range(len(line.predictions)) if line else range(0)
        says = {
            str(k): self.story.plus_from(k, reading(line.predictions[k])) for k in hovered if line
        }
        self.says[name] = {"own": own, **says}
        self.present[name] = {"own": self.story.shown(name, stop, after, explained.unchanged)}
        noised = max(0, stop.t_star - explained.explanation.entry)
        rebuilding = max(0.0, result.seconds - explained.seconds)
        self.costs[name] = {"own": cost(noised, result.steps, rebuilding, explained.seconds)}
        self.spent[name] = spent(result.steps, rebuilding, explained.seconds, plus=True)
        if not result.steps and not explained.unchanged:
            self.costs[name] = {"own": inverse_cost(result.seconds)}
            self.spent[name] = spent_on_inverse(result.seconds)


def key(stop: Stop) -> str:
    """``7c``, or ``24n`` for one that the rule did not meet."""
    return f"{stop.t_star}{'c' if stop.crossed else 'n'}"


def extent(profile: Profile, settings: Request) -> int:
    """How deep the page looks."""
    deepest = max(SHOWN, settings.stopping(profile).max_depth, settings.dda_depth)
    return min(deepest, profile.schedule.steps)
