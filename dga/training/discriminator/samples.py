"""Pictures drawn by the frozen diffusion model, kept on disk in shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from dga.diffusion import ReverseProcess, Schedule, step_noise
from dga.images import Pixels, from_tensor
from dga.io.files import atomic
from dga.networks.compute import Compute
from dga.networks.models import load_denoiser
from dga.profiles import Profile
from dga.training.discriminator.studies import Study
from dga.weights.store import weights_folder, weights_id

SAMPLES_PER_SHARD = 32
"""Also the batch: a larger one was no faster on the CPU."""


@dataclass(frozen=True)
class Prior:
    """The frozen diffusion model of a study. ``diffusion_id`` names its exact weights."""

    network: nn.Module
    diffusion_id: str
    compute: Compute

    @classmethod
    def load(cls, profile: Profile, study: Study, device: torch.device) -> Prior:
        """Load the study's diffusion model at its precision. Raises ``WeightsError``."""
        folder = study.diffusion or weights_folder(profile.name, "diffusion")
        compute = Compute(device, getattr(torch, study.precision))
        network = compute.prepare(load_denoiser(profile, folder))
        return cls(network, weights_id(folder), compute)


def draw_samples(profile: Profile, prior: Prior, count: int, out: Path) -> Pixels:
    """Samples of the diffusion model, uint8 ``[count, S, S, 3]``; a killed run resumes.

    Sample i depends on its number, the weights and the precision, which its shard's
    folder under ``out`` is named after: several studies may share one ``out``.
    """
    schedule = Schedule.from_config(profile.schedule)
    folder = out / f"{prior.diffusion_id}-{schedule.steps}-{prior.compute.precision}"
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, count, SAMPLES_PER_SHARD)
    seeds = [range(first, min(count, first + SAMPLES_PER_SHARD)) for first in starts]
    paths = [folder / f"{few.start:06d}-{few.stop:06d}.npy" for few in seeds]
    for path, few in zip(paths, tqdm(seeds, desc="samples", unit="shard"), strict=True):
        if not path.exists():
            with atomic(path) as part, part.open("wb") as file:
                np.save(file, _draw(schedule, prior, profile.image_size, few))
    return np.concatenate([np.load(path) for path in paths])


def _draw(schedule: Schedule, prior: Prior, size: int, seeds: Sequence[int]) -> Pixels:
    """Pictures of one size, uint8 ``[N, S, S, 3]``, all at once."""
    noise = [step_noise(seed, "forward", schedule.steps, (3, size, size)) for seed in seeds]
    x = torch.stack(noise).to(prior.compute.device)
    depths = [schedule.steps] * len(seeds)
    # Samples are first wanted inside the trainer's autocast; they keep their own precision.
    with torch.autocast(x.device.type, enabled=False):
        for state in ReverseProcess(schedule, prior.network).run(x, depths, list(seeds)):
            x = state.x
    return from_tensor(x)
