"""The frozen classifier, and what any reader does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from dga.networks.classifier import predict_proba
from dga.networks.models import Models


class Reader(Protocol):
    """Reads pictures in the order in which they come."""

    def reset(self) -> None:
        """Forget everything that was learned."""
        ...

    def read(self, x: Tensor, seeds: Sequence[int]) -> Tensor:
        """Probabilities, ``[B, classes]`` on the CPU, for ``[B, 3, S, S]`` in [-1, 1]."""
        ...


@dataclass(frozen=True)
class Frozen:
    """The classifier as it is."""

    models: Models

    def reset(self) -> None:
        """Nothing is learned."""

    def read(self, x: Tensor, seeds: Sequence[int]) -> Tensor:
        return predict_proba(self.models.classifier, x, self.models.profile.classifier).cpu()
