"""Training the discriminator to tell noised corrupted images from noised source images."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn
from tqdm import trange

from dga.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from dga.data import ImageSet, split_training
from dga.diffusion import Schedule, forward_path, reverse, step_noise
from dga.discriminator import curve
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks import Denoiser, Discriminator
from dga.profiles import Profile
from dga.training import loop
from dga.training.loop import TrainConfig
from dga.weights import load_weights, weights_folder, weights_id

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)
SOURCES = ("images", "generated")
QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.975, 0.99)
HELD_OUT_IMAGES = 512
SAMPLES_PER_SHARD = 64
KERNELS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)


@dataclass(frozen=True)
class SourceOptions:
    """Class 0: clean ``images`` (shipped), or ``generated`` by the diffusion model."""

    kind: str = "images"
    diffusion: Path | None = None
    samples: int = 4096

    def __post_init__(self) -> None:
        if self.kind not in SOURCES:
            raise ValueError(f"Unknown source {self.kind!r}. Choose one of: {', '.join(SOURCES)}.")


def train_discriminator(
    profile: Profile,
    images: ImageSet,
    config: TrainConfig,
    out: Path,
    device: torch.device,
    init: Path | None = None,
    source: SourceOptions | None = None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train on pairs (a source picture; the same or another one, corrupted) at one depth.

    All 15 corruptions and all severities, binary cross-entropy, balanced classes
    (section 3.2 of the paper). Depths are drawn as T u^2: most of them lie where the
    classes still differ. Returns the moving average and what its config must keep:
    the logits that held-out clean images stay below, by quantile and depth.
    """
    source = source or SourceOptions()
    schedule = Schedule.from_config(profile.schedule)
    used, held_out = split_training(images)
    generated, made_by = None, ""
    if source.kind == "generated":
        folder = source.diffusion or weights_folder(profile.name, "diffusion")
        made_by = weights_id(folder)
        shards = out / f"generated-{made_by}"
        generated = generate(profile, folder, source.samples, shards, device)
    identity = loop.describe_run(
        "discriminator", profile, images, init, f"{source.kind} {made_by}".strip()
    )
    torch.manual_seed(config.seed)
    model = Discriminator(profile.discriminator)
    loop.start_from(model, init, out)
    model.to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.lr, weight_decay=config.weight_decay
    )
    scale = schedule.alpha_bar.sqrt().float()  # [T + 1]
    sigma = (1 - schedule.alpha_bar).sqrt().float()

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        rng = loop.step_rng(config.seed, step)
        rows = loop.batch_rows(len(used), config.batch // 2, config.seed, step)
        clean, corrupted = make_pairs(used.pixels[rows], generated, rng)
        generator = loop.torch_rng(rng)
        x_0 = to_tensor(np.concatenate([clean, corrupted]))  # [2 n, 3, S, S]
        depth = ((schedule.steps + 1) * torch.rand(len(rows), generator=generator) ** 2).long()
        depth = depth.clamp(max=schedule.steps).repeat(2)
        noise = torch.randn(x_0.shape, generator=generator)
        x_k = x_0 * scale[depth].view(-1, 1, 1, 1) + noise * sigma[depth].view(-1, 1, 1, 1)
        target = torch.arange(2, device=device).repeat_interleave(len(rows)).float()
        logits = model(x_k.to(device), schedule.time[depth].to(device))
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    network = loop.run(model, optimizer, loss, config, out, device, identity)
    bounds = source_bounds(profile, network, held_out.pixels[:HELD_OUT_IMAGES], device)
    return network, {"source": source.kind, "source_quantiles": bounds}


def make_pairs(
    pixels: Pixels, generated: Pixels | None, rng: np.random.Generator
) -> tuple[Pixels, Pixels]:
    """Source and corrupted pictures, uint8 ``[n, S, S, 3]`` each."""
    clean, corrupted = [], []
    for picture in pixels:
        picture = vary_source(picture, rng)
        name = CORRUPTIONS[int(rng.integers(len(CORRUPTIONS)))]
        severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
        corrupted.append(corrupt(picture, name, severity, int(rng.integers(2**31))))
        if generated is not None:
            picture = vary_source(generated[int(rng.integers(len(generated)))], rng)
        clean.append(picture)
    return np.stack(clean), np.stack(corrupted)


def vary_source(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A picture that is still source data: flipped, resampled, lightly compressed.

    People's own photographs are sharper than small training pictures and carry
    fewer JPEG traces. A third is therefore shrunk with one of several kernels and
    mirrored out to full size again, and a third re-encoded at JPEG quality 75-98.
    """
    size = pixels.shape[0]
    image = Image.fromarray(pixels)
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if rng.random() < 1 / 3:
        side = int(rng.integers(size * 9 // 16, size))
        image = image.resize((side, side), KERNELS[int(rng.integers(len(KERNELS)))])
        before = int(rng.integers(size - side + 1))
        margin = (before, size - side - before)
        image = Image.fromarray(np.pad(np.asarray(image), (margin, margin, (0, 0)), "reflect"))
    if rng.random() < 1 / 3:
        buffer = BytesIO()
        image.save(buffer, "JPEG", quality=int(rng.integers(75, 99)))
        image = Image.open(buffer)
    return np.asarray(image)


def source_bounds(
    profile: Profile, network: nn.Module, pixels: Pixels, device: torch.device
) -> dict[str, list[float]]:
    """Quantiles of clean pictures' logits at each depth, ``{quantile: [T + 1]}``."""
    schedule = Schedule.from_config(profile.schedule)
    logits = []
    for i in trange(len(pixels), desc="held-out images", mininterval=1.0):
        path = forward_path(schedule, to_tensor(pixels[i]), seed=i)
        logits.append(curve(schedule, network, path.to(device)).numpy())
    table = np.quantile(np.stack(logits), QUANTILES, axis=0)  # [Q, T + 1]
    return {
        str(q): [round(float(v), 4) for v in row] for q, row in zip(QUANTILES, table, strict=True)
    }


def generate(
    profile: Profile, weights: Path, count: int, out: Path, device: torch.device
) -> Pixels:
    """Samples of the diffusion model, uint8 ``[count, S, S, 3]``, kept in shards that resume."""
    out.mkdir(parents=True, exist_ok=True)
    schedule = Schedule.from_config(profile.schedule)
    network = load_weights(Denoiser(profile.denoiser), weights).to(device)
    shape = (3, profile.image_size, profile.image_size)
    shards = []
    for first in trange(0, count, SAMPLES_PER_SHARD, desc="samples"):
        path = out / f"{first:06d}.npy"
        if not path.exists():
            seeds = range(first, min(count, first + SAMPLES_PER_SHARD))
            x = torch.stack([step_noise(s, "forward", schedule.steps, shape) for s in seeds])
            depths = [schedule.steps] * len(seeds)
            for state in reverse(schedule, network, x.to(device), depths, list(seeds)):
                x = state.x
            part = path.with_suffix(".part.npy")
            np.save(part, from_tensor(x))
            part.rename(path)
        shards.append(np.load(path))
    return np.concatenate(shards)
