"""The networks that may object to what was measured in a picture, and what they are shown."""

import functools
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.discriminator import Scorer
from dga.explanation.grid import Grid
from dga.explanation.noise_level import NOISE_FLOOR, find_matched_depth, measure_noise
from dga.images import cut_middle

JUDGED_AT = 2, 8, 16
"""Depths, counted from the entry, over which scores are averaged."""
DETAIL_WINDOWS = 4
"""Windows that are judged beside a thumbnail, those with the finest detail."""
LIGHT_JUDGED_AT = 4, 8
"""Depths at which networks judge light that was added or is missing."""


class Judges:
    """The networks that may object to what was measured in a picture, and what they are shown.

    ``scorer``: of DGA+'s discriminator, which judges a thumbnail and a few windows, ``side`` pixels
    a side; ``discriminator``: the paper's, which judges light beside it; ``x``: the picture,
    ``[3, H, W]``. The windows are those with the finest detail that is no noise, at the picture's
    own resolution: a background out of focus says nothing of damage. A thumbnail shows neither
    impulses nor blocks.
    """

    def __init__(self, scorer: Scorer, discriminator: nn.Module, side: int, x: Tensor) -> None:
        self.scorer, self.discriminator, self.side, self.x = scorer, discriminator, side, x
        self.grid = Grid.over(x.shape[1:], side, 0)
        self.numbers = _rank_windows(x, self.grid)[:DETAIL_WINDOWS]

    @functools.cached_property
    def score_as_it_came(self) -> float:
        """The score of the picture itself, as one that holds no noise."""
        return self.score(self.x)

    def score(self, x: Tensor, noise_level: float = 0.0) -> float:
        """Score the picture, or what was made of it, as one that holds so much noise."""
        entry = find_matched_depth(self.scorer.schedule, noise_level)
        depths = [entry + offset for offset in JUDGED_AT]
        views = self.grid.cut(x, self.numbers)
        if len(self.grid) > 1:  # else the thumbnail is the window
            views = torch.cat([make_thumbnail(x, self.side)[None], views])
        return self.scorer.score(views[None], depths, [noise_level])[0]

    def prefer_light(self, lit: Tensor) -> bool:
        """Whether the thumbnail of a dark picture looks less damaged ``lit``, ``[3, H, W]``."""
        before, after = self._judge_thumbnails(lit)
        return float(after.mean()) < float(before.mean())

    def prefer_clear(self, cleared: Tensor, least: float, least_relief: float) -> bool:
        """Whether both networks find the thumbnail damaged, by a mean logit above ``least``, and
        less so, on average by ``least_relief``, ``cleared`` of added light or lost contrast."""
        before, after = self._judge_thumbnails(cleared)
        is_relieved = bool((after < before).all()) and float((before - after).mean()) > least_relief
        return is_relieved and float(before.mean()) > least

    def _judge_thumbnails(self, result: Tensor) -> tuple[Tensor, Tensor]:
        """Scores by each network for the thumbnails of the picture and of ``result``, ``[n]``
        each."""
        views = torch.stack([make_thumbnail(one, self.side)[None] for one in (self.x, result)])
        networks = dict.fromkeys((self.scorer.network, self.discriminator))  # one may be both
        scorers = [replace(self.scorer, network=network) for network in networks]
        scores = [one.score(views, LIGHT_JUDGED_AT, (0.0, 0.0)) for one in scorers]
        before, after = torch.tensor(scores).T
        return before, after


def _rank_windows(x: Tensor, grid: Grid) -> list[int]:
    """All windows' numbers: those without noise first, and of these the finest detail first."""
    ranks = []
    for number in range(len(grid)):
        (window,) = grid.cut(x, [number])
        is_noisy = measure_noise(window) > NOISE_FLOOR
        detail = sum(float(window.diff(dim=dim).abs().mean()) for dim in (1, 2))
        ranks.append((is_noisy, -detail))
    return sorted(range(len(grid)), key=ranks.__getitem__)


def make_thumbnail(x: Tensor, side: int) -> Tensor:
    """The middle square of ``[3, H, W]``, resized to ``side`` pixels a side."""
    square = cut_middle(x, min(x.shape[1:]))[None]
    return F.interpolate(square, (side, side), mode="bicubic", antialias=True)[0].clamp(-1, 1)
