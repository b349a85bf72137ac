"""The discriminator's batches: read, corrupted, noised; the seed and the step fix each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from dga.data.framing import View
from dga.data.image_sets import UNREADABLE, ImageFiles, ImageSet
from dga.data.imagenet_c import condition_folder, conditions
from dga.diffusion import Schedule
from dga.discriminator import estimate_x0
from dga.images import Pixels, to_tensor
from dga.profiles import Profile
from dga.training import loop
from dga.training.discriminator.explanations import Explained, explain
from dga.training.discriminator.pairs import make_pairs
from dga.training.discriminator.samples import Prior, Samples, draw_samples
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig
from dga.training.processes import ProcessGroup
from dga.training.windows import PER_PICTURE, Photographs, random_places

ALONE = ProcessGroup(torch.device("cpu"))
Found = TypeVar("Found")


class Drawn(NamedTuple):
    """One batch on the CPU: ``x_k`` ``[2 n, 3, S, S]``; the rest ``[2 n]``, names but a list."""

    x_k: Tensor
    time: Tensor
    target: Tensor
    depth: Tensor
    unreadable: list[str]


@dataclass(frozen=True)
class BatchMaker(Dataset):
    """Batches by step: the work on them that needs no network, for other processes to do.

    ``share``: the pairs of each batch that are made here; all by default. ``photographs``: of
    which ``config.windows`` of the pairs are cut.
    """

    profile: Profile
    study: Study
    images: ImageSet | ImageFiles
    config: TrainConfig
    samples: Samples | None = None
    share: range | None = None
    photographs: Photographs | None = None

    @cached_property
    def schedule(self) -> Schedule:
        return Schedule.from_config(self.profile.schedule)

    @cached_property
    def view(self) -> View:
        return View.of(self.profile)

    def __getitem__(self, step: int) -> Drawn:
        """Both pictures of a pair are at one depth, drawn as T u^2: most of them lie where
        the classes still differ. With explanations, at the depths where those are compared.
        """
        schedule, rng = self.schedule, loop.step_rng(self.config.seed, step)
        rows = loop.batch_rows(len(self.images), self.config.batch // 2, self.config.seed, step)
        mine = self.share or range(len(rows))
        if self.study.corrupted is None:
            pictures, unreadable = self._read(rows[mine.start : mine.stop])
            places: list[Pixels | None] = [None] * len(rows)
            places[mine.start : mine.stop] = pictures
            pairs = make_pairs(self.study, places, self.samples, rng, self.view)
        else:
            pairs, unreadable = self._released(rows, mine, rng)
        generator = loop.torch_rng(rng)
        x_0 = to_tensor(np.concatenate(pairs))  # [2 n, 3, S, S]
        depth = ((schedule.steps + 1) * torch.rand(len(rows), generator=generator) ** 2).long()
        depth = depth.clamp(max=schedule.steps).repeat(2)
        noise = torch.randn((2 * len(rows), *x_0.shape[1:]), generator=generator)
        both = [*mine, *(len(rows) + i for i in mine)]
        depth, noise = depth[both][: len(mine)], noise[both]
        clean, corrupted = x_0.chunk(2)
        if self.study.explanations:
            seeds = rng.integers(2**62, size=len(rows))[mine.start : mine.stop]
            second = explain(clean, corrupted, depth, schedule, seeds)
        else:
            nothing = torch.zeros(len(mine), dtype=torch.float64)
            second = Explained(corrupted, torch.ones(len(mine)), nothing, depth)
        if self.photographs:
            self._put_windows(clean, second, mine, len(rows), rng)
        target = torch.cat([torch.zeros(len(mine)), second.target])
        held = torch.cat([torch.zeros_like(second.deviation), second.deviation])
        depth = second.depth.repeat(2)
        abar = schedule.alpha_bar[depth].view(-1, 1, 1, 1)
        missing = (1 - abar - abar * held.view(-1, 1, 1, 1).square()).clamp(min=0)
        x_0 = torch.cat([clean, second.x])
        x_k = x_0 * abar.sqrt().float() + noise * missing.sqrt().float()
        return Drawn(x_k, schedule.time[depth], target, depth, unreadable)

    def _put_windows(
        self, clean: Tensor, second: Explained, mine: range, count: int, rng: np.random.Generator
    ) -> None:
        """Put windows in the place of the last ``config.windows`` of ``count`` pairs.

        Those of one photograph are explained together, before they are cut.
        """
        assert self.photographs is not None
        begins = range(count - round(self.config.windows * count), count, PER_PICTURE)
        side = clean.shape[-1]
        for begin, seed in zip(begins, rng.integers(2**62, size=len(begins)), strict=True):
            here = range(max(begin, mine.start), min(begin + PER_PICTURE, mine.stop))
            if not here:
                continue
            own = np.random.default_rng(seed)
            pair = self.photographs.draw_pair(own, self.study.corruptions)
            whole, damaged = (to_tensor(pixels) for pixels in pair)
            places = random_places(own, PER_PICTURE, side)
            depth = second.depth[here.start - mine.start][None]
            if self.study.explanations:
                seeds = own.integers(2**62, size=1)
                shown = explain(whole[None], damaged[None], depth, self.schedule, seeds)
            else:
                shown = Explained(damaged[None], torch.ones(1), torch.zeros(1), depth)
            for number in here:
                top, left = places[number - begin]
                part = (slice(None), slice(top, top + side), slice(left, left + side))
                row = number - mine.start
                clean[row], second.x[row] = whole[part], shown.x[0][part]
                second.target[row] = shown.target[0]
                second.deviation[row] = shown.deviation[0]
                second.depth[row] = shown.depth[0]

    def _read(self, rows: NDArray[np.int64]) -> tuple[list[Pixels], list[str]]:
        """Clean pictures; in place of an unreadable one the next that can be read."""
        images, bad = self.images.take(rows).load()
        if not bad:
            return list(images.pixels), []
        found, unreadable = [], list[str]()
        for row in rows:
            picture, bad = self._first_readable(row, self._clean)
            found.append(picture)
            unreadable += bad
        return found, unreadable

    def _first_readable(
        self, row: int, read: Callable[[int], Found | None]
    ) -> tuple[Found, list[str]]:
        """What ``read`` finds in the first row from this one on, with the names passed over."""
        unreadable = list[str]()
        for i in range(len(self.images)):
            other = (row + i) % len(self.images)
            found = read(other)
            if found is not None:
                return found, unreadable
            unreadable.append(self.images.names[other])
        raise ValueError("None of the pictures can be read.")

    def _clean(self, row: int) -> Pixels | None:
        one, _ = self.images.take([row]).load()
        return one.pixels[0] if len(one) else None

    def _released(
        self, rows: NDArray[np.int64], mine: range, rng: np.random.Generator
    ) -> tuple[tuple[Pixels, Pixels], list[str]]:
        """Pairs of a clean picture and its corrupted copy on disk, flipped alike."""
        assert self.study.corrupted is not None
        held = self._conditions
        clean, corrupted, unreadable = [], [], list[str]()
        for i, row in enumerate(rows):
            name, severity = held[int(rng.integers(len(held)))]
            turn = -1 if rng.random() < 0.5 else 1
            if i not in mine:
                continue
            folder = condition_folder(self.study.corrupted, name, severity)
            assert folder is not None
            pair, bad = self._first_readable(row, partial(self._pair, folder=folder))
            clean.append(pair[0][:, ::turn])
            corrupted.append(pair[1][:, ::turn])
            unreadable += bad
        return (np.stack(clean), np.stack(corrupted)), unreadable

    def _pair(self, row: int, folder: Path) -> tuple[Pixels, Pixels] | None:
        clean = self._clean(row)
        if clean is None:
            return None
        try:
            with Image.open(folder / self.images.names[row]) as image:
                return self.view.finish(clean), self.view.released(image)
        except UNREADABLE:
            return None

    @cached_property
    def _conditions(self) -> list[tuple[str, int]]:
        assert self.study.corrupted is not None
        return released_conditions(self.study.corrupted, self.study.corruptions)


def released_conditions(folder: Path, corruptions: Sequence[str]) -> list[tuple[str, int]]:
    """What a folder in ImageNet-C's layout has of some corruptions, any severity.

    Raises ``ValueError`` if it has nothing of them.
    """
    held = [pair for pair in conditions(folder) if pair[0] in corruptions]
    if not held:
        raise ValueError(
            f"{folder} holds none of the corruptions {', '.join(corruptions)} "
            "(corruption/severity/class/picture)."
        )
    return held


@dataclass
class Batches:
    """The batches of one run, made ahead by ``workers`` processes.

    The step alone fixes a batch, so the number of workers changes nothing but the speed.
    ``unreadable``: names of pictures that could not be read so far.
    """

    profile: Profile
    study: Study
    images: ImageSet | ImageFiles
    config: TrainConfig
    prior: Prior | None
    shards: Path
    team: ProcessGroup = ALONE
    workers: int = 0
    photographs: Photographs | None = None
    unreadable: set[str] = field(default_factory=set)
    _ahead: Iterator[Drawn] = field(default=iter(()), init=False)
    _next: int = field(default=-1, init=False)

    @cached_property
    def maker(self) -> BatchMaker:
        """Made when first wanted, because samples are drawn for it: after a foreign
        checkpoint was refused.
        """
        team, samples = self.team, None
        if self.prior is not None and self.study.samples_needed:
            samples = draw_samples(
                self.profile, self.prior, self.study.samples, self.shards, team.rank, team.size
            )
        share = team.share(self.config.batch // 2) if team.size > 1 else None
        own = self.profile, self.study, self.images, self.config, samples, share
        return BatchMaker(*own, self.photographs)

    def _made(self, step: int) -> Drawn:
        if not self.workers:
            return self.maker[step]
        if step != self._next:
            loader = DataLoader(
                self.maker,
                batch_size=None,
                sampler=range(step, self.config.steps),
                num_workers=self.workers,
                pin_memory=torch.cuda.is_available(),
                persistent_workers=True,
            )
            self._ahead = iter(loader)
        self._next = step + 1
        return next(self._ahead)

    @property
    def denoiser(self) -> nn.Module | None:
        """The network whose x0_hat is judged; ``None`` when x_t is."""
        return self.prior.network if self.prior and self.study.input == "x0_hat" else None

    def draw(self, step: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """What is judged ``[2 n, 3, S, S]``, network times and labels ``[2 n]``."""
        drawn = self._made(step)
        self.unreadable.update(drawn.unreadable)
        x_k = drawn.x_k
        if self.denoiser is not None:
            x_k = estimate_x0(self.maker.schedule, self.denoiser, x_k.to(device), drawn.depth)
        return x_k, drawn.time, drawn.target
