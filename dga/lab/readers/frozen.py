"""The frozen classifier as a reader, of pictures as they come or denoised without a network."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from skimage.restoration import denoise_nl_means
from torch import Tensor

from dga.explanation.noise_level import measure_noise
from dga.networks.classifier import predict_proba
from dga.networks.models import Models
from dga.profiles import DenoiseConfig


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


class NonLocalMeans(FrozenReader):
    """A classical denoiser before the classifier, to compare a diffusion model with.

    Non-local means (Buades et al., CVPR 2005), at the noise level that DGA+ measures.
    """

    settings: DenoiseConfig

    def read(self, x: Tensor, seeds: Sequence[int]) -> ReaderOutput:
        """Denoise ``[B, 3, S, S]`` in [-1, 1], then classify."""
        return super().read(torch.stack([self._denoise(picture) for picture in x]), seeds)

    def _denoise(self, picture: Tensor) -> Tensor:
        pixels = picture.movedim(0, -1).cpu().numpy()  # [S, S, 3]
        sigma = float(measure_noise(picture[None]))
        clean = denoise_nl_means(
            pixels, h=self.settings.strength * sigma, sigma=sigma, channel_axis=-1
        )
        return torch.from_numpy(clean).movedim(-1, 0).to(picture)
