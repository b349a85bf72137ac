"""A loss that looks at what a classifier sees: a frozen network's features."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.networks.classifier import load_packaged, normalise
from dga.profiles import get_profile
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import classifier_config
from dga.weights.sources import Sources, packaged_checkpoint


class FeatureDistance(nn.Module):
    """How differently a frozen ImageNet classifier sees two batches of pictures.

    The distance of Zhang et al. (2018, Eq. 1) without its learned weights: at each of the
    network's five resolutions, features are scaled to length 1 at every place, and squared
    differences summed over channels and averaged over places; the mean of the five, in [0, 4].
    ``name``: timm's name of a classifier whose package is installed. Raises
    :class:`~dga.weights.checkpoints.WeightsError` where it is not.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        config = classifier_config(get_profile("photo"), Sources(classifier=name))
        path = packaged_checkpoint(config.package)
        if path is None:
            raise WeightsError(f"Features are those of a classifier from a package, not {name}.")
        self.config = config
        self.network = load_packaged(config, path)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Distances ``[B]`` of ``[B, 3, H, W]`` in [-1, 1]."""
        distances = torch.zeros(len(x), device=x.device)
        for a, b in zip(self._read(x), self._read(y), strict=True):
            differences = (F.normalize(a.float()) - F.normalize(b.float())) ** 2
            distances = distances + differences.sum(1).mean((1, 2)) / 5
        return distances

    def _read(self, x: Tensor) -> list[Tensor]:
        network: Any = self.network
        features: list[Tensor] = network.forward_intermediates(
            normalise(x, self.config), intermediates_only=True
        )
        return features
