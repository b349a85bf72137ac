"""What the bench works on: pictures in the public domain, and models that need no weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import skimage.data
import torch
from PIL import Image
from torch import Tensor

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import Schedule, forward_path
from dga.images import to_pixels, to_square, to_tensor
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import Profile

SEVERITY = 5


@dataclass(frozen=True)
class Subject:
    """``count`` damaged pictures and the models that rebuild them."""

    models: Models
    count: int

    @cached_property
    def x(self) -> Tensor:
        """scikit-image's cat and coffee under one corruption after the other, ``[B, 3, S, S]``."""
        size = self.models.profile.image_size
        photographs = [
            to_pixels(to_square(Image.fromarray(picture), size))
            for picture in (skimage.data.chelsea(), skimage.data.coffee())
        ]
        damaged = [
            corrupt(
                photographs[i // len(CORRUPTIONS) % 2],
                CORRUPTIONS[i % len(CORRUPTIONS)],
                SEVERITY,
                i,
            )
            for i in range(self.count)
        ]
        return torch.stack([to_tensor(pixels) for pixels in damaged]).to(self.models.device)

    @property
    def seeds(self) -> list[int]:
        return list(range(self.count))

    def paths(self) -> Iterator[Tensor]:
        """Each picture's forward path, ``[T + 1, 3, S, S]``."""
        for seed, x in enumerate(self.x):
            yield forward_path(self.models.schedule, x, seed)

    def noised(self, depth: int) -> Tensor:
        """All of them at a depth, ``[B, 3, S, S]``."""
        return torch.stack([path[depth] for path in self.paths()])


def random_models(profile: Profile, compute: Compute) -> Models:
    """Networks of a profile's shape with random weights: as slow as the real ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        networks = (
            Denoiser(profile.denoiser),
            Discriminator(profile.discriminator),
            build_classifier(profile.classifier),
        )
    denoiser, discriminator, classifier = (
        compute.prepare(network.eval().requires_grad_(False)) for network in networks
    )
    return Models(
        profile=profile,
        schedule=Schedule.from_config(profile.schedule),
        denoiser=denoiser,
        discriminator=discriminator,
        classifier=classifier,
        source_quantiles={},
        compute=compute,
    )
