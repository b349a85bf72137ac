"""A classifier's answer for a repaired picture, with the depth, the time and the repair."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dga.pipeline import RepairResult, Start
from dga.systems import System

Read = Callable[[Tensor], Tensor]
"""From pictures, ``[B, 3, S, S]`` in [-1, 1], to probabilities ``[B, classes]`` on the CPU."""


@dataclass(frozen=True)
class Answer:
    """The answer of one system for one picture."""

    probabilities: Tensor
    """The probability of each class, ``[classes]``; by softmax they sum to 1."""
    seconds: float
    """Wall-clock time, as if this were the only system."""
    depth: int = 0
    """The depth t* from which the picture was rebuilt."""
    is_crossed: bool = True
    """Whether the confidence at t* is below tau."""
    picture: Tensor | None = None
    """The repaired picture, ``[3, S, S]`` in [-1, 1]; None where it was read as it came."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further fields for a line of results."""


def make_answers(
    system: System, results: Sequence[RepairResult], damaged: Tensor, read: Read
) -> list[Answer]:
    """Read repaired pictures and make an answer for each.

    ``results``: of B repairs; ``damaged``: the pictures as they came, ``[B, 3, S, S]``.
    """
    start_time = time.perf_counter()
    pictures = torch.stack([result.image for result in results])
    probabilities = read_repaired_pictures(system, pictures, damaged, read)
    reading_seconds = (time.perf_counter() - start_time) / len(results)
    return [
        Answer(
            row,
            seconds=result.start.seconds + result.seconds + reading_seconds,
            depth=result.start.stop.t_star,
            is_crossed=result.start.stop.is_crossed,
            picture=result.image,
            details=_describe_explanation(result.start),
        )
        for row, result in zip(probabilities, results, strict=True)
    ]


def read_repaired_pictures(system: System, repaired: Tensor, damaged: Tensor, read: Read) -> Tensor:
    """Read repaired pictures, ``[B, 3, S, S]``: probabilities, ``[B, classes]``.

    An ensemble then reads the damaged pictures, too, and averages both readings.
    """
    probabilities = read(repaired)
    return system.average(probabilities, read(damaged)) if system.ensemble else probabilities


def _describe_explanation(start: Start) -> dict[str, Any]:
    """What DGA+ found, for a line of results; empty where damage was not explained."""
    explanation = start.explanation
    if not start.repair.explain:
        return {}
    return {
        "entry": explanation.entry,
        "degradation": str(explanation.degradation),
        "unchanged": start.is_unchanged,
    }
