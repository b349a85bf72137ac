"""Explaining a photograph, a picture that is larger than the discriminator's own size, as a whole.

Damage (blocks, noise, blur, veils, impulses, darkness, JPEG) is measured in the pixels; the
discriminator is shown a thumbnail and some windows of the picture before and after its inverse, and
may object.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.discriminator import Scorer
from dga.explanation.blocks import measure_blocks
from dga.explanation.blur import list_likely_blurs, measure_blur
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.drawings import is_one_colour_or_drawing, is_page
from dga.explanation.exposure import Exposure, measure_darkness
from dga.explanation.grid import Grid
from dga.explanation.jpeg_quality import POOR, measure_quality
from dga.explanation.noise_level import (
    SMEARED,
    find_matched_depth,
    has_impulses,
    has_smeared_impulses,
    measure_distance,
    measure_noise,
    measure_quiet_noise,
)
from dga.explanation.operators import Operator
from dga.explanation.search import CandidateScore, Explanation
from dga.explanation.veil import Veil, measure_veil
from dga.images import cut_middle, from_tensor
from dga.profiles import ExplanationConfig, WindowsConfig

LONGEST_COUNTED = 1024
"""Pixels a side. Of a larger picture only every n-th pixel is used, where means are enough."""
STRONG_VEIL = 8.0
"""Gain of a veil from which its inverse needs less consent; undamaged pictures seldom have it."""
PAGE_VEIL = 10.0
"""Gain of a veil from which it is removed from a page, too."""
CLEAR_DAMAGE = 1.4
"""Mean logit below which a blur's inverse has to lower it."""
CLEAR_RELIEF = 1.0
"""By how much the inverse of a blur that is likely has to lower it."""
VEIL_JUDGED_AT = 4, 8
"""Depths at which networks judge light that was added or is missing."""
DAMAGED_THUMBNAIL = 0.5
"""Mean logit from which a thumbnail looks damaged."""
LEAST_RELIEF = 0.5
"""By how much a veil's inverse has to lower it. By both, a veil is removed from four of 654
undamaged photographs, and from none of 154 pages and drawings."""


@dataclass(frozen=True)
class UndoneBlur:
    """A blur, and the picture after its inverse, ``[3, H, W]``, with the discriminator's mean
    logits before and after it."""

    operator: Operator
    x_0: Tensor
    before: float
    after: float

    @property
    def degradation(self) -> Degradation:
        """The blur as an explanation."""
        return Degradation(operator=self.operator)

    def list_scores(self) -> list[CandidateScore]:
        """Both logits as events."""
        candidates = (NO_DEGRADATION, self.before), (self.degradation, self.after)
        return [CandidateScore("blur", *candidate) for candidate in candidates]


@dataclass(frozen=True)
class PhotographSearch:
    """The search in one large picture.

    ``discriminator``: the paper's, which judges veils beside the scorer's network; ``side``: pixels
    a side that both were trained on; ``windows``: of ``config``.
    """

    scorer: Scorer
    discriminator: nn.Module
    side: int
    config: ExplanationConfig
    windows: WindowsConfig

    def run(self, x: Tensor) -> Generator[CandidateScore, None, Explanation]:
        """Blocks, or too little light; else impulses or noise; else blur; else a veil; else JPEG.

        ``x``: ``[3, H, W]`` in [-1, 1] at 8-bit levels, no side below ``side``. Yields scores as
        they come. A drawing, which repeats its rows as blocks do, is left alone. In a page or a
        screen, which is light without a veil, only noise, lost contrast, poor JPEG and blocks whose
        rows repeat are looked for.
        """
        is_measured, is_paper = self.windows.measurement, is_page(x)
        blocks = measure_blocks(x, is_paper) if is_measured else None
        if blocks and not is_one_colour_or_drawing(x):
            return Explanation(Degradation(operator=blocks), entry=0, measured_noise=0.0)
        exposure = measure_exposure(x) if is_measured and not is_paper else None
        if exposure:
            before, after = self._judge_thumbnails(x, exposure.apply(x))
            if float(after.mean()) < float(before.mean()):
                return Explanation(Degradation(exposure=exposure), 0, measured_noise=0.0)
        views = JudgedViews(x, self.side, self.windows.detail_windows, self.config.noise_floor)
        explanation = yield from self._find_noise(x, views, is_paper)
        explanation = replace(explanation, is_page=is_paper)
        is_explained = explanation.degradation != NO_DEGRADATION
        if explanation.is_unjudgeable or is_explained or not is_measured:
            return explanation
        undone = None if is_paper else (yield from self._undo_blur(x, views))
        if undone is not None:
            blur, x_0 = undone.degradation, undone.x_0
            return replace(explanation, degradation=blur, x_0=x_0, is_undamaged=False)
        veil = measure_veil(x)
        if veil and (not is_paper or veil.gain > PAGE_VEIL) and self._has_consent(veil, x):
            return replace(explanation, degradation=Degradation(veil=veil), is_undamaged=False)
        quality = measure_quality(from_tensor(x))
        if quality is not None and quality <= POOR:
            return replace(explanation, degradation=Degradation(jpeg_quality=quality))
        return explanation

    def _has_consent(self, veil: Veil, x: Tensor) -> bool:
        """Whether a veil may be removed: both networks find the thumbnail damaged, and less so
        after it."""
        before, after = self._judge_thumbnails(x, veil.remove(x))
        least = 0.0 if veil.gain >= STRONG_VEIL else DAMAGED_THUMBNAIL
        is_relieved = bool((after < before).all()) and float((before - after).mean()) > LEAST_RELIEF
        return is_relieved and float(before.mean()) > least

    def _judge_thumbnails(self, x: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
        """Scores by both networks for the thumbnails of two pictures, ``[2]`` each."""
        shown, undone = (make_thumbnail(one, self.side)[None] for one in (x, result))
        scorers = self.scorer, replace(self.scorer, network=self.discriminator)
        scores = [one.compare(shown, undone, VEIL_JUDGED_AT) for one in scorers]
        before, after = torch.tensor(scores).T
        return before, after

    def _find_noise(
        self, x: Tensor, views: JudgedViews, is_paper: bool
    ) -> Generator[CandidateScore, None, Explanation]:
        """Impulses, or noise that is everywhere: texture, too, measures as noise in places.

        The discriminator judges whether the picture looks like source data, and whether it does
        rather as a noisy picture at the depth that its noise matches.
        """
        config, thresholds = self.config, self.config.impulses
        noise_level = float(measure_noise(x[None])[0])
        if thresholds and not is_paper:
            middle = cut_middle(x, LONGEST_COUNTED)
            impulses = measure_impulses(middle, thresholds[0], noise_level)
            if impulses:
                return Explanation(impulses, entry=0, measured_noise=0.0)
        if measure_quiet_noise(x, self.windows.quiet_share) <= config.noise_floor:
            noise_level = min(noise_level, config.noise_floor)
        explanation = Explanation(NO_DEGRADATION, entry=0, measured_noise=noise_level)
        stride = -(-max(x.shape[1:]) // LONGEST_COUNTED)
        if is_one_colour_or_drawing(x[:, ::stride, ::stride]):
            return replace(explanation, is_unjudgeable=True)
        is_noisy = noise_level > config.noise_floor
        levels = [0.0, noise_level] if is_noisy and config.noise else [0.0]
        shown, scores = views.show(x), list[CandidateScore]()
        for level in levels:
            scores.append(self._score_noise("noise" if is_noisy else "nothing", level, shown))
            yield scores[-1]
        explanation = replace(explanation, candidate_scores=tuple(scores))
        without, best = scores[0], scores[-1]
        if not is_noisy:
            return replace(explanation, is_undamaged=without.score < config.undamaged_score)
        if best.score >= without.score - config.noise_head_start:
            return explanation
        entry = find_matched_depth(self.scorer.schedule, noise_level)
        return replace(explanation, degradation=best.degradation, entry=entry)

    def _score_noise(self, stage: str, noise_level: float, views: Tensor) -> CandidateScore:
        """Judge ``views``, ``[V, 3, S, S]``, as a picture that holds so much noise, or none."""
        entry = find_matched_depth(self.scorer.schedule, noise_level)
        depths = [entry + offset for offset in self.config.judged_at]
        (score,) = self.scorer.score(views[None], depths, [noise_level])
        return CandidateScore(stage, Degradation(noise=noise_level), score)

    def _undo_blur(
        self, x: Tensor, views: JudgedViews
    ) -> Generator[CandidateScore, None, UndoneBlur | None]:
        """The blur of a picture, undone; None where the discriminator objects to what is certain,
        and does not clearly prefer what is likely."""
        operator = measure_blur(x)
        if operator is not None:
            undone = self._undo(operator, x, views)
            yield from undone.list_scores()
            most = 0.0 if undone.before < CLEAR_DAMAGE else math.inf
            if self._has_consent_for(undone, most):
                return undone
        likely = [self._undo(operator, x, views) for operator in list_likely_blurs(x)]
        best = min(likely, key=lambda one: one.after, default=None)
        if best is None or not self._has_consent_for(best, -CLEAR_RELIEF):
            return None
        yield from best.list_scores()
        return best

    def _undo(self, operator: Operator, x: Tensor, views: JudgedViews) -> UndoneBlur:
        """A picture without a blur, judged."""
        x_0 = Degradation(operator=operator).inverse(x)
        scores = self.scorer.compare(views.show(x), views.show(x_0), self.config.judged_at)
        return UndoneBlur(operator, x_0, *scores)

    def _has_consent_for(self, undone: UndoneBlur, most: float) -> bool:
        """Whether the mean logit rises by no more than ``most``, nor by more than its kind may."""
        most = min(most, self.windows.objection * undone.operator.most_objection)
        return undone.after <= undone.before + most


def measure_exposure(x: Tensor) -> Exposure | None:
    """The gain that a picture, ``[3, H, W]``, lacks; None where it is light enough, or is dark
    behind a veil: in the dark much is black, behind a veil nothing."""
    exposure = measure_darkness(x)
    return None if exposure is None or measure_veil(x) else exposure


def measure_impulses(x: Tensor, threshold: float, noise_level: float) -> Degradation | None:
    """Wrong values of a picture, ``[3, H, W]``, as they were drawn or as JPEG has smeared them."""
    distance = measure_distance(x)
    if has_impulses(x, distance, threshold, noise_level):
        return Degradation(impulses=threshold)
    if has_smeared_impulses(x, distance, noise_level):
        return Degradation(impulses=SMEARED, is_smeared=True)
    return None


class JudgedViews:
    """What the discriminator is shown of a picture: a thumbnail, and ``count`` windows of it.

    The windows are those with the finest detail that is no noise, at the picture's own resolution:
    a background out of focus says nothing of damage. A thumbnail shows neither impulses nor blocks.
    """

    def __init__(self, x: Tensor, side: int, count: int, noise_floor: float) -> None:
        self.grid = Grid.over(x.shape[1:], side, 0)
        self.numbers = _rank_windows(x, self.grid, noise_floor)[:count]

    def show(self, x: Tensor) -> Tensor:
        """The same views, ``[V, 3, S, S]``, of another picture of that size."""
        thumbnail = make_thumbnail(x, self.grid.side)
        return torch.cat([thumbnail[None], self.grid.cut(x, self.numbers)])


def _rank_windows(x: Tensor, grid: Grid, noise_floor: float) -> list[int]:
    """All windows' numbers: those without noise first, and of these the finest detail first."""
    ranks = []
    for number in range(len(grid)):
        window = grid.cut(x, [number])
        is_noisy = float(measure_noise(window)[0]) > noise_floor
        detail = sum(float(window.diff(dim=dim).abs().mean()) for dim in (2, 3))
        ranks.append((is_noisy, -detail))
    return sorted(range(len(grid)), key=ranks.__getitem__)


def make_thumbnail(x: Tensor, side: int) -> Tensor:
    """The middle square of ``[3, H, W]``, resized to ``side`` pixels a side."""
    square = cut_middle(x, min(x.shape[1:]))[None]
    return F.interpolate(square, (side, side), mode="bicubic", antialias=True)[0].clamp(-1, 1)
