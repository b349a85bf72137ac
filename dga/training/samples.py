"""Pictures drawn by the frozen diffusion model, kept on disk in shards."""

from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from dga.diffusion import ReverseProcess, Schedule, draw_step_noise
from dga.images import Pixels, from_tensor
from dga.io.files import write_atomically
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
    process = ReverseProcess(schedule, compute.prepare(load_denoiser(profile, weights)))
    shape = 3, profile.image_size, profile.image_size
    folder = out / f"{weights_id(weights)}-{schedule.steps}"
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, count, SAMPLES_PER_SHARD)
    seeds = [range(first, min(count, first + SAMPLES_PER_SHARD)) for first in starts]
    paths = [folder / f"{few.start:06d}-{few.stop:06d}.npy" for few in seeds]
    for path, few in zip(paths, tqdm(seeds, desc="samples", unit="shard"), strict=True):
        if path.exists():
            continue
        noise = [draw_step_noise(seed, "forward", schedule.steps, shape) for seed in few]
        x = torch.stack(noise).to(device)
        for state in process.run(x, [schedule.steps] * len(few), few):
            x = state.x
        with write_atomically(path) as part, part.open("wb") as file:
            np.save(file, from_tensor(x))
    return np.concatenate([np.load(path) for path in paths])
