"""What the guided walk shows: numbers and pictures that the loaded models made."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from app.parts.examples import Example
from app.parts.pictures import data_uri, uri
from app.runs.board import compared
from app.runs.run_state import TAUS
from app.runs.sprites import jpeg
from dga.corruptions import SEVERITIES, corrupt
from dga.diffusion import forward_path
from dga.discriminator import curve, judge_states
from dga.guidance import structural_loss
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import predict
from dga.networks.models import Models
from dga.pipeline import Stepped, Stopped, checked_repair, run
from dga.profiles import End, Repair, StoppingConfig
from dga.readers.answers import repaired
from dga.sentences import pill
from dga.stopping import Stop, choose_depth, confidence_from_logits
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
PARTS = ("meet", "film", "game", "judge", "reverse", "guide", "depth")


class Lesson:
    """Made once a process, a part at a time, when the first visitor asks."""

    def __init__(self, models: Models, examples: Mapping[str, Example]) -> None:
        self.models, self.examples = models, examples
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

    def _meet(self) -> list[dict[str, Any]]:
        """Labels of one picture at severities 0 (undamaged) to 5."""
        made = []
        for case in MEET:
            damaged = [self._damaged(replace(case, severity=s)) for s in SEVERITIES]
            told = self._told([self._clean(case.picture), *damaged])
            made.append({"title": title(case.corruption), **told})
        return made

    def _film(self) -> dict[str, Any]:
        """The same noise on an undamaged and on a damaged picture, down to a depth beyond use."""
        signal = self.models.schedule.alpha_bar.sqrt()[:FILM_DEPTHS]
        pictures = {"clean": self._clean(MAIN.picture), "damaged": self._damaged(MAIN)}
        films = {
            name: film(from_tensor(self._path(pixels, MAIN.seed)[:FILM_DEPTHS]))
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
                    "film": film(states),
                    "damage": _damage(case),
                    "sure": both.round(4).tolist(),
                }
            )
        pictures = {name: film(states) for name, (states, _) in clean.items()}
        return {"depths": LADDER, "clean": pictures, "rounds": rounds}

    def _rungs(self, pixels: Pixels) -> tuple[Pixels, NDArray[np.float64]]:
        """One picture at the depths of the ladder, and the discriminator's confidence there."""
        path, depths = self._path(pixels, ROUNDS_SEED), torch.tensor(LADDER)
        states = path[list(LADDER)]
        logits = judge_states(self.models.schedule, self.models.discriminator, states, depths)
        return from_tensor(states), confidence_from_logits(logits.double().numpy())

    def _judge(self) -> dict[str, Any]:
        """The damaged picture's confidence at every depth; where the rule stops at every tau."""
        logits = self._logits(MAIN)
        stopping = self.models.profile.stopping
        stops = [choose_depth(logits, replace(self._rule, tau=tau)) for tau in TAUS]
        return {
            "damaged": confidence_from_logits(logits).round(4).tolist(),
            "tau": stopping.tau,
            "max_depth": stopping.max_depth,
            "horizon": stopping.horizon,
            "stops": [[stop.t_star, stop.crossed] for stop in stops],
        }

    def _reverse(self) -> dict[str, Any]:
        """Every state on the way back from t*, and the clean estimate at each."""
        depth, states, estimates = self._stop(MAIN).t_star, list[Pixels](), list[Pixels]()
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
            "x": film(np.stack(states)),
            "x0": film(np.stack([*estimates, states[-1]])),
        }

    def _guide(self) -> dict[str, Any]:
        """One picture rebuilt with lambda 0, the profile's, and four times that."""
        damaged, own = self._damaged(GUIDED), self.models.profile.ancestral.guidance
        depth, scales = self._stop(GUIDED).t_star, (0.0, own.scale, 4 * own.scale)
        guidances = [replace(own, scale=s) if s else None for s in scales]
        ways = [Repair(End(depth=depth, guidance=guidance)) for guidance in guidances]
        x = self._tensor(damaged)[None]
        done = repaired(self.models, x, [GUIDED.seed], ways)
        rebuilt = [done[way][0][1].image for way in ways]
        gaps = [structural_loss(image[None], x, own) for image in rebuilt]
        return {
            "damage": _damage(GUIDED),
            "scales": scales,
            "gaps": [round(float(gap), 2) for gap in gaps],
            **self._told([damaged, *map(from_tensor, rebuilt)]),
        }

    def _depth(self) -> dict[str, Any]:
        """Four pictures, each rebuilt from its own depth and from one depth for all."""
        profile, systems = self.models.profile, compared(self.models.profile)
        damaged = [self._damaged(case) for case in COMPARED]
        ways = [checked_repair(systems[name]) for name in ("dga-guided", "dda")]
        x = self._tensor(np.stack(damaged))
        done = repaired(self.models, x, [case.seed for case in COMPARED], ways)
        return {
            "fixed": profile.dda_depth,
            "cases": [
                {
                    "title": f"{self.examples[case.picture].title}: {title(case.corruption)}",
                    "truth": self.examples[case.picture].truth,
                    "stop": pill(stopped.stop, self._rule.horizon)[0],
                    **self._told([before, from_tensor(mine.image), from_tensor(theirs.image)]),
                }
                for case, before, (stopped, mine), (_, theirs) in zip(
                    COMPARED, damaged, *(done[way] for way in ways), strict=True
                )
            ],
        }

    def _clean(self, name: str) -> Pixels:
        return self.examples[name].pixels(self.models.profile.image_size)

    def _damaged(self, case: LessonPicture) -> Pixels:
        return corrupt(self._clean(case.picture), case.corruption, case.severity, case.seed).copy()

    def _tensor(self, pixels: Pixels) -> torch.Tensor:
        return to_tensor(pixels).to(self.models.device)

    def _path(self, pixels: Pixels, seed: int) -> torch.Tensor:
        return forward_path(self.models.schedule, self._tensor(pixels), seed)

    def _logits(self, case: LessonPicture) -> NDArray[np.float64]:
        path = self._path(self._damaged(case), case.seed)
        return curve(self.models.schedule, self.models.discriminator, path).double().numpy()

    @property
    def _rule(self) -> StoppingConfig:
        return replace(self.models.profile.stopping, paths=1)

    def _stop(self, case: LessonPicture) -> Stop:
        return choose_depth(self._logits(case), self._rule)

    def _told(self, pictures: Sequence[Pixels]) -> dict[str, Any]:
        """Pictures in one strip, exact, and the classifier's likeliest classes for each."""
        x = torch.stack([self._tensor(picture) for picture in pictures])  # [B, 3, S, S]
        said = predict(self.models.classifier, x, self.models.profile.classifier)
        top = [[[name, round(p, 4)] for name, p in one.top(TOP)] for one in said]
        strip = data_uri(np.concatenate(list(pictures), axis=1))
        return {"pictures": {"uri": strip, "count": len(pictures)}, "top": top}


def _damage(case: LessonPicture) -> str:
    return f"{title(case.corruption)}, severity {case.severity}"


def film(frames: Pixels) -> dict[str, Any]:
    """Many pictures, ``[n, S, S, 3]``, in one strip; colours keep their resolution."""
    strip = np.concatenate(list(frames), axis=1)
    return {"uri": uri(jpeg(strip, FILM_QUALITY), "jpeg"), "count": len(frames)}
