"""Training the diffusion model on source images alone."""

from dataclasses import dataclass
from functools import partial

import torch
from guided_diffusion.script_util import create_gaussian_diffusion
from torch import Tensor, nn
from torch.utils.data import Dataset

from dga.diffusion import Schedule
from dga.images import to_tensor
from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.draws import choose_indices, make_rng, make_torch_rng
from dga.lab.training.features import FeatureDistance
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.windows import Photographs
from dga.networks.unet import Denoiser
from dga.profiles import ScheduleConfig

DEFAULTS = TrainConfig(images=200_000, batch=32, lr=4e-4, warmup=300, decay=0.3)
FEATURE_WEIGHT = 0.1
"""Weight of the distance between features in the loss (see the diffusion model's card)."""
WINDOW_SCALE = 2
"""The side of a window of a photograph, as a multiple of that of a picture."""
SHALLOW_SHARE = 0.9
"""The share of the timesteps that ``max_depth`` bounds."""


def train_diffusion(
    training: Training, images: ImageSet, photographs: Photographs | None = None
) -> nn.Module:
    """Train a :class:`~dga.networks.unet.Denoiser` and return its moving average.

    Raises ``ValueError`` unless ``config.max_depth`` is in 1...T or None.
    """
    config, schedule = training.config, training.profile.schedule
    last = None if config.max_depth is None else find_last_timestep(schedule, config.max_depth)
    identity = training.describe("diffusion", data=images, photographs=photographs)
    model = training.start(partial(Denoiser, training.profile.denoiser))
    batches = DiffusionBatches(take_training(images), schedule.timesteps, config, last, photographs)
    return training.fit(model, DiffusionLoss(training, model, last), identity, batches)


class DiffusionLoss:
    """The hybrid loss of Nichol and Dhariwal (2021, Eq. 16), by the guided-diffusion package.

    Where ``config.features`` names a classifier, the distance between what it sees in the clean
    estimate and in the picture (:class:`~dga.lab.training.features.FeatureDistance`) is added, for
    timesteps up to ``last``.
    """

    def __init__(self, training: Training, model: nn.Module, last: int | None) -> None:
        timesteps = training.profile.schedule.timesteps
        self.model, self.device, self.last = model, training.device, last or timesteps
        self.process = create_gaussian_diffusion(
            steps=timesteps, learn_sigma=True, noise_schedule="linear"
        )
        features = training.config.features
        self.distance = FeatureDistance(features).to(self.device) if features else None
        # By timestep: sqrt((1 - abar) / abar).
        noise_to_signal = torch.from_numpy(self.process.sqrt_recipm1_alphas_cumprod)
        self.noise_to_signal = noise_to_signal.float().to(self.device)

    def __call__(self, batch: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, dict[str, float]]:
        """The loss of a batch of :class:`DiffusionBatches`, and its parts for the progress bar."""
        x, time, noise = (v.to(self.device, non_blocking=True) for v in batch)
        output = self.model(self.process.q_sample(x, time, noise=noise), time)  # [B, 6, S, S]
        terms = self.process.training_losses(lambda *_: output, x, time, noise=noise)
        value, metrics = terms["loss"].mean(), {"mse": float(terms["mse"].detach().mean())}
        if self.distance is not None:
            # The clean estimate differs from x by what is wrong in the predicted noise.
            x0_hat = x + self.noise_to_signal[time].view(-1, 1, 1, 1) * (noise - output[:, :3])
            distances = self.distance(x0_hat, x)[0] * (time <= self.last)
            value = value + FEATURE_WEIGHT * distances.mean()
            metrics["features"] = float(distances.detach().mean())
        return value, metrics


def find_last_timestep(schedule: ScheduleConfig, max_depth: int) -> int:
    """The original timestep at a respaced depth. Raises ``ValueError`` unless that is in 1...T."""
    if not 1 <= max_depth <= schedule.steps:
        raise ValueError(f"The deepest depth is 1 to {schedule.steps}, not {max_depth}.")
    return int(Schedule.from_config(schedule).time[max_depth])


@dataclass(frozen=True)
class DiffusionBatches(Dataset):
    """Batches by step: pictures ``[B, 3, S, S]``, half of them flipped, timesteps ``[B]``, noise.

    Timesteps are drawn as 1000 u^1.5: adaptation starts from moderate depths, so those are
    seen most. With ``last``, nine in ten are drawn evenly from 0...last, and the rest as
    ever, so that what is known of deeper states is not forgotten. ``config.window_share`` of the
    batches are windows of ``photographs``: a quarter as many, twice as wide.
    """

    images: ImageSet
    timesteps: int
    config: TrainConfig
    last: int | None = None
    photographs: Photographs | None = None

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        config, images = self.config, self.images
        rng = make_rng(config.seed, step)
        generator = make_torch_rng(rng)
        if self.photographs and rng.random() < config.window_share:
            count = max(1, config.batch // WINDOW_SCALE**2)
            side = WINDOW_SCALE * images.crop.side
            pixels = self.photographs.cut_windows(rng, count, side)
        else:
            indices = choose_indices(len(images), config.batch, config.seed, step)
            pixels = images.take(indices).pixels
        x = to_tensor(pixels)
        flipped = torch.rand(len(x), generator=generator) < 0.5
        x[flipped] = x[flipped].flip(-1)
        u = torch.rand(len(x), generator=generator)
        time = (self.timesteps * u**1.5).long()
        noise = torch.randn(x.shape, generator=generator)
        if self.last is not None:
            shallow = torch.rand(len(x), generator=generator) < SHALLOW_SHARE
            time = torch.where(shallow, (u * (self.last + 1)).long(), time)
        return x, time, noise
