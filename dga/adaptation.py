"""One picture and some systems: what each of them makes of it, as pictures and predictions.

:func:`adapt_steps` is :func:`dga.pipeline.run` for one picture, whose results are classified.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dga.batch_size import choose_batch_size
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction, predict
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models
from dga.pipeline import (
    NO_EXPLANATION,
    Event,
    ForwardProcess,
    ForwardResult,
    ReverseResult,
    run,
    take_last,
)
from dga.profiles import Diffusion, Profile, Repair, StoppingConfig
from dga.systems import DEFAULT_SYSTEMS, System, require_repair, systems


@dataclass(frozen=True)
class Reconstruction:
    """A picture rebuilt by one system, and what the classifier reads in it."""

    system: System
    forward: ForwardResult
    image: Pixels
    """uint8 ``[S, S, 3]``."""
    prediction: Prediction
    seconds: float
    """Wall clock of rebuilding and reading, without that of ``forward``."""

    @property
    def depth(self) -> int:
        """The depth, in 0...T, from which it was rebuilt."""
        return self.forward.stop.t_star


@dataclass(frozen=True)
class Adaptation:
    """One finished run: a picture, and what each of some systems made of it."""

    profile: Profile
    stopping: StoppingConfig
    """The rule by which the t* of ``forward`` was chosen."""
    seed: int
    precision: str
    device: str
    input: Pixels
    """uint8 ``[S, S, 3]``."""
    input_prediction: Prediction
    forward: ForwardResult
    """The forward process of the picture as it came or, where every system undoes damage first,
    that of the first system."""
    x_t_star_prediction: Prediction
    """What the classifier reads in the picture noised to t*."""
    reconstructions: Mapping[str, Reconstruction]
    """By the system's name."""

    @property
    def t_star(self) -> int:
        return self.forward.stop.t_star

    @property
    def confidence(self) -> NDArray[np.float64]:
        """P(corrupted | x_k) along the path of ``forward``."""
        return self.forward.confidence

    @property
    def plus(self) -> Reconstruction | None:
        """The result of the first system that explains the damage, if one does."""
        results = self.reconstructions.values()
        return next((result for result in results if result.forward.repair.explain), None)


def adapt(
    models: Models, pixels: Pixels, seed: int = 0, chosen: Sequence[System] | None = None
) -> Adaptation:
    """Adapt one picture, uint8 ``[S, S, 3]`` of the profile's size, by some systems.

    ``chosen``: systems that repair, which the frozen classifier reads; by default DGA, DGA + G,
    DDA and DGA+. The same arguments give the same result. Raises ``ValueError`` for another size,
    and ``FloatingPointError`` if a network returns no numbers.
    """
    return take_last(adapt_steps(models, pixels, seed, chosen), Adaptation)


@isolate_numerics
def adapt_steps(
    models: Models,
    pixels: Pixels,
    seed: int = 0,
    chosen: Sequence[System] | None = None,
    curve_depth: int | None = None,
    process: ForwardProcess | None = None,
) -> Iterator[Event | Reconstruction | Adaptation]:
    """:func:`adapt`, an event at a time. The last one is the :class:`Adaptation`.

    The first :class:`ForwardResult` is that of the picture as it came, by the rule of the first
    system that explains nothing and has one, else of the profile. ``curve_depth``: how deep this
    path is judged at least, by default to T. Without a ``curve_depth``, where every system explains
    the damage first, nobody needs this path: it is not judged, and there is no such event.
    ``process``: of this picture, to share its explanations and paths with other calls.
    """
    profile, x = models.profile, picture_tensor(models, pixels)
    if chosen is None:
        chosen = [systems(profile)[name] for name in DEFAULT_SYSTEMS]
    process = process or ForwardProcess(models, x, seed)
    by_repair = defaultdict[Repair, list[System]](list)
    for system in chosen:
        by_repair[require_repair(system)].append(system)
    (input_prediction,) = classify(models, x[None])
    unexplained = [repair.diffusion for repair in by_repair if not repair.explain]
    forward: ForwardResult | None = None
    if unexplained or not chosen or curve_depth is not None:
        rules = (diffusion.stopping for diffusion in unexplained if diffusion.depth is None)
        rule = next(rules, None) or profile.stopping
        deepest = profile.schedule.steps if curve_depth is None else curve_depth
        path_alone = Repair(Diffusion(rule))
        for event in process.find_stop(path_alone, NO_EXPLANATION, curve_depth=deepest):
            if isinstance(event, ForwardResult):
                forward = event
            yield event
    results = yield from _reconstruct(models, process, by_repair)
    forward = forward or results[chosen[0].name].forward
    (at_t_star,) = classify(models, to_tensor(forward.x_t_star)[None].to(models.device))
    yield Adaptation(
        profile=profile,
        stopping=forward.diffusion.stopping or profile.stopping,
        seed=seed,
        precision=models.compute.precision,
        device=str(models.device),
        input=pixels,
        input_prediction=input_prediction,
        forward=forward,
        x_t_star_prediction=at_t_star,
        reconstructions={system.name: results[system.name] for system in chosen},
    )


def _reconstruct(
    models: Models, process: ForwardProcess, by_repair: Mapping[Repair, Sequence[System]]
) -> Generator[Event | Reconstruction, None, dict[str, Reconstruction]]:
    """The result of every system, by name: repairs that systems have in common are made once."""
    results: dict[str, Reconstruction] = {}
    for event in run(models, process.x[None], [process.seed], list(by_repair), [process]):
        if not isinstance(event, ReverseResult):
            yield event
            continue
        start_time = time.perf_counter()
        image = from_tensor(event.image)
        (prediction,) = classify(models, event.image[None])
        seconds = event.seconds + time.perf_counter() - start_time
        for system in by_repair[event.forward.repair]:
            result = Reconstruction(system, event.forward, image, prediction, seconds)
            results[system.name] = result
            yield result
    return results


def classify(models: Models, x: Tensor) -> list[Prediction]:
    """Predictions of the frozen classifier for pictures, ``[B, 3, S, S]`` in [-1, 1]."""
    config = models.profile.classifier
    parts = x.split(choose_batch_size(x))
    return [prediction for part in parts for prediction in predict(models.classifier, part, config)]


def picture_tensor(models: Models, pixels: Pixels) -> Tensor:
    """A picture, uint8 ``[S, S, 3]``, to ``[3, S, S]`` in [-1, 1] on the networks' device.

    Raises ``ValueError`` for anything but a picture of the profile's size.
    """
    profile, size = models.profile, models.profile.image_size
    if pixels.dtype != np.uint8 or pixels.shape != (size, size, 3):
        raise ValueError(
            f"Profile {profile.name} needs pictures of shape ({size}, {size}, 3) in 8 bits, "
            f"not {pixels.shape} {pixels.dtype}."
        )
    return to_tensor(pixels).to(models.device)
