"""A classifier's answers for repaired pictures, with the depth, the time and the repair of each."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dga.pipeline import ForwardResult, ReverseResult
from dga.systems import System

Read = Callable[[Tensor], Tensor]
"""From pictures, ``[B, 3, S, S]`` in [-1, 1], to probabilities ``[B, classes]`` on the CPU."""


@dataclass(frozen=True)
class Answers:
    """One system's answers for ``B`` pictures."""

    probabilities: Tensor
    """``[B, classes]``; rows sum to 1."""
    seconds: Sequence[float]
    """Wall clock of each picture, as if no other system had been asked."""
    depths: Sequence[int]
    """t* of each picture."""
    crossed: Sequence[bool]
    """Whether its stopping rule was met there."""
    pictures: Tensor | None = None
    """The repaired pictures, ``[B, 3, S, S]``; None where they were read as they came."""
    details: Sequence[Mapping[str, Any]] | None = None
    """Further fields of a result line, for each picture."""


def answer_repaired(
    system: System, results: Sequence[ReverseResult], damaged: Tensor, read: Read
) -> Answers:
    """Answers for repaired pictures; ``damaged``: the same as they came, ``[B, 3, S, S]``."""
    start_time = time.perf_counter()
    pictures = torch.stack([result.image for result in results])
    forwards = [result.forward for result in results]
    probabilities = read_repaired(system, pictures, damaged, read)
    reading = (time.perf_counter() - start_time) / len(results)
    return Answers(
        probabilities,
        seconds=[result.forward.seconds + result.seconds + reading for result in results],
        depths=[forward.stop.t_star for forward in forwards],
        crossed=[forward.stop.is_crossed for forward in forwards],
        pictures=pictures,
        details=[_describe_explanation(forward) for forward in forwards],
    )


def read_repaired(system: System, repaired: Tensor, damaged: Tensor, read: Read) -> Tensor:
    """Probabilities, ``[B, classes]``, for repaired pictures, ``[B, 3, S, S]``.

    An ensemble reads the damaged ones, too, after the repaired; both readings are averaged, with
    weights from :class:`~dga.systems.System`'s ``share`` and ``trust``.
    """
    probabilities = read(repaired)
    if not system.ensemble:
        return probabilities
    both = torch.stack([probabilities, read(damaged)])
    entropy = torch.special.entr(both).sum(2).mean(1)  # [2]
    shares = torch.tensor([1 - system.share, system.share])
    weights = (shares.log() - system.trust * entropy).softmax(0)
    return (weights.view(2, 1, 1) * both).sum(0)


def _describe_explanation(forward: ForwardResult) -> dict[str, Any]:
    explanation = forward.explanation
    if not forward.repair.explain:
        return {}
    return {
        "entry": explanation.entry,
        "degradation": str(explanation.degradation),
        "unchanged": forward.is_unchanged,
    }
