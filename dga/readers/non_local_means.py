"""A classical denoiser before the classifier, to compare a diffusion model with.

Non-local means (Buades et al., CVPR 2005), at the noise level that DGA+ measures.
"""

from collections.abc import Sequence

import torch
from skimage.restoration import denoise_nl_means
from torch import Tensor

from dga.explanation.noise_level import measure_noise
from dga.profiles import DenoiseConfig
from dga.readers.frozen import FrozenReader, ReaderOutput


class NonLocalMeans(FrozenReader):
    """A reader that denoises each picture before the frozen classifier sees it."""

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
