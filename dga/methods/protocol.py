"""The interface of a method, and its answer for a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from dga.methods.batch import Batch


@dataclass(frozen=True)
class Outcome:
    """A method's answer for the ``B`` pictures of one batch.

    ``probabilities``: ``[B, classes]``, rows sum to 1; ``seconds``: what each picture
    cost, wall clock; ``depths`` and ``crossed``: where its forward process halted and
    whether the stopping rule was met there; ``pictures``: what was classified,
    ``[B, 3, S, S]``, where a method makes pictures; ``details``: what else a result line should
    hold, one mapping a picture. Raises ``FloatingPointError`` for probabilities that are not
    numbers.
    """

    probabilities: Tensor
    seconds: Sequence[float]
    depths: Sequence[int]
    crossed: Sequence[bool]
    pictures: Tensor | None = None
    details: Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if not bool(self.probabilities.isfinite().all()):
            raise FloatingPointError("Probabilities are not numbers.")

    @classmethod
    def undiffused(cls, probabilities: Tensor, seconds: float) -> Outcome:
        """For methods without diffusion; ``seconds`` for the whole batch."""
        n = len(probabilities)
        return cls(probabilities, [seconds / n] * n, [0] * n, [True] * n)


def answer(name: str, method: Method, batch: Batch) -> Outcome:
    """``method.predict``; a ``FloatingPointError`` says which method it was."""
    try:
        return method.predict(batch)
    except FloatingPointError as error:
        raise FloatingPointError(
            f"Method {name} was stopped: {error} Results of earlier batches are kept."
        ) from error


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
