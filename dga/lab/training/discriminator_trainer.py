"""Training the discriminator to tell noised corrupted images from noised source images.

A batch is read, corrupted and noised from its step and the run's seed alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import Dataset

from dga.diffusion import Schedule, compute_missing_variance
from dga.images import Pixels, recompress_jpeg, to_tensor
from dga.lab.data.cropping import View
from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.draws import choose_indices, make_rng, make_torch_rng
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.random_inverses import SecondPicture, draw_second_picture
from dga.lab.training.windows import PER_PICTURE, Photographs, corrupt_randomly, draw_places
from dga.networks.unet import Discriminator
from dga.profiles import Profile

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)
SHRINKING_KERNELS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)


def train_discriminator(
    training: Training, images: ImageSet, photographs: Photographs | None = None
) -> nn.Module:
    """Train on pairs of a source and a corrupted picture at one depth; return the moving average.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper). The share
    ``config.window_share`` of the pictures is cut from ``photographs``.
    """
    profile, device = training.profile, training.device
    identity = training.describe("discriminator", data=images, photographs=photographs)
    model = training.start(partial(Discriminator, profile.discriminator))

    def loss(batch: tuple[Tensor, ...]) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (tensor.to(device) for tensor in batch)
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    batches = PairBatches(profile, take_training(images), training.config, photographs)
    return training.fit(model, loss, identity, batches)


@dataclass(frozen=True)
class PairBatches(Dataset):
    """Makes the batch of each step, for which no network is needed.

    Of ``n`` pairs it holds states ``[2 n, 3, S, S]``, those of the source pictures first, their
    original timesteps, int64 ``[2 n]``, and targets, float ``[2 n]``, 1 for corrupted.
    ``images``: clean pictures. The share ``config.window_share`` of the pairs is cut from
    ``photographs``. Raises ``ValueError`` naming a picture that cannot be read.
    """

    profile: Profile
    images: ImageSet
    config: TrainConfig
    photographs: Photographs | None = None

    @cached_property
    def schedule(self) -> Schedule:
        return Schedule.from_config(self.profile.schedule)

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """The batch of a step.

        The pictures of a pair share a depth, drawn as T u^2, because the classes differ most near
        depth 0. With explanations it is one of the depths at which those are compared.
        """
        schedule, seed, count = self.schedule, self.config.seed, self.config.batch // 2
        rng = make_rng(seed, step)
        pictures = self.images.take(choose_indices(len(self.images), count, seed, step)).pixels
        pairs = make_pairs(self.config.corruptions, pictures, rng, View(self.profile))
        generator = make_torch_rng(rng)
        clean, corrupted = (to_tensor(pixels) for pixels in pairs)  # [n, 3, S, S]
        depths = ((schedule.steps + 1) * torch.rand(count, generator=generator) ** 2).long()
        depths = depths.clamp(max=schedule.steps)
        noise = torch.randn((2 * count, *clean.shape[1:]), generator=generator)
        second = [
            self._draw_second(*pair, rng)
            for pair in zip(clean, corrupted, depths.tolist(), strict=True)
        ]
        self._put_windows(clean, second, rng)
        target = torch.tensor([0.0] * count + [one.target for one in second])
        deviation = torch.tensor(
            [0.0] * count + [one.deviation for one in second], dtype=torch.float64
        )
        depth = torch.tensor([one.depth for one in second]).repeat(2)
        abar = schedule.alpha_bar[depth].view(-1, 1, 1, 1)
        missing = compute_missing_variance(abar, deviation.view(-1, 1, 1, 1).square())
        x_0 = torch.cat([clean, torch.stack([one.x for one in second])])
        x_k = x_0 * abar.sqrt().float() + noise * missing.sqrt().float()
        return x_k, schedule.time[depth], target

    def _draw_second(
        self, clean: Tensor, corrupted: Tensor, depth: int, rng: np.random.Generator
    ) -> SecondPicture:
        """The corrupted picture, with explanations perhaps after an inverse."""
        if not self.config.explanations:
            return SecondPicture(corrupted, 1.0, 0.0, depth)
        pair_rng = np.random.default_rng(rng.integers(2**62))
        return draw_second_picture(clean, corrupted, depth, self.schedule, pair_rng)

    def _put_windows(
        self, clean: Tensor, second: list[SecondPicture], rng: np.random.Generator
    ) -> None:
        """Replace the last pairs, a share ``config.window_share`` of them, by windows.

        Windows of one photograph are explained together, before they are cut.
        """
        if self.photographs is None:
            return
        count, side = len(clean), clean.shape[-1]
        begins = range(count - round(self.config.window_share * count), count, PER_PICTURE)
        for begin, seed in zip(begins, rng.integers(2**62, size=len(begins)), strict=True):
            window_rng = np.random.default_rng(seed)
            picture = self.photographs.draw_picture(window_rng)
            damaged = corrupt_randomly(picture, self.config.corruptions, window_rng)
            whole = to_tensor(picture)
            places = draw_places(window_rng, PER_PICTURE, side)
            other = self._draw_second(whole, to_tensor(damaged), second[begin].depth, window_rng)
            for i, (top, left) in zip(range(begin, count), places, strict=False):
                part = (..., slice(top, top + side), slice(left, left + side))
                clean[i], second[i] = whole[part], other._replace(x=other.x[part])


def make_pairs(
    corruptions: Sequence[str], pictures: Pixels, rng: np.random.Generator, view: View
) -> tuple[Pixels, Pixels]:
    """Source and corrupted pictures (labels 0 and 1), uint8 ``[n, S, S, 3]`` each.

    ``pictures``: uint8 ``[n, side, side, 3]``. A pair shows one picture twice; ``view`` brings both
    to the network's size.
    """
    clean, corrupted = [], []
    for picture in pictures:
        picture = vary_source(picture, rng)
        corrupted.append(view.finish(corrupt_randomly(picture, corruptions, rng)))
        clean.append(view.finish(picture))
    return np.stack(clean), np.stack(corrupted)


def vary_source(picture: Pixels, rng: np.random.Generator) -> Pixels:
    """A picture, uint8 ``[side, side, 3]``, varied so that it is still source data.

    People's own photographs are sharper than small training pictures and carry
    fewer JPEG traces. A third is therefore shrunk with one of several kernels and
    mirrored out to full size again, and a third re-encoded at JPEG quality 75-98.
    """
    side, image = len(picture), Image.fromarray(picture)
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if rng.random() < 1 / 3:
        shrunk = int(rng.integers(side * 9 // 16, side))
        kernel = SHRINKING_KERNELS[int(rng.integers(len(SHRINKING_KERNELS)))]
        before = int(rng.integers(side - shrunk + 1))
        margin = (before, side - shrunk - before)
        small = np.asarray(image.resize((shrunk, shrunk), kernel))
        image = Image.fromarray(np.pad(small, (margin, margin, (0, 0)), "reflect"))
    if rng.random() < 1 / 3:
        image = recompress_jpeg(np.asarray(image), int(rng.integers(75, 99)))
    return np.asarray(image)
