"""Pictures drawn by the frozen diffusion model, kept on disk in shards."""

from collections.abc import Sequence
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
from dga.weights.store import weights_id

SAMPLES_PER_SHARD = 32
"""Also the batch: a larger one was no faster on the CPU."""


def draw_samples(
    profile: Profile, weights: Path, count: int, out: Path, device: torch.device
) -> Pixels:
    """Samples of the diffusion model, uint8 ``[count, S, S, 3]``; a killed run resumes.

    ``weights``: that model's. Sample i depends on its number and on the weights, which its
    shard's folder under ``out`` is named after. Raises ``WeightsError``.
    """
    schedule = Schedule.from_config(profile.schedule)
    compute = Compute(device, torch.float32)
    network = compute.prepare(load_denoiser(profile, weights))
    folder = out / f"{weights_id(weights)}-{schedule.steps}"
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, count, SAMPLES_PER_SHARD)
    seeds = [range(first, min(count, first + SAMPLES_PER_SHARD)) for first in starts]
    paths = [folder / f"{few.start:06d}-{few.stop:06d}.npy" for few in seeds]
    for path, few in zip(paths, tqdm(seeds, desc="samples", unit="shard"), strict=True):
        if not path.exists():
            with atomic(path) as part, part.open("wb") as file:
                np.save(file, _draw(schedule, network, profile.image_size, few, device))
    return np.concatenate([np.load(path) for path in paths])


def _draw(
    schedule: Schedule, network: nn.Module, size: int, seeds: Sequence[int], device: torch.device
) -> Pixels:
    """Pictures of one size, uint8 ``[N, S, S, 3]``, all at once."""
    noise = [step_noise(seed, "forward", schedule.steps, (3, size, size)) for seed in seeds]
    x = torch.stack(noise).to(device)
    depths = [schedule.steps] * len(seeds)
    for state in ReverseProcess(schedule, network).run(x, depths, list(seeds)):
        x = state.x
    return from_tensor(x)
