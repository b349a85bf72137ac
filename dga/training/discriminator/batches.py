"""The discriminator's batches: read, corrupted, noised; the seed and the step fix each."""

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet
from dga.diffusion import Schedule, missing_variance
from dga.images import Pixels, to_tensor
from dga.io.parsing import first_names
from dga.profiles import Profile
from dga.training import loop
from dga.training.discriminator.explanations import SecondPictures, draw_second_pictures
from dga.training.discriminator.pairs import make_pairs
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig
from dga.training.windows import PER_PICTURE, Photographs, draw_places

_log = logging.getLogger(__name__)
NAMES_SHOWN = 3


class Batch(NamedTuple):
    """One batch: ``x_k`` ``[2 n, 3, S, S]``, sources first; the rest ``[2 n]``."""

    x_k: Tensor
    time: Tensor
    target: Tensor


@dataclass(frozen=True)
class PairBatches(Dataset):
    """Batches by step: the work on them that needs no network, for other processes to do.

    ``photographs``: of which ``config.windows`` of the pairs are cut.
    """

    profile: Profile
    study: Study
    images: ImageSet | ImageFiles
    config: TrainConfig
    samples: Pixels | None = None
    photographs: Photographs | None = None

    @cached_property
    def schedule(self) -> Schedule:
        return Schedule.from_config(self.profile.schedule)

    def __getitem__(self, step: int) -> Batch:
        """The batch of a step. The pictures of a pair share a depth, drawn as T u^2: most lie where
        the classes still differ. With explanations, at the depths where those are compared.
        """
        schedule, seed = self.schedule, self.config.seed
        rng = loop.make_rng(seed, step)
        rows = loop.choose_rows(len(self.images), self.config.batch // 2, seed, step)
        pictures, count = self._read(rows), len(rows)
        pairs = make_pairs(self.study, pictures, self.samples, rng, View.of(self.profile))
        generator = loop.make_torch_rng(rng)
        clean, corrupted = (to_tensor(pixels) for pixels in pairs)  # [n, 3, S, S]
        depth = ((schedule.steps + 1) * torch.rand(count, generator=generator) ** 2).long()
        depth = depth.clamp(max=schedule.steps)
        noise = torch.randn((2 * count, *clean.shape[1:]), generator=generator)
        second = self._draw_second(clean, corrupted, depth, rng)
        if self.photographs:
            self._put_windows(self.photographs, clean, second, rng)
        target = torch.cat([torch.zeros(count), second.target])
        deviation = torch.cat([torch.zeros_like(second.deviation), second.deviation])
        depth = second.depth.repeat(2)
        abar = schedule.alpha_bar[depth].view(-1, 1, 1, 1)
        missing = missing_variance(abar, deviation.view(-1, 1, 1, 1).square())
        x_0 = torch.cat([clean, second.x])
        x_k = x_0 * abar.sqrt().float() + noise * missing.sqrt().float()
        return Batch(x_k, schedule.time[depth], target)

    def _draw_second(
        self, clean: Tensor, corrupted: Tensor, depth: Tensor, rng: np.random.Generator
    ) -> SecondPictures:
        """The corrupted pictures as they are; in a study of explanations, some with an inverse."""
        count = len(clean)
        if self.study.explanations:
            seeds = rng.integers(2**62, size=count)
            return draw_second_pictures(clean, corrupted, depth, self.schedule, seeds)
        no_noise = torch.zeros(count, dtype=torch.float64)
        return SecondPictures(corrupted, torch.ones(count), no_noise, depth)

    def _put_windows(
        self,
        photographs: Photographs,
        clean: Tensor,
        second: SecondPictures,
        rng: np.random.Generator,
    ) -> None:
        """Put windows in the place of the last ``config.windows`` of the pairs.

        Those of one photograph are explained together, before they are cut.
        """
        count, side = len(clean), clean.shape[-1]
        begins = range(count - round(self.config.windows * count), count, PER_PICTURE)
        for begin, seed in zip(begins, rng.integers(2**62, size=len(begins)), strict=True):
            window_rng = np.random.default_rng(seed)
            pair = photographs.draw_pair(window_rng, self.study.corruptions)
            whole, damaged = (to_tensor(pixels)[None] for pixels in pair)
            places = draw_places(window_rng, PER_PICTURE, side)
            depth = second.depth[begin][None]
            other = self._draw_second(whole, damaged, depth, window_rng)
            for row, (top, left) in zip(range(begin, count), places, strict=False):
                part = (..., slice(top, top + side), slice(left, left + side))
                clean[row], second.x[row] = whole[0][part], other.x[0][part]
                second.target[row] = other.target[0]
                second.deviation[row] = other.deviation[0]
                second.depth[row] = other.depth[0]

    def _read(self, rows: NDArray[np.int64]) -> list[Pixels]:
        """Clean pictures; others of the batch stand in for those that cannot be read."""
        images, unreadable = self.images.take(rows).load()
        pictures = list(images.pixels)
        if unreadable:
            if not pictures:
                raise ValueError(f"None of {first_names(unreadable, NAMES_SHOWN)} can be read.")
            _log.warning("Passed over, as unreadable: %s.", first_names(unreadable, NAMES_SHOWN))
            pictures += [pictures[i % len(pictures)] for i in range(len(unreadable))]
        return pictures
