"""A classifier's answer for a repaired picture, with the depth, the time and the repair."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dga.pipeline import ForwardResult, ReverseResult
from dga.systems import System

Read = Callable[[Tensor], Tensor]
"""From pictures, ``[B, 3, S, S]`` in [-1, 1], to probabilities ``[B, classes]`` on the CPU."""


@dataclass(frozen=True)
class Answer:
    """One system's answer for one picture."""

    probabilities: Tensor
    """``[classes]``; they sum to 1."""
    seconds: float
    """Wall clock, as if no other system had been asked."""
    depth: int = 0
    """t*."""
    is_crossed: bool = True
    """Whether its stopping rule was met there."""
    picture: Tensor | None = None
    """The repaired picture, ``[3, S, S]``; None where it was read as it came."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of a result line."""


def answer_repaired(
    system: System, results: Sequence[ReverseResult], damaged: Tensor, read: Read
) -> list[Answer]:
    """Answers for repaired pictures; ``damaged``: the same as they came, ``[B, 3, S, S]``."""
    start_time = time.perf_counter()
    pictures = torch.stack([result.image for result in results])
    probabilities = read_repaired(system, pictures, damaged, read)
    reading = (time.perf_counter() - start_time) / len(results)
    return [
        Answer(
            row,
            seconds=result.forward.seconds + result.seconds + reading,
            depth=result.forward.stop.t_star,
            is_crossed=result.forward.stop.is_crossed,
            picture=result.image,
            details=_describe_explanation(result.forward),
        )
        for row, result in zip(probabilities, results, strict=True)
    ]


def read_repaired(system: System, repaired: Tensor, damaged: Tensor, read: Read) -> Tensor:
    """Probabilities, ``[B, classes]``, for repaired pictures, ``[B, 3, S, S]``.

    An ensemble reads the damaged ones, too, after the repaired; both readings are averaged, weighed
    by :meth:`dga.systems.System.weigh`.
    """
    probabilities = read(repaired)
    if not system.ensemble:
        return probabilities
    both = torch.stack([probabilities, read(damaged)])
    return (system.weigh(both).view(2, 1, 1) * both).sum(0)


def _describe_explanation(forward: ForwardResult) -> dict[str, Any]:
    explanation = forward.explanation
    if not forward.repair.explain:
        return {}
    return {
        "entry": explanation.entry,
        "degradation": str(explanation.degradation),
        "unchanged": forward.is_unchanged,
    }
