"""Explaining a picture that is larger than the discriminator's own size, by its windows.

What is one for the whole picture (blocks, blur, exposure, impulses) is explained once: measured in
its pixels, or judged by some windows and a thumbnail. Noise has a level at each pixel, and counts
where the discriminator prefers the picture with it.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.diffusion import Schedule
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import UNCHANGED
from dga.explanation.measurement import measure_blocks, measure_blur
from dga.explanation.noise_level import (
    extreme_share,
    matched_depth,
    measure_noise,
    measure_noise_map,
    noise_by_brightness,
    uniform_levels,
    whiten_channels,
)
from dga.explanation.operators import Operator
from dga.explanation.search import (
    Explanation,
    Look,
    ScoreCache,
    Scored,
    explain,
    judge,
    mean_logits,
)
from dga.explanation.veil import measure_veil
from dga.profiles import ExplanationConfig, WindowsConfig

AT_ONCE = 16
"""Windows judged together; bounds memory, and how long nothing is heard."""
LONGEST_COUNTED = 1024
"""Of a picture with longer sides every n-th pixel is counted, where only means are asked for."""
EXTREME = 0.68
"""Share of wrong values that are black or white, above which noise is impulses."""
WINDOWS = "windows"
"""Stage of a :class:`~dga.explanation.search.Scored` that says only that work goes on."""


def explain_by_windows(
    schedule: Schedule,
    network: nn.Module,
    x: Tensor,
    side: int,
    seed: int,
    config: ExplanationConfig,
) -> Generator[Scored, None, Explanation]:
    """Explain a picture, ``[3, H, W]`` in [-1, 1] at 8-bit levels, no side below ``side``.

    ``side``: pixels a side that ``network``, the discriminator, was trained on. Yields scores as
    they come. The result has its noise by pixel.
    """
    assert config.windows is not None
    return (yield from _WindowSearch(schedule, network, side, seed, config, config.windows).run(x))


@dataclass(frozen=True)
class _WindowSearch:
    schedule: Schedule
    network: nn.Module
    side: int
    seed: int
    config: ExplanationConfig
    windows: WindowsConfig

    def run(self, x: Tensor) -> Generator[Scored, None, Explanation]:
        if self.windows.measurement and (blocks := measure_blocks(x)):
            return Explanation(Degradation(operator=blocks), entry=0, measured_noise=0.0)
        look = views(x, self.side, self.windows.detail_windows, self.config.noise_floor)
        explanation = yield from self._whole(x, look)
        if explanation.is_flat:
            return explanation
        noisy = yield from self._noise(explanation.degradation.inverse(x))
        if noisy is not None:
            degradation = replace(explanation.degradation, noise=noisy.degradation.noise)
            return replace(noisy, degradation=degradation, scored=explanation.scored)
        if self.windows.measurement and explanation.degradation == NO_DEGRADATION:
            operator = yield from self._blur(x, look)
            if operator:
                degradation = Degradation(operator=operator)
                return replace(explanation, degradation=degradation, is_undamaged=False)
            if veil := measure_veil(x):
                return replace(explanation, degradation=Degradation(veil=veil), is_undamaged=False)
        return explanation

    def _whole(self, x: Tensor, look: Look) -> Generator[Scored, None, Explanation]:
        """Exposure and impulses of the whole; other noise has a level at each pixel.

        An exposure is believed only where the thumbnail, too, looks damaged before and not
        afterwards, a gain only where nothing is dark any more. Noise whose wrong values are black
        or white is impulses. Sharpness is not judged: on photographs a discriminator takes a
        lens's or a camera's blur for damage, and what it then likes best is too sharp.
        """
        windows, config = self.windows, replace(self.config, sharpness=False)
        every = -(-max(x.shape[1:]) // LONGEST_COUNTED)
        sample, deviation = x[:, ::every, ::every], float(measure_noise(x[None])[0])
        if deviation > config.noise_floor and config.impulses:
            top, left = (max(0, length - LONGEST_COUNTED) // 2 for length in x.shape[1:])
            middle = x[:, top : top + LONGEST_COUNTED, left : left + LONGEST_COUNTED]
            if extreme_share(middle, config.impulses[0]) > EXTREME:
                deviation = 0.0  # so many impulses that they measure as noise
        cache: ScoreCache = {}
        explanation = yield from explain(
            self.schedule, self.network, sample, self.seed, config, cache, look, deviation
        )
        best = replace(explanation.degradation, noise=0.0)
        if best.exposure != UNCHANGED:
            plain = replace(best, exposure=UNCHANGED)
            before, after = self._judge(lambda candidate: look(candidate)[:1], [plain, best])
            whole = _or_infinite(cache[best, config.score_depths][0])
            dark = float(sample.mean(0).quantile(0.01)) <= windows.dark_level
            faded = (
                before >= windows.logit_before
                and after < config.undamaged_score
                and whole < windows.logit_after
            )
            if (best.exposure.gain > 1 and dark) or not faded:
                best = plain
        return replace(explanation, degradation=best, entry=0)

    def _judge(self, look: Look, candidates: Sequence[Degradation]) -> list[float]:
        """Mean logit of each candidate."""
        depths = self.config.score_depths
        scores = judge(self.schedule, self.network, look, candidates, depths, self.seed)
        return list(map(_or_infinite, scores))

    def _blur(self, x: Tensor, look: Look) -> Generator[Scored, None, Operator | None]:
        """The blur that is measured, where the discriminator does not object to its inverse."""
        operator = measure_blur(x)
        if operator is None:
            return None
        candidates = [NO_DEGRADATION, Degradation(operator=operator)]
        scores = self._judge(look, candidates)
        for candidate, score in zip(candidates, scores, strict=True):
            value = score if math.isfinite(score) else None
            yield Scored("blur", candidate, value, len(self.config.score_depths))
        return operator if scores[1] <= scores[0] + self.windows.objection else None

    def _noise(self, x: Tensor) -> Generator[Scored, None, Explanation | None]:
        """Noise by pixel, and the uniform levels from which each is read; None where none counts.

        ``x``: ``[3, H, W]``, without what else was found.
        """
        noise, floor = measure_noise_map(x), self.config.noise_floor
        least = float(noise[::8, ::8].quantile(self.windows.quiet_share))
        is_everywhere = least > floor
        noise[noise <= floor] = 0
        # Fine texture has no colours either, but is seldom everywhere.
        white, noise = whiten_channels(x, noise, self.seed) if is_everywhere else (x, noise)
        noise = noise * (yield from self._believe(white, noise, least))
        if not bool(noise.any()):
            return None
        if is_everywhere and self.windows.levels > 1:
            noise = noise_by_brightness(white, noise)
        levels = uniform_levels(noise, self.windows.levels)
        entry, found = matched_depth(self.schedule, levels[-1]), Degradation(noise=levels[-1])
        return Explanation(found, entry, levels[-1], noise_map=noise, levels=levels, state=white)

    def _believe(self, x: Tensor, noise: Tensor, least: float) -> Generator[Scored, None, Tensor]:
        """Whether a pixel's noise counts, bool ``[H, W]``: where the discriminator prefers it.

        The noisiest of every 3 x 3 windows is judged, for all of them: fine texture passes for a
        little noise, seldom for much. The eight beside it vote, too, and one of several is
        against; where noise is everywhere (``least``: what all but the quietest pixels hold), all
        vote for all as well. Where it is faint a window is asked itself, for beside noise there may
        be texture.
        """
        config, windows = self.config, self.windows
        is_sure = least > windows.strong_noise
        enough = config.noise_head_start if is_sure else windows.noise_margin
        grid = Grid.over(x.shape[1:], self.side, round(windows.overlap * self.side))
        parts = torch.arange(len(grid)).split(AT_ONCE)
        by_window = (grid.cut(noise[None], part.tolist()).flatten(1) for part in parts)
        level = torch.cat([one.quantile(windows.quantile, 1) for one in by_window])
        shape = 1, 1, len(grid.rows), len(grid.columns)
        highest, numbers = F.max_pool2d(level.view(shape), 3, ceil_mode=True, return_indices=True)
        has_noise, margin = highest > 0, torch.zeros_like(highest)
        margin[has_noise] = yield from self._compare(x, noise, grid, numbers[has_noise], level)
        votes, voters = (9 * F.avg_pool2d(v, 3, 1, 1) for v in (margin, has_noise.float()))
        against = (voters > 1).float() if is_sure else torch.ones_like(voters)
        agreed = votes > enough * (voters + against)
        if least > config.noise_floor:
            agreed |= bool(margin.sum() > enough * (has_noise.sum() + against.max()))
        likely = F.interpolate(agreed.float(), scale_factor=3)
        is_noisy = likely[..., : shape[2], : shape[3]].flatten() * level > 0
        faint = (is_noisy & (level <= windows.faint_noise)).nonzero()[:, 0]
        margins = yield from self._compare(x, noise, grid, faint, level)
        is_noisy[faint] = margins > windows.noise_margin
        return grid.cover(is_noisy)

    def _compare(
        self, x: Tensor, noise: Tensor, grid: Grid, numbers: Tensor, level: Tensor
    ) -> Generator[Scored, None, Tensor]:
        """How much the discriminator prefers each window with its noise: mean logits, ``[n]``."""
        schedule, network = self.schedule, self.network
        device, after = next(network.parameters()).device, torch.tensor(self.config.score_depths)
        margins = [torch.empty(0)]
        for begin in range(0, len(numbers), AT_ONCE):
            part = numbers[begin : begin + AT_ONCE].tolist()
            deviation = grid.cut(noise[None], part)  # [n, 1, S, S]
            cut = grid.cut(x, part).to(device)
            entry = torch.tensor([matched_depth(schedule, s) for s in level[part].tolist()])
            plain, noised = (
                mean_logits(
                    schedule, network, cut, depth.clamp(max=schedule.steps), amount, self.seed
                )
                for depth, amount in (
                    (after.expand(len(cut), -1), 0 * deviation),
                    (entry[:, None] + after, deviation),
                )
            )
            margins.append(plain - noised)
            yield Scored(WINDOWS, NO_DEGRADATION, None, 2 * len(after) * len(cut))
        return torch.cat(margins)


def _or_infinite(score: float | None) -> float:
    return math.inf if score is None else score


def views(x: Tensor, side: int, count: int, noise_floor: float) -> Look:
    """A thumbnail, and ``count`` windows with the finest detail that is not noise.

    They keep their own pixels. A background that is out of focus says nothing of damage. Impulses
    and blocks are gone in a thumbnail.
    """
    grid = Grid.over(x.shape[1:], side, 0)
    detail = []
    for i, j in map(grid.corner, range(len(grid))):
        window = x[None, :, i : i + side, j : j + side]
        noisy = float(measure_noise(window)[0]) > noise_floor
        differences = sum(float(window.diff(dim=d).abs().mean()) for d in (2, 3))
        detail.append((noisy, -differences))
    best = sorted(range(len(grid)), key=detail.__getitem__)[:count]
    crops = []
    for i, j in map(grid.corner, best):
        top, left = max(0, i - side // 2), max(0, j - side // 2)
        crop = x[:, top : i + side + side // 2, left : j + side + side // 2]
        crops.append((crop, i - top, j - left))
    thumbnail = shrink(x, side)

    def look(candidate: Degradation) -> Tensor:
        small = replace(candidate, impulses=None, operator=None)
        if candidate.operator:  # its reach is larger than a crop's margin
            whole = candidate.inverse(x)
            windows = [whole[:, i : i + side, j : j + side] for i, j in map(grid.corner, best)]
            thumb = shrink(whole, side)
        else:
            windows = [candidate.inverse(c)[:, i : i + side, j : j + side] for c, i, j in crops]
            thumb = small.inverse(thumbnail)
        return torch.stack([thumb, *windows])

    return look


def shrink(x: Tensor, side: int) -> Tensor:
    """The middle square of ``[3, H, W]``, reduced to ``side`` pixels."""
    short = min(x.shape[1:])
    top, left = ((length - short) // 2 for length in x.shape[1:])
    square = x[None, :, top : top + short, left : left + short]
    return F.interpolate(square, (side, side), mode="bicubic", antialias=True)[0].clamp(-1, 1)


@dataclass(frozen=True)
class Grid:
    """Windows of ``side`` pixels that cover a picture; ``rows``, ``columns``: where they begin."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    side: int

    @classmethod
    def over(cls, shape: Sequence[int], side: int, overlap: int) -> Grid:
        """Spread evenly over ``[H, W]``, each sharing ``overlap`` pixels or more with the next."""
        gaps = [math.ceil((length - side) / (side - overlap)) for length in shape]
        rows, columns = (
            tuple(round(i * (length - side) / max(1, n)) for i in range(n + 1))
            for length, n in zip(shape, gaps, strict=True)
        )
        return cls(rows, columns, side)

    def corner(self, number: int) -> tuple[int, int]:
        """Top and left of a window; they are counted row by row."""
        row, column = divmod(number, len(self.columns))
        return self.rows[row], self.columns[column]

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def cut(self, x: Tensor, numbers: Sequence[int]) -> Tensor:
        """Some windows of ``[C, H, W]``: ``[n, C, S, S]``."""
        side = self.side
        return torch.stack([x[:, i : i + side, j : j + side] for i, j in map(self.corner, numbers)])

    def cover(self, chosen: Tensor) -> Tensor:
        """Whether any chosen window, bool ``[n]``, covers a pixel, bool ``[H, W]``."""
        covered = torch.zeros(self.rows[-1] + self.side, self.columns[-1] + self.side)
        for top, left in map(self.corner, chosen.nonzero()[:, 0].tolist()):
            covered[top : top + self.side, left : left + self.side] = 1
        return covered.bool()

    def add(self, total: Tensor, number: int, window: Tensor) -> None:
        """Add a window to ``[3, H, W]``, faded towards its edges."""
        i, j = self.corner(number)
        fade = self._fade()
        total[:, i : i + self.side, j : j + self.side] += fade[:, None] * fade * window

    def weight(self) -> Tensor:
        """What windows of ones would add up to, ``[H, W]``."""
        fade, sums = self._fade(), []
        for begins in (self.rows, self.columns):
            sums.append(torch.zeros(begins[-1] + self.side))
            for begin in begins:
                sums[-1][begin : begin + self.side] += fade
        return sums[0][:, None] * sums[1]

    def _fade(self) -> Tensor:
        return torch.hann_window(self.side + 2, periodic=False)[1:-1].clamp(min=0.02)
