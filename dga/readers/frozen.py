"""The frozen classifier as a reader, and the type of every reader's output."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from dga.networks.classifier import predict_proba
from dga.networks.models import Models


class ReaderOutput(NamedTuple):
    """The output of a reader.

    ``probabilities``: ``[B, classes]`` on the CPU; ``pictures``: those that the classifier was
    shown, ``[B, 3, S, S]`` in [-1, 1], which is the input tensor itself where none was changed.
    """

    probabilities: Tensor
    pictures: Tensor


class FrozenReader:
    """The classifier as it is, without settings."""

    def __init__(self, models: Models, settings: Any) -> None:
        self.models, self.settings = models, settings

    def reset(self) -> None:
        """Do nothing: this reader learns nothing."""

    def read(self, x: Tensor, seeds: Sequence[int]) -> ReaderOutput:
        """Classify ``[B, 3, S, S]`` in [-1, 1]; ``seeds``, one a picture, are for other readers."""
        config = self.models.profile.classifier
        return ReaderOutput(predict_proba(self.models.classifier, x, config).cpu(), x)
