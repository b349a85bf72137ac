"""What the guided walk shows: numbers and pictures that the loaded models made."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from app.pages.learn.toy import Patient, order
from app.parts.examples import Example
from app.parts.pictures import data_uri, uri
from app.presets.cases import PATHS
from app.presets.store import Presets
from app.runs.compute_thread import computed
from app.runs.run_state import RunState
from app.runs.session import Session
from app.runs.sprites import jpeg
from dga.corruptions import SEVERITIES, corrupt
from dga.diffusion import forward_path
from dga.discriminator import judge_states
from dga.explanation.noise_level import matched_depth, noise_deviation
from dga.guidance import low_pass, structural_loss
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.pipeline import Stepped, Stopped, classify, run
from dga.profiles import End, GuidanceConfig, Repair
from dga.record import sentence
from dga.request import Request
from dga.sentences import pill
from dga.stopping import confidence_from_logits
from dga.titles import title

TOP = 3
FILM_QUALITY = 70


@dataclass(frozen=True)
class LessonPicture:
    """A picture, its damage, and the seed of that and of the noise."""

    picture: str
    corruption: str
    severity: int
    seed: int = 0


MEET = tuple(
    LessonPicture("cat", name, 0) for name in ("brightness", "defocus_blur", "impulse_noise")
)
MAIN = LessonPicture("cat", "gaussian_noise", 2, 38)
GUIDED = LessonPicture("cat", "defocus_blur", 3)
COMPARED = (
    MAIN,
    LessonPicture("horse", "brightness", 3),
    LessonPicture("lake", "contrast", 3),
    LessonPicture("lion", "gaussian_noise", 3, 7),
)
ROUNDS_SEED = 7  # the same noise on both pictures of a pair
# Twelve rounds of "which one was damaged?", from what noise hides soon to what it hides late.
ROUNDS = tuple(
    LessonPicture(picture, corruption, severity, ROUNDS_SEED)
    for picture, damages in {
        "cat": {"gaussian_noise": 1, "elastic_transform": 2, "defocus_blur": 1},
        "lion": {"gaussian_noise": 2, "pixelate": 2, "fog": 1},
        "horse": {"impulse_noise": 2, "frost": 1, "motion_blur": 2},
        "lake": {"shot_noise": 1, "pixelate": 3, "zoom_blur": 1},
    }.items()
    for corruption, severity in damages.items()
)
LADDER = (0, 3, 6, 10, 15, 20, 28, 36)  # depths of the rounds, deeper as answers are right
FILM_DEPTHS = 41
NOISY = LessonPicture("cat", "gaussian_noise", 0)
DAMAGED = (  # flat, noisy, blurred, and one that DGA+ does not save
    LessonPicture("lake", "contrast", 5, 3),
    LessonPicture("lion", "gaussian_noise", 3, 7),
    LessonPicture("lion", "zoom_blur", 4, 7),
    LessonPicture("cat", "motion_blur", 3, 6),
)
PARTS = ("meet", "film", "game", "judge", "reverse", "guide", "toy", "level", "plus", "depth")


class Lesson:
    """Made once a process, a part at a time, when the first visitor asks.

    ``patients``: what the repairer works on goes in there.
    """

    def __init__(
        self, session: Session, examples: Mapping[str, Example], patients: dict[str, Patient]
    ) -> None:
        self.session, self.models, self.examples = session, session.models, examples
        self.presets, self.patients = Presets(session, list(examples.values())), patients
        self._runs: dict[LessonPicture, RunState] = {}
        self.made: dict[str, Any] = {}
        self._lock = threading.Lock()

    def parts(self) -> Iterator[dict[str, Any]]:
        """All parts of ``made`` that are ready, after each that had to be made."""
        for name in PARTS:
            with self._lock:
                if name not in self.made:
                    self.made[name] = computed(getattr(self, f"_{name}"))
            if len(self.made) < len(PARTS):
                yield dict(self.made)
        yield dict(self.made)

    def ran(self, case: LessonPicture) -> RunState:
        """The run that Try it shows of this case: the recorded one, if there is one.

        Of ``DAMAGED`` without one it has DGA+ alone.
        """
        if case not in self._runs:
            profile, example = self.models.profile, self.examples[case.picture]
            damage = {"corruption": case.corruption, "severity": case.severity, "seed": case.seed}
            settings = Request.of(profile, **damage, paths=PATHS)
            recorded = self.presets.find(case.picture, settings)
            if recorded is None:
                subject = self.session.subject(example.path, settings)
                state = RunState(profile, settings, subject, example)
                chosen = list(state.systems.values())
                if case in DAMAGED and case not in COMPARED:
                    chosen = [system for system in chosen if system.explain]
                asked = subject.input, settings, None, state.extent, chosen
                for event in self.session.events(*asked):
                    state.take(event)
            self._runs[case] = recorded.state if recorded else state
        return self._runs[case]

    def _meet(self) -> list[dict[str, Any]]:
        """Labels of one picture at severities 0 (undamaged) to 5."""
        made = []
        for case in MEET:
            damaged = [self._damaged(replace(case, severity=s)) for s in SEVERITIES]
            told = self._read([self._clean(case.picture), *damaged])
            made.append({"title": title(case.corruption), **told})
        return made

    def _film(self) -> dict[str, Any]:
        """The same noise on an undamaged and on a damaged picture, down to a depth beyond use."""
        signal = self.models.schedule.alpha_bar.sqrt()[:FILM_DEPTHS]
        pictures = {"clean": self._clean(MAIN.picture), "damaged": self._damaged(MAIN)}
        films = {
            name: film(from_tensor(self._path(pixels, MAIN.seed)[:FILM_DEPTHS]), 0)
            for name, pixels in pictures.items()
        }
        return {**films, "signal": signal.tolist(), "damage": _damage(MAIN)}

    def _game(self) -> dict[str, Any]:
        """Pairs at the depths of the ladder, and how sure the discriminator is of each picture."""
        clean = {name: self._rungs(self._clean(name)) for name in {c.picture for c in ROUNDS}}
        rounds = []
        for case in ROUNDS:
            states, sure = self._rungs(self._damaged(case))
            both = np.stack([clean[case.picture][1], sure], axis=1).round(4).tolist()  # [K, 2]
            told = {"picture": case.picture, "damage": _damage(case)}
            rounds.append(told | {"film": film(states, 0), "sure": both})
        pictures = {name: film(states, 0) for name, (states, _) in clean.items()}
        return {"depths": LADDER, "clean": pictures, "rounds": rounds}

    def _rungs(self, pixels: Pixels) -> tuple[Pixels, NDArray[np.float64]]:
        """One picture at the depths of the ladder, and the discriminator's confidence there."""
        path, depths = self._path(pixels, ROUNDS_SEED), torch.tensor(LADDER)
        states = path[list(LADDER)]
        logits = judge_states(self.models.schedule, self.models.discriminator, states, depths)
        return from_tensor(states), confidence_from_logits(logits.double().numpy())

    def _judge(self) -> dict[str, Any]:
        """The damaged picture's confidence by depth; where the rule stops at every tau."""
        state = self.ran(MAIN)
        return {
            "damaged": np.mean(state.curves, 0).round(4).tolist(),
            "tau": state.stopping.tau,
            "max_depth": state.stopping.max_depth,
            "horizon": state.stopping.horizon,
            "stops": state.by_tau["stops"][:-1],  # the last is the run's own
        }

    def _reverse(self) -> dict[str, Any]:
        """Every state on the way back from t*, and the clean estimate at each."""
        states, guesses = (from_tensor(x) for x in self._way_back(MAIN))
        depth = len(states) - 1
        return {"depth": depth, "x": film(states, depth), "x0": film(guesses, depth)}

    def _way_back(
        self, case: LessonPicture, guidance: GuidanceConfig | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """States from t* to depth 0 and the guess at each, ``[t* + 1, 3, S, S]``."""
        search, states, guesses = self.ran(case).search, [], []
        assert search
        x, end = self._tensor(self._damaged(case)), End(depth=search.stop.t_star, guidance=guidance)
        for event in run(self.models, x[None], [case.seed], [Repair(end)]):
            if isinstance(event, Stopped):
                states.append(event.path.states.at(search.stop.t_star))
            elif isinstance(event, Stepped):
                states.append(event.x[0])
                guesses.append(event.x0_hat[0])
        # The last state is its own estimate; without any step so is the first.
        return torch.stack(states), torch.stack([*guesses, states[-1]])

    def _guide(self) -> dict[str, Any]:
        """One picture rebuilt with lambda 0, the profile's, and four times that.

        ``swings``: of each, the steps in which the low frequencies of the guess went past the
        input's, because the gradient of a norm has the same length however small that is.
        """
        damaged, own = self._damaged(GUIDED), self.models.profile.ancestral.guidance
        x, scales = self._tensor(damaged), (0.0, own.scale, 4 * own.scale)
        rebuilt, gaps, swings = list[Pixels](), list[float](), list[int]()
        for scale in scales:
            _, guesses = self._way_back(GUIDED, replace(own, scale=scale) if scale else None)
            rebuilt.append(from_tensor(guesses[-1]))
            gap = structural_loss(self._tensor(rebuilt[-1])[None], x[None], own)
            gaps.append(round(float(gap), 2))
            ways = low_pass(guesses[:-1] - x, own.factor).flatten(1)
            turned = torch.cosine_similarity(ways[1:], ways[:-1]) < 0
            swings.append(0 if own.squared else int(turned.sum()))
        known = {"damage": _damage(GUIDED), "scales": scales, "steps": len(guesses) - 1}
        return {**known, "gaps": gaps, "swings": swings, **self._read([damaged, *rebuilt])}

    def _toy(self) -> dict[str, Any]:
        """Damaged pictures, and what DGA+ chose for each: see :mod:`app.pages.learn.toy`."""
        cases = {}
        for case in DAMAGED:
            state, name = self.ran(case), f"{case.picture}-{case.corruption}"
            assert state.explained
            patient = Patient(self.models, self._tensor(state.subject.input), case.seed)
            mine, network = patient.compared(state.explained.found)
            told = self._read([self._clean(case.picture), state.subject.input, mine])
            cases[name] = {**self._named(case), **told, **network}
            self.patients[name] = patient
        return {"order": order(), "cases": cases}

    def _level(self) -> dict[str, Any]:
        """Noisy pictures, their level, and the depth at which noise of that level was added."""
        noisy = np.stack([self._damaged(replace(NOISY, severity=s)) for s in SEVERITIES])
        levels = noise_deviation(self._tensor(noisy)).tolist()
        entries = [matched_depth(self.models.schedule, level) for level in levels]
        told = {"noisy": film(noisy, *range(len(noisy))), "levels": levels, "entries": entries}
        return {**told, "deepest": min(max(entries) + 4, FILM_DEPTHS - 1)}

    def _plus(self) -> list[dict[str, Any]]:
        """What DGA+ made of the same pictures: damaged, with the damage undone, rebuilt."""
        made = []
        for case in DAMAGED:
            state = self.ran(case)
            explained, after = state.explained, state.results["dga-plus"]
            assert explained
            (between,) = classify(self.models, self._tensor(explained.restored)[None])
            told = _told([(explained.restored, between), (after.image, after.prediction)], state)
            made.append({**self._named(case), "said": sentence(explained), **told})
        return made

    def _depth(self) -> dict[str, Any]:
        """Four pictures: rebuilt from their own depth, from one for all, and with diagnosis."""
        cases = []
        for case in COMPARED:
            state = self.ran(case)
            assert state.search
            assert state.explained
            results = [state.results[name] for name in ("dga-guided", "dda", "dga-plus")]
            told = _told([(result.image, result.prediction) for result in results], state)
            stop = pill(state.search.stop, state.stopping.horizon)[0]
            said = stop, None, sentence(state.explained)
            cases.append({**self._named(case), "said": said, **told})
        return {"fixed": self.models.profile.dda_depth, "cases": cases}

    def _named(self, case: LessonPicture) -> dict[str, Any]:
        example = self.examples[case.picture]
        damage = f"{title(case.corruption)} {case.severity}"
        return {"title": f"{example.title}: {damage}", "truth": example.truth}

    def _clean(self, name: str) -> Pixels:
        return self.examples[name].pixels(self.models.profile.image_size)

    def _damaged(self, case: LessonPicture) -> Pixels:
        return corrupt(self._clean(case.picture), case.corruption, case.severity, case.seed).copy()

    def _tensor(self, pixels: Pixels) -> torch.Tensor:
        return to_tensor(pixels).to(self.models.device)

    def _path(self, pixels: Pixels, seed: int) -> torch.Tensor:
        return forward_path(self.models.schedule, self._tensor(pixels), seed)

    def _read(self, pictures: Sequence[Pixels]) -> dict[str, Any]:
        """:func:`_told` of pictures that no run has read."""
        x = torch.stack([self._tensor(picture) for picture in pictures])  # [B, 3, S, S]
        return _told([*zip(pictures, classify(self.models, x), strict=True)])


def _told(
    shown: Sequence[tuple[Pixels, Prediction]], state: RunState | None = None
) -> dict[str, Any]:
    """Pictures in one strip, exact, and the classifier's likeliest classes for each.

    ``state``: whose damaged picture comes before them.
    """
    if state is not None:
        shown = [(state.subject.input, state.subject.input_prediction), *shown]
    top = [[[name, round(p, 4)] for name, p in said.top(TOP)] for _, said in shown]
    strip = data_uri(np.concatenate([picture for picture, _ in shown], axis=1))
    return {"pictures": {"uri": strip, "count": len(shown)}, "top": top}


def _damage(case: LessonPicture) -> str:
    return f"{title(case.corruption)}, severity {case.severity}"


def film(frames: Pixels, *exact: int) -> dict[str, Any]:
    """Many pictures, ``[n, S, S, 3]``, in one strip; colours keep their resolution.

    ``exact``: those without much noise, in which a compressed one would show grain of its own.
    """
    strip = np.concatenate(list(frames), axis=1)
    whole = {str(index): data_uri(frames[index]) for index in exact}
    return {"uri": uri(jpeg(strip, FILM_QUALITY), "jpeg"), "count": len(frames), "exact": whole}
