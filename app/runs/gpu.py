"""A GPU for the length of one run, on hosts that lend them (Hugging Face ZeroGPU)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import torch

from dga.networks.compute import default_device
from dga.networks.models import Models
from dga.profiles import Profile
from dga.speed.pace import most_passes
from dga.systems import System

LENT = "SPACES_ZERO_GPU"
DEVICE = "cuda"
START_SECONDS = 5.0
PASS_SECONDS = 0.1  # of the denoiser, one picture of 256 pixels, in float32

Asked = ParamSpec("Asked")
Step = TypeVar("Step")


def lends_gpus() -> bool:
    """Whether this host lends a GPU to one call at a time."""
    return os.environ.get(LENT, "").lower() in ("1", "t", "true")


if lends_gpus():
    import spaces  # it must come before anything asks for CUDA


def on_lent_gpu(
    steps: Callable[Concatenate[float, Asked], Generator[Step]],
) -> Callable[Concatenate[float, Asked], Generator[Step]]:
    """``steps`` with a GPU borrowed for as many seconds as their first argument says.

    Unchanged where none are lent. Arguments and steps travel between processes: NumPy
    arrays and plain records, no tensors, no locks.
    """
    if not lends_gpus():
        return steps
    return spaces.GPU(duration=lambda seconds, *asked: seconds)(steps)


def borrowed(models: Models) -> Models:
    """The models where the lent GPU is; as they are where none are lent.

    Called inside the wrapped steps. Outside them the models stay on the processor: a host
    that lends its GPUs has none for the rest of the page.
    """
    return models.to(torch.device(DEVICE)) if lends_gpus() else models


def choose_device() -> str:
    """Of models that are loaded before any GPU was lent."""
    return "cpu" if lends_gpus() else default_device()


def expected_seconds(profile: Profile, chosen: Sequence[System], paths: int) -> float:
    """An upper bound for one picture on a lent GPU, from its network passes.

    ``paths``: noise paths of the paper's curve. The discriminator judges about 16 states in the
    time of one pass of the denoiser.
    """
    judged, denoised = most_passes(profile, chosen, paths)
    passes = judged / 16 + denoised
    return START_SECONDS + passes * PASS_SECONDS * (profile.image_size / 256) ** 2
