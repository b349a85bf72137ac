"""A distance between pictures as a frozen classifier sees them, for a loss."""

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
    """How differently a frozen ImageNet classifier sees two batches of pictures, in [0, 4].

    The distance of Zhang et al. (2018, Eq. 1) without its learned weights. At each resolution of
    the network every pixel's features are scaled to length 1; their squared differences are
    summed over channels and averaged over pixels. The distance is the mean over resolutions.

    ``name``: timm's name of a classifier whose weights are an installed package. Raises
    :class:`~dga.weights.checkpoints.WeightsError` where they are not.
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
        features_x, features_y = self._compute_features(x), self._compute_features(y)
        for a, b in zip(features_x, features_y, strict=True):
            differences = (F.normalize(a.float()) - F.normalize(b.float())) ** 2
            distances = distances + differences.sum(1).mean((1, 2)) / len(features_x)
        return distances

    def _compute_features(self, x: Tensor) -> list[Tensor]:
        """One tensor ``[B, C, h, w]`` for each resolution of the network, finest first."""
        network: Any = self.network
        features: list[Tensor] = network.forward_intermediates(
            normalise(x, self.config), intermediates_only=True
        )
        return features
