"""What a method is to the bench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from dga.methods.batch import Batch


@dataclass(frozen=True)
class Outcome:
    """A method's answer for the ``B`` pictures of one batch.

    ``probabilities``: ``[B, classes]``, rows sum to 1; ``seconds``: what each picture
    cost, wall clock; ``depths`` and ``crossed``: where its forward process halted and
    whether the stopping rule was met there.
    """

    probabilities: Tensor
    seconds: Sequence[float]
    depths: Sequence[int]
    crossed: Sequence[bool]

    @classmethod
    def undiffused(cls, probabilities: Tensor, seconds: float) -> Outcome:
        """For methods without diffusion; ``seconds`` for the whole batch."""
        n = len(probabilities)
        return cls(probabilities, [seconds / n] * n, [0] * n, [True] * n)


class Method(Protocol):
    """Anything with these three can be benchmarked (:func:`dga.evaluation.evaluate`).

    ``settings`` is a frozen dataclass saved beside the results. If it has a field
    ``batch``, the method gets the whole stream in batches of that size, in order,
    because its answers depend on what came before.
    """

    @property
    def settings(self) -> Any:
        """What distinguishes this method from others of its kind."""
        ...

    def reset(self) -> None:
        """Forget everything learned; called before every corruption."""
        ...

    def predict(self, batch: Batch) -> Outcome:
        """Classify the pictures of a batch."""
        ...
