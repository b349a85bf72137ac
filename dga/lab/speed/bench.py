"""The bench: seconds an image from the picture to the label."""

import timeit
from collections.abc import Iterator, Sequence
from functools import partial

import skimage.data
import torch
from PIL import Image
from torch import Tensor

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import Schedule
from dga.images import to_pixels, to_square, to_tensor
from dga.lab.readers.runner import answer, create_runners
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import Profile

METHODS = ("dda", "dga-guided", "dga-plus")


def bench(models: Models, batches: Sequence[int]) -> Iterator[tuple[str, int, float]]:
    """Each method and size of a batch, with the seconds an image, as they are measured.

    A batch is timed the second time that it is read, because the first prepares kernels. Raises
    ``MemoryError`` for one that does not fit into memory.
    """
    for count in batches:
        x = make_pictures(models, count)
        for name in METHODS:
            work = partial(answer, create_runners(models, [name]), x, range(count))
            _, seconds = timeit.repeat(work, repeat=2, number=1)  # answers are on the CPU
            yield name, count, seconds / count


def make_pictures(models: Models, count: int) -> Tensor:
    """scikit-image's cat under one corruption after the other, ``[B, 3, S, S]``."""
    cat = to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), models.profile.image_size))
    kinds = [CORRUPTIONS[i % len(CORRUPTIONS)] for i in range(count)]
    damaged = [corrupt(cat, kind, 5, seed) for seed, kind in enumerate(kinds)]
    return torch.stack([to_tensor(pixels) for pixels in damaged]).to(models.device)


def make_random_models(profile: Profile, compute: Compute) -> Models:
    """Networks of a profile's shape with random weights: as slow as the real ones at each depth."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        networks = (
            Denoiser(profile.denoiser),
            Discriminator(profile.discriminator),
            build_classifier(profile.classifier),
        )
    denoiser, judge, classifier = (
        compute.prepare(network.eval().requires_grad_(False)) for network in networks
    )
    schedule = Schedule.from_config(profile.schedule)
    return Models(profile, schedule, denoiser, judge, judge, classifier, compute)
