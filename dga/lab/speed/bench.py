"""The bench: seconds an image of each part of the work."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pandas as pd
import skimage.data
import torch
from PIL import Image
from torch import Tensor
from tqdm import tqdm

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import Schedule
from dga.images import to_pixels, to_square, to_tensor
from dga.lab.readers.runner import SystemRunner, answer
from dga.lab.readers.systems import parse
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute, is_out_of_memory
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.pipeline import ForwardResult, denoise, find_stops
from dga.profiles import Diffusion, Profile, Repair

WHOLE_METHODS = ("dga-guided", "dga-plus")
"""Methods from the picture to the label."""
STEPS, TIMED_STEPS = 50, 2
Work = Callable[[], object]


def bench(models: Models, batches: Sequence[int]) -> pd.DataFrame:
    """A row for each batch size and task: seconds an image.

    A reconstruction is of :data:`STEPS`, of which two are run, since every step costs the same.
    What does not fit into memory has no seconds (NaN). Raises ``ValueError`` for an empty batch.
    """
    if min(batches) < 1:
        raise ValueError("Batches are whole numbers from 1 up.")
    rows = []
    for count in batches:
        works = make_works(models, make_pictures(models, count))
        bar = tqdm(works, bar_format="{desc} {elapsed}", leave=False)
        for task, share, work in bar:
            bar.set_description(f"{task}, batch {count}")
            seconds = measure_seconds(work, models.device) / share / count
            rows.append((task, count, models.compute.precision, seconds))
    return pd.DataFrame(rows, columns=["task", "batch", "precision", "seconds"])


def make_pictures(models: Models, count: int) -> Tensor:
    """scikit-image's cat under one corruption after the other, ``[B, 3, S, S]``."""
    cat = to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), models.profile.image_size))
    kinds = [CORRUPTIONS[i % len(CORRUPTIONS)] for i in range(count)]
    damaged = [corrupt(cat, kind, 5, seed) for seed, kind in enumerate(kinds)]
    return torch.stack([to_tensor(pixels) for pixels in damaged]).to(models.device)


def make_works(models: Models, x: Tensor) -> Iterator[tuple[str, float, Work]]:
    """Task, the share of the task that is timed, and the work."""
    for task in ("unguided", "guided"):
        strongest = models.profile.ancestral_guidance or models.profile.guidance
        guidance = strongest if task == "guided" else None
        repair = Repair(Diffusion(depth=TIMED_STEPS, guidance=guidance))
        events = find_stops(models, x, range(len(x)), [repair])
        forward = [event for event in events if isinstance(event, ForwardResult)]
        yield task, TIMED_STEPS / STEPS, partial(lambda ways: list(denoise(models, ways)), forward)
    for task in WHOLE_METHODS if models.weights else ():  # random ones choose no sensible depth
        method = {task: SystemRunner(models, parse(models.profile, task))}
        yield task, 1.0, partial(answer, method, x, range(len(x)))


def measure_seconds(work: Work, device: torch.device) -> float:
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


def make_random_models(profile: Profile, compute: Compute) -> Models:
    """Networks of a profile's shape with random weights: as slow as the real ones."""
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
