"""One picture and some systems: what each of them makes of it, and what is read in the result.

:func:`rebuild_picture` runs :func:`dga.pipeline.run` for one picture and classifies its results.
"""

import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dga.batch_size import choose_batch_size
from dga.discriminator import JudgedPath
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction, predict
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models
from dga.pipeline import NO_EXPLANATION, Event, ForwardProcess, RepairResult, Start, run
from dga.profiles import Diffusion, Profile, Repair, StoppingConfig
from dga.steps import take_result
from dga.systems import DEFAULT_SYSTEMS, System, require_repair, systems


@dataclass(frozen=True)
class Reconstruction:
    """A picture that one system has rebuilt, and what the classifier reads in it."""

    system: System
    start: Start
    image: Pixels
    """The result, uint8 ``[S, S, 3]``."""
    prediction: Prediction
    seconds: float
    """Wall-clock time of rebuilding and reading, without that of ``start``."""

    @property
    def depth(self) -> int:
        """The depth, 0...T, from which the picture was rebuilt."""
        return self.start.stop.t_star


@dataclass(frozen=True)
class Adaptation:
    """A finished run: a picture, and what each of some systems made of it."""

    profile: Profile
    stopping: StoppingConfig
    """The rule that chose the t* of ``forward``."""
    seed: int
    precision: str
    device: str
    weights: Mapping[str, str]
    """A short name of the exact weights of each network."""
    input: Pixels
    """The picture as it came, uint8 ``[S, S, 3]``."""
    input_prediction: Prediction
    """What the classifier reads in it."""
    forward: Start | None
    """The forward process of the picture as it came; None where every system undoes damage first,
    so that no system needs it."""
    x_t_star_prediction: Prediction | None
    """What the classifier reads in the picture noised to t*; None without ``forward``."""
    reconstructions: Mapping[str, Reconstruction]
    """The results, by the system's name."""

    @property
    def t_star(self) -> int | None:
        """The depth at which ``forward`` stopped; None without it."""
        return self.forward.stop.t_star if self.forward else None

    @property
    def x_t_star(self) -> Pixels | None:
        """The picture as it came, noised to t*, uint8 ``[S, S, 3]``; None without ``forward``."""
        return self.forward.x_t_star if self.forward else None

    @property
    def confidence(self) -> NDArray[np.float64]:
        """P(corrupted | x_k) along the path of ``forward``, from depth 0 on; empty without it."""
        return self.forward.confidence if self.forward else np.empty(0)

    @property
    def plus(self) -> Reconstruction | None:
        """The result of the first system that explains the damage; None where none does."""
        results = self.reconstructions.values()
        return next((result for result in results if result.start.repair.explain), None)


@isolate_numerics
def adapt(
    models: Models, pixels: Pixels, seed: int = 0, chosen: Sequence[System] | None = None
) -> Adaptation:
    """Repair one picture, uint8 ``[S, S, 3]`` of the profile's size, by some systems, and read it.

    ``chosen``: systems that repair and are read by the frozen classifier; by default DGA, DGA + G,
    DDA and DGA+. Where one of them explains no damage, or none is chosen, the curve of the picture
    as it came is judged to T, by the rule of the first such system with a rule, else the profile's.

    The same arguments give the same result. Raises ``ValueError`` for another size or a system of
    another kind, and ``FloatingPointError`` if a network returns values that are not numbers.
    """
    profile, x = models.profile, to_picture_tensor(models, pixels)
    if chosen is None:
        chosen = [systems(profile)[name] for name in DEFAULT_SYSTEMS]
    repairs = [require_repair(system) for system in chosen]
    process = ForwardProcess(models, x, seed)
    (input_prediction,) = classify(models, x[None])
    unexplained = [repair.diffusion for repair in repairs if not repair.explain]
    rules = (diffusion.stopping for diffusion in unexplained if diffusion.depth is None)
    rule = next(rules, None) or profile.stopping
    forward, x_t_star_prediction = None, None
    if unexplained or not chosen:
        forward = take_result(judge_curve(process, rule, profile.schedule.steps))
        x_t_star = to_picture_tensor(models, forward.x_t_star)
        (x_t_star_prediction,) = classify(models, x_t_star[None])
    steps = rebuild_picture(models, process, chosen)
    results = {step.system.name: step for step in steps if isinstance(step, Reconstruction)}
    return Adaptation(
        profile=profile,
        stopping=rule,
        seed=seed,
        precision=models.compute.precision,
        device=str(models.device),
        weights=models.weights,
        input=pixels,
        input_prediction=input_prediction,
        forward=forward,
        x_t_star_prediction=x_t_star_prediction,
        reconstructions={system.name: results[system.name] for system in chosen},
    )


@isolate_numerics
def judge_curve(
    process: ForwardProcess, stopping: StoppingConfig, depth: int
) -> Generator[JudgedPath, None, Start]:
    """Judge a picture as it came, at least to ``depth``.

    ``stopping``: the rule that chooses its t*.
    """
    path_alone = Repair(Diffusion(stopping))
    return (yield from process.find_stop(path_alone, NO_EXPLANATION, curve_depth=depth))


@isolate_numerics
def rebuild_picture(
    models: Models, process: ForwardProcess, chosen: Sequence[System]
) -> Iterator[Event | Reconstruction]:
    """Rebuild a picture by some systems; a repair that several of them share is made once.

    Raises ``ValueError`` for a system without a repair, and for an ensemble.
    """
    by_repair = defaultdict[Repair, list[System]](list)
    for system in chosen:
        by_repair[require_repair(system)].append(system)
    for event in run(models, [process], list(by_repair)):
        if not isinstance(event, RepairResult):
            yield event
            continue
        start_time = time.perf_counter()
        image = from_tensor(event.image)
        (prediction,) = classify(models, event.image[None])
        seconds = event.seconds + time.perf_counter() - start_time
        for system in by_repair[event.start.repair]:
            yield Reconstruction(system, event.start, image, prediction, seconds)


def classify(models: Models, x: Tensor) -> list[Prediction]:
    """Classify pictures, ``[B, 3, S, S]`` in [-1, 1], by the frozen classifier."""
    config = models.profile.classifier
    parts = x.split(choose_batch_size(x))
    return [prediction for part in parts for prediction in predict(models.classifier, part, config)]


def to_picture_tensor(models: Models, pixels: Pixels) -> Tensor:
    """Convert a picture, uint8 ``[S, S, 3]``, to ``[3, S, S]`` in [-1, 1] on the networks' device.

    Raises ``ValueError`` for anything but a picture of the profile's size.
    """
    profile, size = models.profile, models.profile.image_size
    if pixels.dtype != np.uint8 or pixels.shape != (size, size, 3):
        raise ValueError(
            f"Profile {profile.name} needs pictures of shape ({size}, {size}, 3) in 8 bits, "
            f"not {pixels.shape} {pixels.dtype}."
        )
    return to_tensor(pixels).to(models.device)
