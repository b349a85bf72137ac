"""Be the repairer: a visitor undoes damage with DGA+'s inverses, against DGA+ itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import torch

from app.pages.learn.steps import LAND_WAITS, NO_PICTURE, TOO_SLOW
from app.pages.run_handlers import told
from app.parts.pictures import data_uri
from app.runs.beside import DroppedError, SideLane
from app.runs.compute_thread import computed
from app.runs.session import Session
from app.server.errors import RequestError, sentence_of
from app.server.turns import TURNS
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import UNCHANGED, Exposure
from dga.explanation.noise_level import matched_depth
from dga.explanation.search import Explanation, judge
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.networks.models import Models
from dga.pipeline import PictureCache, Rebuilt, classify, run
from dga.profiles import ExplanationConfig, Repair
from dga.record import remedies

MOST = {"exposure": 64, "sharpness": 32, "noise": 30}  # steps of each slider
ENDS = GAIN, BLUR, LEVEL = 32.0, 4.0, 0.6  # there: factor, pixels, standard deviation
COLUMNS, ROWS = 33, 17  # of the landscape: every second step of exposure and of sharpness
PIECE, CHECKED = 32, 8  # points an answer, and between two looks whether others are served


def order() -> list[tuple[int, int]]:
    """Column and row of the landscape's points, each once, coarse to fine."""
    grids = (product(range(0, COLUMNS, n), range(0, ROWS, n)) for n in (8, 4, 2, 1))
    return list(dict.fromkeys(point for grid in grids for point in grid))


def within(asked: Mapping[str, Any], name: str) -> int:
    """A slider's step; what a program says instead is kept within its range."""
    value = asked.get(name)
    if not isinstance(value, int | float) or value != value:  # NaN
        return 0
    return int(min(max(value, 0), MOST[name]))


@dataclass(frozen=True)
class Patient:
    """A damaged picture, ``[3, S, S]`` in [-1, 1], and the seed of its noise."""

    models: Models
    x: torch.Tensor
    seed: int

    def guess(self, exposure: int, sharpness: int, noise: int) -> Degradation:
        """What the sliders say was done to it; a gain is about the mean of each channel."""
        gain, blur = GAIN ** (exposure / MOST["exposure"]), sharpness / MOST["sharpness"] * BLUR
        red, green, blue = ((1 - gain) * self.x.mean((1, 2))).tolist()
        lightened = Exposure(gain, (red, green, blue)) if exposure else UNCHANGED
        regularisation = self._config.blurs[0][1] if blur else 0.0
        return Degradation(lightened, blur, regularisation, None, noise / MOST["noise"] * LEVEL)

    def scores(self, *guesses: Degradation) -> list[float | None]:
        """Mean logit of what each leaves, as DGA+ compares them; lower looks less damaged."""
        schedule, scores = self.models.schedule, list[float | None]()
        for noise, alike in groupby(guesses, lambda guess: guess.noise):
            entry = matched_depth(schedule, noise)
            depths = [entry + depth for depth in self._config.judged_at]
            asked = schedule, self.models.explainer, lambda one: one.inverse(self.x)[None]
            scores += judge(*asked, [*alike], depths, self.seed)
        return scores

    def undone(self, guess: Degradation) -> Pixels:
        """The picture after the inverse; its noise goes in DGA+'s one step from where it enters."""
        entry, plus = matched_depth(self.models.schedule, guess.noise), self.models.profile.plus
        found = Explanation(guess, entry, guess.noise)
        cache = PictureCache(self.models, self.x, self.seed, found)
        repair = Repair((plus.noisy or plus.end).at(entry), plus.explain)
        *_, last = run(self.models, self.x[None], [self.seed], [repair], [cache])
        assert isinstance(last, Rebuilt)
        return from_tensor(last.image)

    def tried(self, guess: Degradation) -> tuple[float | None, Pixels, Prediction]:
        """Its score, the picture afterwards, and what the classifier reads there."""
        (score,), picture = self.scores(guess), self.undone(guess)
        (said,) = classify(self.models, to_tensor(picture)[None].to(self.x))
        return score, picture, said

    def compared(self, found: Explanation) -> tuple[Pixels, dict[str, Any]]:
        """The network's own choice: its picture, both scores, and where it lies on the sliders."""
        mine = found.degradation
        gain = math.log(max(mine.exposure.gain, 1.0), GAIN)
        shares = zip((gain, mine.blur / BLUR, mine.noise / LEVEL), MOST.values(), strict=True)
        at = [round(min(share, 1) * most, 1) for share, most in shares]
        told = {"at": at, "calls": len(found.scored), "did": ", ".join(remedies(mine))}
        return self.undone(mine), {"scores": self.scores(NO_DEGRADATION, mine), "network": told}

    @property
    def _config(self) -> ExplanationConfig:
        return self.models.profile.plus.explain or ExplanationConfig()


class Toy:
    """What the sliders ask, answered outside the queue; ``patients``: those that are ready.

    Of the landscape a slice is kept for everybody; more of it is computed only while nobody is
    served.
    """

    def __init__(self, session: Session, patients: Mapping[str, Patient], lane: SideLane) -> None:
        self.session, self.patients, self.lane, self.points = session, patients, lane, order()
        self.slices: dict[tuple[str, int], list[float | None]] = {}

    def move(self, visitor: str, text: object) -> dict[str, Any]:
        """The picture with these settings, its score, and what the classifier reads."""
        return self._answer(self._moved, visitor, told(text), ask=told(text).get("ask"))

    def land(self, visitor: str, text: object) -> dict[str, Any]:
        """A piece of the landscape at a noise level, from its point ``start`` on."""
        echo = {name: told(text).get(name) for name in ("case", "noise", "start")}
        return self._answer(self._landed, visitor, told(text), **echo)

    def _answer(
        self,
        work: Callable[[str, Patient, Mapping[str, Any]], dict[str, Any]],
        visitor: str,
        asked: Mapping[str, Any],
        **echo: Any,
    ) -> dict[str, Any]:
        try:
            patient = self.patients.get(str(asked.get("case")))
            if patient is None or self.session.pace is not None:
                raise RequestError(NO_PICTURE if patient is None else TOO_SLOW)
            return echo | work(visitor, patient, asked)
        except DroppedError as dropped:
            return echo | {"error": LAND_WAITS if str(dropped) else "", "waits": True}
        except Exception as error:
            return echo | {"error": sentence_of(error)}

    def _moved(self, visitor: str, patient: Patient, asked: Mapping[str, Any]) -> dict[str, Any]:
        with TURNS.turn():
            guess = patient.guess(*(within(asked, name) for name in MOST))
            score, picture, said = computed(patient.tried, guess)
        return {"score": score, "picture": data_uri(picture), "top": said.top(1)}

    def _landed(self, visitor: str, patient: Patient, asked: Mapping[str, Any]) -> dict[str, Any]:
        noise, start = within(asked, "noise"), asked.get("start")
        if not isinstance(start, int) or not 0 <= start < len(self.points):
            raise RequestError(NO_PICTURE)
        known = self.slices.setdefault((str(asked["case"]), noise), [])
        if start >= len(known):
            with self.lane.served(visitor) as ended:
                until = min(len(known) + PIECE, len(self.points))
                while len(known) < until:
                    self.lane.check(ended)
                    part = self.points[len(known) : min(len(known) + CHECKED, until)]
                    guesses = (patient.guess(2 * i, 2 * j, noise) for i, j in part)
                    known += computed(patient.scores, *guesses)
        return {"scores": known[start : start + PIECE]}
