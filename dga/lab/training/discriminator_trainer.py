"""Training the discriminator to tell noised corrupted images from noised source images."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from dga.diffusion import ReverseProcess, Schedule, draw_step_noise
from dga.images import Pixels, from_tensor
from dga.io.files import write_atomically
from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.pairs import Batch, PairBatches
from dga.lab.training.studies import Study
from dga.lab.training.windows import Photographs
from dga.networks.compute import Compute
from dga.networks.models import load_denoiser
from dga.networks.unet import Discriminator
from dga.weights.checkpoints import read_checkpoint
from dga.weights.sources import Sources
from dga.weights.store import fill_network, load_weights, weights_id

LAST_LAYER = "out.2.c_proj."
"""The one layer whose shape depends on the number of classes."""
SAMPLES_PER_SHARD = 32
"""Also the batch: a larger one was no faster on the CPU."""

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)


def train_discriminator(
    training: Training,
    images: ImageSet,
    study: Study = Study(),
    photographs: Photographs | None = None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train on pairs of a source and a corrupted picture at one depth, as the study says.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper).
    The share ``config.window_share`` of the pictures is cut from ``photographs``. Returns the
    moving average of the network, and what its ``config.json`` says of the study.
    """
    profile, config, device = training.profile, training.config, training.device
    diffusion = Sources(diffusion=study.diffusion).locate(profile)["diffusion"]
    is_generated = study.source == "generated"
    facts = study.facts(weights_id(diffusion) if is_generated else "")
    windows = photographs and photographs.fingerprint()
    identity = training.describe("discriminator", images.fingerprint(), photographs=windows)
    images = take_training(images)
    is_file = training.init is not None and not training.init.is_dir()
    load = load_backbone if is_file else load_weights
    model = training.start(partial(Discriminator, profile.discriminator), load)

    def make_batches() -> PairBatches:
        samples = draw_samples(training, diffusion, study.samples) if is_generated else None
        return PairBatches(profile, study, images, config, samples, photographs)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (tensor.to(device) for tensor in batch)
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    network = training.fit(model, loss, identity | facts, make_batches)
    return network, facts


def load_backbone(network: Discriminator, path: Path) -> Discriminator:
    """Fill a discriminator from a classifier's checkpoint (``256x256_classifier.pt``).

    All tensors but those of the last layer must be there in the right shape; that layer keeps its
    fresh weights. Raises :class:`~dga.weights.checkpoints.WeightsError` naming what differs.
    """
    fresh = network.net.state_dict()
    last = {name: value for name, value in fresh.items() if name.startswith(LAST_LAYER)}
    fill_network(network.net, path, read_checkpoint(path) | last)
    return network


def draw_samples(training: Training, weights: Path, count: int) -> Pixels:
    """Samples of the frozen diffusion model, uint8 ``[count, S, S, 3]``; a killed run resumes.

    ``weights``: that model's. They are kept in shards under the run's ``samples``, in a folder that
    is named after the weights. Sample i depends on these and on its number. Raises
    ``WeightsError``.
    """
    profile, schedule = training.profile, Schedule.from_config(training.profile.schedule)
    compute = Compute(training.device, torch.float32)
    process = ReverseProcess(schedule, compute.prepare(load_denoiser(profile, weights)))
    shape = 3, profile.image_size, profile.image_size
    folder = training.out / "samples" / f"{weights_id(weights)}-{schedule.steps}"
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, count, SAMPLES_PER_SHARD)
    seeds = [range(first, min(count, first + SAMPLES_PER_SHARD)) for first in starts]
    paths = [folder / f"{few.start:06d}-{few.stop:06d}.npy" for few in seeds]
    for path, few in zip(paths, tqdm(seeds, desc="samples", unit="shard"), strict=True):
        if path.exists():
            continue
        noise = [draw_step_noise(seed, "forward", schedule.steps, shape) for seed in few]
        x = torch.stack(noise).to(training.device)
        for state in process.run(x, [schedule.steps] * len(few), few):
            x = state.x
        with write_atomically(path) as part, part.open("wb") as file:
            np.save(file, from_tensor(x))
    return np.concatenate([np.load(path) for path in paths])
