"""The bench: seconds an image from the picture to the label."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import skimage.data
import torch
from PIL import Image
from torch import Tensor

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import Schedule
from dga.images import to_pixels, to_square, to_tensor
from dga.lab.readers.runner import answer, create_runners
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute, is_out_of_memory
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import Profile

METHODS = ("dda", "dga-guided", "dga-plus")


def bench(models: Models, batches: Sequence[int]) -> pd.DataFrame:
    """A row for each batch size and method: seconds an image.

    What does not fit into memory has no seconds (NaN). Raises ``ValueError`` for an empty batch.
    """
    if min(batches) < 1:
        raise ValueError("Batches are whole numbers from 1 up.")
    rows = []
    for count in batches:
        x = make_pictures(models, count)
        for name in METHODS:
            runners = create_runners(models, [name])
            work = partial(answer, runners, x, range(count))
            seconds = measure_seconds(work, models.device) / count
            rows.append((name, count, models.compute.precision, seconds))
    return pd.DataFrame(rows, columns=["method", "batch", "precision", "seconds"])


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


def measure_seconds(work: Callable[[], object], device: torch.device) -> float:
    """Wall clock of the second run, from an idle device to an idle one; the first prepares kernels.

    NaN where memory runs out.
    """
    wait = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    try:
        work()
        wait()
        start_time = time.perf_counter()
        work()
        wait()
        return time.perf_counter() - start_time
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    if device.type == "cuda":
        torch.cuda.empty_cache()  # here, where the error no longer holds the work's tensors
    return math.nan
