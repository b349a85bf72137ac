"""Pictures drawn by the frozen diffusion model, kept on disk in shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import trange

from dga.compute import Compute
from dga.diffusion import Schedule, reverse, step_noise
from dga.images import Pixels, from_tensor
from dga.networks import Denoiser
from dga.profiles import Profile
from dga.training.studies import Study
from dga.weights import load_weights, weights_folder, weights_id

SAMPLES_PER_SHARD = 32
"""Also the batch: a larger one was no faster on the CPU."""


@dataclass(frozen=True)
class Prior:
    """The frozen diffusion model of a study. ``made_by`` names its exact weights."""

    network: nn.Module
    made_by: str
    compute: Compute

    @classmethod
    def load(cls, profile: Profile, study: Study, device: torch.device) -> Prior:
        """Its weights at the study's precision. Raises :class:`~dga.weights.WeightsError`."""
        folder = study.diffusion or weights_folder(profile.name, "diffusion")
        compute = Compute(device, getattr(torch, study.precision))
        network = compute.prepare(load_weights(Denoiser(profile.denoiser), folder))
        return cls(network, weights_id(folder), compute)


def generate(profile: Profile, prior: Prior, count: int, out: Path) -> Pixels:
    """Samples of the diffusion model, uint8 ``[count, S, S, 3]``; a killed run resumes.

    Sample i depends on its number, the weights and the precision, which its shard's
    folder under ``out`` is named after: several studies may share one ``out``.
    """
    schedule = Schedule.from_config(profile.schedule)
    precision = prior.compute.precision
    folder = out / f"{prior.made_by}-{schedule.steps}-{precision}"
    folder.mkdir(parents=True, exist_ok=True)
    shards = []
    for first in trange(0, count, SAMPLES_PER_SHARD, desc="samples", unit="shard"):
        seeds = range(first, min(count, first + SAMPLES_PER_SHARD))
        path = folder / f"{first:06d}-{seeds.stop:06d}.npy"
        if not path.exists():
            part = path.with_suffix(".part.npy")
            np.save(part, _draw(schedule, prior, seeds, profile.image_size))
            part.replace(path)
        shards.append(np.load(path))
    return np.concatenate(shards)


def _draw(schedule: Schedule, prior: Prior, seeds: range, size: int) -> Pixels:
    noise = [step_noise(seed, "forward", schedule.steps, (3, size, size)) for seed in seeds]
    x = torch.stack(noise).to(prior.compute.device)
    depths = [schedule.steps] * len(seeds)
    # Samples are first wanted inside the trainer's autocast; they keep their own precision.
    with torch.autocast(x.device.type, enabled=False):
        for state in reverse(schedule, prior.network, x, depths, list(seeds)):
            x = state.x
    return from_tensor(x)
