"""What systems answer for pictures that arrive together: repaired, then read.

:func:`answer` is what an evaluation calls for each batch. Repairs that several systems have in
common are made once; readers that adapt keep what they learn until they are reset.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dga.networks.compute import isolate_numerics
from dga.networks.models import Models
from dga.pipeline import ForwardResult, ReverseResult, run_repairs
from dga.profiles import DenoiseConfig, MemoConfig, TentConfig
from dga.readers.frozen import FrozenReader
from dga.readers.memo import Memo
from dga.readers.non_local_means import NonLocalMeans
from dga.readers.permutation import permute_stops
from dga.readers.tent import Tent
from dga.systems import System

Reader = FrozenReader | Tent | Memo | NonLocalMeans
READERS: dict[type, Callable[[Models, Any], Reader]] = {
    type(None): FrozenReader,
    TentConfig: Tent,
    MemoConfig: Memo,
    DenoiseConfig: NonLocalMeans,
}
"""Reader classes by the class of their settings."""


@dataclass(frozen=True)
class Answers:
    """One system's answers for ``B`` pictures.

    ``probabilities``: ``[B, classes]``, rows sum to 1; ``seconds``: what each picture cost, wall
    clock, as if no other system had been asked; ``depths`` and ``crossed``: where its forward
    process stopped and whether the rule was met there; ``pictures``: the repaired ones,
    ``[B, 3, S, S]``, None where they were read as they came; ``details``: further fields of a
    result line, one mapping per picture.
    """

    probabilities: Tensor
    seconds: Sequence[float]
    depths: Sequence[int]
    crossed: Sequence[bool]
    pictures: Tensor | None = None
    details: Sequence[Mapping[str, Any]] | None = None


class SystemRunner:
    """A system with its reader, which keeps what it learned from earlier batches.

    An ensemble shows its reader the repaired pictures first, then the input pictures.
    Raises ``ValueError`` for a classifier that its reader cannot adapt.
    """

    def __init__(self, models: Models, system: System) -> None:
        self.models, self.system = models, system
        self._reader = READERS[type(system.reader)](models, system.reader)

    def reset(self) -> None:
        """Forget everything that was learned; called before every stream."""
        self._reader.reset()

    def answer(
        self, x: Tensor, seeds: Sequence[int], results: Sequence[ReverseResult] | None
    ) -> Answers:
        """Answers for pictures as they came, ``[B, 3, S, S]``, one seed for each.

        ``results``: of the system's repair, by picture; None where it has none.
        """
        if results is None:
            return self._answer_without_repair(x, seeds)
        start_time = time.perf_counter()
        pictures = torch.stack([result.image for result in results])
        forwards = [result.forward for result in results]
        probabilities = self.read(pictures, seeds, x if self.system.ensemble else None)
        reading = (time.perf_counter() - start_time) / len(x)
        return Answers(
            probabilities,
            seconds=[result.forward.seconds + result.seconds + reading for result in results],
            depths=[forward.stop.t_star for forward in forwards],
            crossed=[forward.stop.is_crossed for forward in forwards],
            pictures=pictures,
            details=[_describe_explanation(forward) for forward in forwards],
        )

    def _answer_without_repair(self, x: Tensor, seeds: Sequence[int]) -> Answers:
        start_time, n = time.perf_counter(), len(x)
        output = self._reader.read(x, seeds)
        is_changed = output.pictures is not x
        return Answers(
            output.probabilities,
            seconds=[(time.perf_counter() - start_time) / n] * n,
            depths=[0] * n,
            crossed=[True] * n,
            pictures=output.pictures if is_changed else None,
            details=[{"unchanged": False}] * n if is_changed else None,
        )

    def read(self, repaired: Tensor, seeds: Sequence[int], damaged: Tensor | None) -> Tensor:
        """Probabilities, ``[B, classes]``, for pictures ``[B, 3, S, S]``, of an ensemble for both.

        ``damaged``: the same as they came, where the system is an ensemble. Both readings are
        averaged, with weights from :class:`~dga.systems.System`'s ``share`` and ``trust``.
        """
        probabilities = self._reader.read(repaired, seeds).probabilities
        if damaged is None:
            return probabilities
        both = torch.stack([probabilities, self._reader.read(damaged, seeds).probabilities])
        entropy = torch.special.entr(both).sum(2).mean(1)  # [2]
        shares = torch.tensor([1 - self.system.share, self.system.share])
        weights = (shares.log() - self.system.trust * entropy).softmax(0)
        return (weights.view(2, 1, 1) * both).sum(0)


def create_runners(models: Models, systems: Mapping[str, System]) -> dict[str, SystemRunner]:
    """Systems with fresh readers, by name. Raises what :class:`SystemRunner` does."""
    return {name: SystemRunner(models, system) for name, system in systems.items()}


@isolate_numerics
def answer(
    runners: Mapping[str, SystemRunner], x: Tensor, seeds: Sequence[int]
) -> dict[str, Answers]:
    """What systems answer for the same pictures, ``[B, 3, S, S]`` in [-1, 1].

    What their repairs share is computed once. Raises ``FloatingPointError``, which names the
    systems, for values that are not numbers.
    """
    answers = {}
    for permute in dict.fromkeys(runner.system.control.permute for runner in runners.values()):
        group = {n: r for n, r in runners.items() if r.system.control.permute == permute}
        repairs = dict.fromkeys(r.system.repair for r in group.values() if r.system.repair)
        models = next(iter(group.values())).models
        permutation = None if permute == "none" else partial(permute_stops, models, permute)
        with _name_systems(group):
            results = run_repairs(models, x, seeds, list(repairs), permutation=permutation)
        for name, runner in group.items():
            repair = runner.system.repair
            with _name_systems([name]):
                answers[name] = runner.answer(x, seeds, results[repair] if repair else None)
    return {name: answers[name] for name in runners}


def _describe_explanation(forward: ForwardResult) -> dict[str, Any]:
    explanation = forward.explanation
    if not forward.repair.explain:
        return {}
    return {
        "entry": explanation.entry,
        "degradation": str(explanation.degradation),
        "unchanged": forward.is_unchanged,
    }


@contextmanager
def _name_systems(names: Iterable[str]) -> Iterator[None]:
    """Add the systems' names to the error of a network that returns no numbers."""
    try:
        yield
    except FloatingPointError as error:
        raise FloatingPointError(
            f"Method {', '.join(names)} was stopped: {error} Results of earlier batches are kept."
        ) from error
