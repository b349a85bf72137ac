"""The frozen classifier as a reader, of pictures as they come or denoised without a network."""

from collections.abc import Sequence
from typing import Any

import torch
from skimage.restoration import denoise_nl_means
from torch import Tensor

from dga.explanation.noise_level import measure_noise
from dga.networks.classifier import predict_proba
from dga.networks.models import Models


class Reader:
    """The classifier as it is; what other readers have in common.

    ``settings``: a reader's own, None without any. Raises ``ValueError`` for a classifier that a
    reader cannot adapt.
    """

    def __init__(self, models: Models, settings: Any = None) -> None:
        self.models, self.settings = models, settings

    def reset(self) -> None:
        """Forget what was learned from pictures; here that is nothing."""

    def prepare(self, x: Tensor) -> Tensor:
        """Pictures as the classifier is shown them, ``[B, 3, S, S]`` in [-1, 1] as before."""
        return x

    def read(self, x: Tensor, seeds: Sequence[int]) -> Tensor:
        """Probabilities ``[B, classes]`` of prepared pictures, on the CPU; ``seeds``: one each."""
        return predict_proba(self.models.classifier, x, self.models.profile.classifier).cpu()


class NonLocalMeans(Reader):
    """A classical denoiser before the classifier, to compare a diffusion model with.

    Non-local means (Buades et al., CVPR 2005), at the noise level that DGA+ measures.
    """

    def prepare(self, x: Tensor) -> Tensor:
        """Denoise each picture."""
        return torch.stack([self._denoise(picture) for picture in x])

    def _denoise(self, picture: Tensor) -> Tensor:
        pixels = picture.movedim(0, -1).cpu().numpy()  # [S, S, 3]
        sigma = measure_noise(picture)
        clean = denoise_nl_means(
            pixels, h=self.settings.strength * sigma, sigma=sigma, channel_axis=-1
        )
        return torch.from_numpy(clean).movedim(-1, 0).to(picture)
