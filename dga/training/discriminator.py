"""Training the discriminator to tell noised corrupted images from noised source images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import trange

from dga.data import ImageSet, split_training
from dga.diffusion import Schedule, forward_path
from dga.discriminator import curve, estimate_x0
from dga.images import Pixels, to_tensor
from dga.networks import Discriminator
from dga.profiles import Profile
from dga.training import loop
from dga.training.loop import TrainConfig
from dga.training.pairs import make_pairs
from dga.training.samples import Prior, generate
from dga.training.studies import Study

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)
QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.975, 0.99)
HELD_OUT_IMAGES = 512
HELD_OUT_ESTIMATES = 256
"""Fewer for x0_hat: each costs a hundred passes of the denoiser."""


def train_discriminator(
    profile: Profile,
    images: ImageSet,
    config: TrainConfig,
    out: Path,
    device: torch.device,
    init: Path | None = None,
    study: Study | None = None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train on pairs of a source and a corrupted picture at one depth, as the study says.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper).
    Returns the moving average and what its config must keep: the study, and the
    logits that held-out clean images stay below, by quantile and depth.
    """
    study = study or Study()
    prior = Prior.load(profile, study, device) if study.diffusion_needed else None
    made_by = prior.made_by if prior else ""
    identity = loop.describe_run("discriminator", profile, images, init, study.identity(made_by))
    used, held_out = split_training(images)
    torch.manual_seed(config.seed)
    model = Discriminator(profile.discriminator)
    loop.start_from(model, init, out)
    model.to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.lr, weight_decay=config.weight_decay
    )
    batches = Batches(profile, study, used, config, prior, study.shards or out / "samples")

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (v.to(device) for v in batches.draw(step, device))
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    network = loop.run(model, optimizer, loss, config, out, device, identity)
    denoiser = batches.denoiser
    count = HELD_OUT_IMAGES if denoiser is None else HELD_OUT_ESTIMATES
    bounds = source_bounds(profile, network, held_out.pixels[:count], device, denoiser)
    return network, {**study.facts(made_by), "source_quantiles": bounds}


@dataclass(frozen=True)
class Batches:
    """The batches of one run; the seed and the step's number fix each."""

    profile: Profile
    study: Study
    images: ImageSet
    config: TrainConfig
    prior: Prior | None
    shards: Path

    @cached_property
    def schedule(self) -> Schedule:
        """The profile's schedule."""
        return Schedule.from_config(self.profile.schedule)

    @cached_property
    def samples(self) -> Pixels | None:
        """Generated pictures, drawn when first wanted: after a foreign checkpoint was refused."""
        if self.prior is None or not self.study.samples_needed:
            return None
        return generate(self.profile, self.prior, self.study.samples, self.shards)

    @property
    def denoiser(self) -> nn.Module | None:
        """The network whose x0_hat is judged; ``None`` when x_t is."""
        return self.prior.network if self.prior and self.study.input == "x0_hat" else None

    def draw(self, step: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """What is judged ``[2 n, 3, S, S]``, network times and labels ``[2 n]``.

        Depths are drawn as T u^2: most of them lie where the classes still differ.
        Both pictures of a pair are at one depth.
        """
        schedule, rng = self.schedule, loop.step_rng(self.config.seed, step)
        rows = loop.batch_rows(len(self.images), self.config.batch // 2, self.config.seed, step)
        pairs = make_pairs(self.study, self.images.pixels[rows], self.samples, rng)
        generator = loop.torch_rng(rng)
        x_0 = to_tensor(np.concatenate(pairs))  # [2 n, 3, S, S]
        depth = ((schedule.steps + 1) * torch.rand(len(rows), generator=generator) ** 2).long()
        depth = depth.clamp(max=schedule.steps).repeat(2)
        noise = torch.randn(x_0.shape, generator=generator)
        abar = schedule.alpha_bar[depth].view(-1, 1, 1, 1)
        x_k = x_0 * abar.sqrt().float() + noise * (1 - abar).sqrt().float()
        if self.denoiser is not None:
            x_k = estimate_x0(schedule, self.denoiser, x_k.to(device), depth)
        return x_k, schedule.time[depth], torch.arange(2).repeat_interleave(len(rows)).float()


def source_bounds(
    profile: Profile,
    network: nn.Module,
    pixels: Pixels,
    device: torch.device,
    denoiser: nn.Module | None = None,
) -> dict[str, list[float]]:
    """Quantiles of clean pictures' logits at each depth, ``{quantile: [T + 1]}``."""
    schedule = Schedule.from_config(profile.schedule)
    logits = []
    for i in trange(len(pixels), desc="held-out images", mininterval=1.0):
        path = forward_path(schedule, to_tensor(pixels[i]), seed=i)
        logits.append(curve(schedule, network, path.to(device), denoiser).numpy())
    table = np.quantile(np.stack(logits), QUANTILES, axis=0)  # [Q, T + 1]
    return {
        str(q): [round(float(v), 4) for v in row] for q, row in zip(QUANTILES, table, strict=True)
    }
