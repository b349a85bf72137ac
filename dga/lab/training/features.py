"""A distance between pictures as a frozen classifier sees them, for a loss."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.networks.classifier import load_packaged_classifier, normalise
from dga.profiles import get_profile
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import choose_classifier_config
from dga.weights.sources import Sources, find_packaged_checkpoint


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
        config = choose_classifier_config(get_profile("photo"), Sources(classifier=name))
        path = find_packaged_checkpoint(config.package)
        if path is None:
            raise WeightsError(f"Features are those of a classifier from a package, not {name}.")
        self.config = config
        self.network = load_packaged_classifier(config, path)

    def forward(self, x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """How far pictures are from what they should be, ``[B, 3, H, W]`` in [-1, 1] both.

        Returns the distances of their features, ``[B]``, and by how many nats the classifier's
        answers differ, ``[B]`` (Kullback and Leibler, 1951). No gradient reaches ``target``.
        """
        features, answer = self._see(x)
        with torch.no_grad():
            true_features, true_answer = self._see(target)
        distances = []
        for one, other in zip(features, true_features, strict=True):
            gap = F.normalize(one.float()) - F.normalize(other.float())  # [B, C, h, w]
            distances.append((gap**2).sum(1).mean((1, 2)))
        divergences = (true_answer.exp() * (true_answer - answer)).sum(1)
        return torch.stack(distances).mean(0), divergences

    def _see(self, x: Tensor) -> tuple[list[Tensor], Tensor]:
        """Features at each resolution, and log-probabilities ``[B, classes]``."""
        network: Any = self.network
        final, features = network.forward_intermediates(normalise(x, self.config))
        return features, network.forward_head(final).float().log_softmax(1)
