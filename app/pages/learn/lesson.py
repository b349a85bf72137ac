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
from dga.pipeline import Rebuilt, Stepped, Stopped, classify, judge_further, run
from dga.profiles import End, Repair
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
    LessonPicture("cat", name, 0) for name in ("impulse_noise", "defocus_blur", "brightness")
)
MAIN = LessonPicture("cat", "impulse_noise", 2, 1)
GUIDED = LessonPicture("cat", "defocus_blur", 3)
COMPARED = (
    MAIN,
    LessonPicture("cheetah-face", "impulse_noise", 3, 7),
    LessonPicture("lion", "gaussian_noise", 3, 7),
    LessonPicture("cheetah", "gaussian_noise", 2, 7),
)
ROUNDS_SEED = 7  # the same noise on both pictures of a pair
# Twelve rounds of "which one was damaged?", from what noise hides soon to what it hides late.
ROUNDS = tuple(
    LessonPicture(picture, corruption, severity, ROUNDS_SEED)
    for picture, damages in {
        "cat": {"gaussian_noise": 1, "elastic_transform": 2, "defocus_blur": 1},
        "lion": {"gaussian_noise": 2, "pixelate": 2, "fog": 1},
        "cheetah-face": {"impulse_noise": 2, "frost": 1, "zoom_blur": 1},
        "cheetah": {"shot_noise": 1, "pixelate": 3, "motion_blur": 2},
    }.items()
    for corruption, severity in damages.items()
)
LADDER = (0, 3, 6, 10, 15, 20, 28, 36)  # depths of the rounds, deeper as answers are right
FILM_DEPTHS = 41
NOISY = LessonPicture("cat", "gaussian_noise", 0)
DAMAGED = (  # flat, noisy, blurred, and one that DGA+ does not save
    LessonPicture("cat", "contrast", 5, 7),
    LessonPicture("cheetah-face", "gaussian_noise", 3, 7),
    LessonPicture("cheetah-face", "zoom_blur", 4, 7),
    LessonPicture("cat", "motion_blur", 4, 7),
)
PARTS = ("meet", "film", "game", "judge", "reverse", "guide", "toy", "level", "plus", "depth")


class Lesson:
    """Made once a process, a part at a time, when the first visitor asks."""

    def __init__(self, session: Session, examples: Mapping[str, Example]) -> None:
        self.session, self.models, self.examples = session, session.models, examples
        self.presets = Presets(session, list(examples.values()))
        self.patients: dict[str, Patient] = {}
        self._runs: dict[LessonPicture, RunState] = {}
        self._made: dict[str, Any] = {}
        self._lock = threading.Lock()

    def parts(self) -> Iterator[dict[str, Any]]:
        """All parts that are ready, after each that had to be made."""
        for name in PARTS:
            with self._lock:
                if name not in self._made:
                    self._made[name] = getattr(self, f"_{name}")()
            if len(self._made) < len(PARTS):
                yield dict(self._made)
        yield dict(self._made)

    def ran(self, case: LessonPicture) -> RunState:
        """The run that Try it shows of this case: the recorded one, if there is one.

        Of ``DAMAGED`` without one it has DGA+ alone.
        """
        if case not in self._runs:
            profile, example = self.models.profile, self.examples[case.picture]
            damage = {"corruption": case.corruption, "severity": case.severity, "seed": case.seed}
            settings = Request.of(profile, **damage, paths=PATHS)
            recorded = self.presets.find(case.picture, settings)
            if recorded is not None:
                self._runs[case] = recorded.state
            else:
                subject = self.session.subject(example.path, settings)
                state = RunState(profile, settings, subject, example)
                alone = case in DAMAGED
                for event in self.session.events(subject.input, settings, quick=alone):
                    state.take(event)
                self._runs[case] = state
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
        names = {case.picture for case in ROUNDS}
        clean = {name: self._rungs(self._clean(name)) for name in names}
        rounds = []
        for case in ROUNDS:
            states, sure = self._rungs(self._damaged(case))
            both = np.stack([clean[case.picture][1], sure], axis=1)  # [K, 2]
            rounds.append(
                {
                    "picture": case.picture,
                    "film": film(states, 0),
                    "damage": _damage(case),
                    "sure": both.round(4).tolist(),
                }
            )
        pictures = {name: film(states, 0) for name, (states, _) in clean.items()}
        return {"depths": LADDER, "clean": pictures, "rounds": rounds}

    def _rungs(self, pixels: Pixels) -> tuple[Pixels, NDArray[np.float64]]:
        """One picture at the depths of the ladder, and the discriminator's confidence there."""
        path, depths = self._path(pixels, ROUNDS_SEED), torch.tensor(LADDER)
        states = path[list(LADDER)]
        logits = judge_states(self.models.schedule, self.models.discriminator, states, depths)
        return from_tensor(states), confidence_from_logits(logits.double().numpy())

    def _judge(self) -> dict[str, Any]:
        """The damaged picture's confidence at every depth; where the rule stops at every tau."""
        state, steps = self.ran(MAIN), self.models.schedule.steps
        known = len(state.judged[0])
        if known <= steps:
            asked = state.subject.input, MAIN.seed, state.settings.paths, known
            *_, rest = judge_further(self.models, *asked)
            assert isinstance(rest, np.ndarray)
            state.deepen(rest)
        return {
            "damaged": np.mean(state.curves, 0).round(4).tolist(),
            "tau": state.stopping.tau,
            "max_depth": state.stopping.max_depth,
            "horizon": state.stopping.horizon,
            "stops": state.by_tau["stops"][:-1],  # the last is the run's own
        }

    def _reverse(self) -> dict[str, Any]:
        """Every state on the way back from t*, and the clean estimate at each."""
        depth, states, estimates = self._depth_of(MAIN), list[Pixels](), list[Pixels]()
        x = self._tensor(self._damaged(MAIN))[None]
        for event in run(self.models, x, [MAIN.seed], [Repair(End(depth=depth))]):
            if isinstance(event, Stopped):
                states.append(from_tensor(event.path.states.at(depth)))
            elif isinstance(event, Stepped):
                states.append(from_tensor(event.x[0]))
                estimates.append(from_tensor(event.x0_hat[0]))
        # The last state is its own estimate; without any step so is the first.
        return {
            "depth": depth,
            "x": film(np.stack(states), depth),
            "x0": film(np.stack([*estimates, states[-1]]), depth),
        }

    def _guide(self) -> dict[str, Any]:
        """One picture rebuilt with lambda 0, the profile's, and four times that.

        ``swings``: of each, the steps in which the low frequencies of the guess went past the
        input's, because the gradient of a norm has the same length however small that is.
        """
        damaged, own = self._damaged(GUIDED), self.models.profile.ancestral.guidance
        depth, scales = self._depth_of(GUIDED), (0.0, own.scale, 4 * own.scale)
        guidances = [replace(own, scale=s) if s else None for s in scales]
        ways = [Repair(End(depth=depth, guidance=guidance)) for guidance in guidances]
        x, guesses = self._tensor(damaged), dict[Repair, list[torch.Tensor]]()
        rebuilt = dict[Repair, torch.Tensor]()
        for event in run(self.models, x[None], [GUIDED.seed], ways):
            if isinstance(event, Stepped):
                for job, guess in zip(event.jobs, event.x0_hat, strict=True):
                    guesses.setdefault(job.repairs[0], []).append(guess)
            elif isinstance(event, Rebuilt):
                rebuilt[event.repair] = event.image
        images = [rebuilt[way] for way in ways]
        gaps = structural_loss(torch.stack(images), x, own)
        swings = [self._swings(x, guesses.get(way, [x])) for way in ways]
        return {
            "damage": _damage(GUIDED),
            "scales": scales,
            "steps": depth,
            "gaps": [round(float(gap), 2) for gap in gaps],
            "swings": [0] * len(ways) if own.squared else swings,
            **self._read([damaged, *map(from_tensor, images)]),
        }

    def _swings(self, x: torch.Tensor, guesses: Sequence[torch.Tensor]) -> int:
        gaps = low_pass(torch.stack([*guesses]) - x, self.models.profile.ancestral.guidance.factor)
        rows = gaps.flatten(1)
        return int((torch.cosine_similarity(rows[1:], rows[:-1]) < 0).sum())

    def _toy(self) -> dict[str, Any]:
        """Damaged pictures, and what DGA+ chose for each: see :mod:`app.pages.learn.toy`."""
        cases = {}
        for case in DAMAGED:
            state, name = self.ran(case), f"{case.picture}-{case.corruption}"
            explained = state.explained
            assert explained
            patient = Patient(self.models, self._tensor(state.subject.input), case.seed)
            mine, network = patient.compared(explained.found)
            told = self._read([self._clean(case.picture), state.subject.input, mine])
            example = self.examples[case.picture]
            cases[name] = {"title": self._title(case), "truth": example.truth, **told, **network}
            self.patients[name] = patient
        return {"order": order(), "cases": cases}

    def _level(self) -> dict[str, Any]:
        """Noisy pictures with their level, and the undamaged one at depths of equal noise."""
        schedule, clean = self.models.schedule, self._clean(NOISY.picture)
        noisy = [self._damaged(replace(NOISY, severity=s)) for s in SEVERITIES]
        levels = noise_deviation(self._tensor(np.stack(noisy))).tolist()
        entries = [matched_depth(schedule, level) for level in levels]
        last = min(max(entries) + 4, schedule.steps)
        ratios = (1 / schedule.alpha_bar[: last + 1] - 1).sqrt()
        path = self._path(clean, NOISY.seed)[: last + 1]
        signal = schedule.alpha_bar[: last + 1].sqrt().to(path).view(-1, 1, 1, 1)
        return {
            "noisy": film(np.stack(noisy), *range(len(noisy))),
            "levels": levels,
            "entries": entries,
            "film": film(from_tensor((path / signal).clamp(-1, 1)), 0),
            "ratios": ratios.tolist(),
        }

    def _plus(self) -> list[dict[str, Any]]:
        """What DGA+ made of the same pictures: damaged, with the damage undone, rebuilt."""
        made = []
        for case in DAMAGED:
            state = self.ran(case)
            explained, after = state.explained, state.results["dga-plus"]
            assert explained
            (between,) = classify(self.models, self._tensor(explained.restored)[None])
            before = state.subject.input, state.subject.input_prediction
            shown = [before, (explained.restored, between), (after.image, after.prediction)]
            told = {"title": self._title(case), "truth": self.examples[case.picture].truth}
            made.append({**told, "said": sentence(explained), **_told(shown)})
        return made

    def _depth(self) -> dict[str, Any]:
        """Four pictures, each rebuilt from its own depth and from one depth for all."""
        cases = []
        for case in COMPARED:
            state = self.ran(case)
            assert state.search
            subject, results = state.subject, [state.results[n] for n in ("dga-guided", "dda")]
            told = [(result.image, result.prediction) for result in results]
            cases.append(
                {
                    "title": self._title(case),
                    "truth": self.examples[case.picture].truth,
                    "stop": pill(state.search.stop, state.stopping.horizon)[0],
                    **_told([(subject.input, subject.input_prediction), *told]),
                }
            )
        return {"fixed": self.models.profile.dda_depth, "cases": cases}

    def _title(self, case: LessonPicture) -> str:
        return f"{self.examples[case.picture].title}: {title(case.corruption)}"

    def _clean(self, name: str) -> Pixels:
        return self.examples[name].pixels(self.models.profile.image_size)

    def _damaged(self, case: LessonPicture) -> Pixels:
        return corrupt(self._clean(case.picture), case.corruption, case.severity, case.seed).copy()

    def _tensor(self, pixels: Pixels) -> torch.Tensor:
        return to_tensor(pixels).to(self.models.device)

    def _path(self, pixels: Pixels, seed: int) -> torch.Tensor:
        return forward_path(self.models.schedule, self._tensor(pixels), seed)

    def _depth_of(self, case: LessonPicture) -> int:
        """t* by the paper's rule."""
        search = self.ran(case).search
        assert search
        return search.stop.t_star

    def _read(self, pictures: Sequence[Pixels]) -> dict[str, Any]:
        """:func:`_told` of pictures that no run has read."""
        x = torch.stack([self._tensor(picture) for picture in pictures])  # [B, 3, S, S]
        return _told([*zip(pictures, classify(self.models, x), strict=True)])


def _told(shown: Sequence[tuple[Pixels, Prediction]]) -> dict[str, Any]:
    """Pictures in one strip, exact, and the classifier's likeliest classes for each."""
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
