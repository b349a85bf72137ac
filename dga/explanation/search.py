"""The discriminator explains the damage: after which simple inverse does a picture look like source
data?

Ours, not the paper's. A few candidate degradations are undone, each result is noised a little and
shown to the discriminator, and the candidate with the lowest score is the explanation. "Nothing"
has a head start. A picture that holds noise has entered the forward process already, at the depth
k0 that its noise matches (:mod:`dga.explanation.noise_level`).
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import torch
from torch import Tensor

from dga.discriminator import Scorer
from dga.explanation.blocks import measure_blocks
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.drawings import is_one_colour_or_drawing
from dga.explanation.exposure import Stretch, list_stretches
from dga.explanation.noise_level import find_matched_depth, measure_noise
from dga.profiles import ExplanationConfig


@dataclass(frozen=True)
class CandidateScore:
    """Event: a candidate was judged.

    ``score``: mean logit, lower for results that are closer to source data.
    """

    stage: str
    degradation: Degradation
    score: float


class Verdict(Enum):
    """What is said of a picture as it came, before anything is undone."""

    UNSEARCHED = "no damage was looked for"
    SUSPECT = "it may be damaged, in a way that is recognised or not"
    UNDAMAGED = "it looks like source data, or what was measured as noise is texture"
    UNJUDGEABLE = "it is of one colour or a drawing"


@dataclass(frozen=True)
class Explanation:
    """What damaged a picture. Noise levels are standard deviations, for pixels in [-1, 1]."""

    degradation: Degradation
    """The candidate that was chosen."""
    entry: int
    """k0: the depth of the forward process at which the picture stands by its own noise."""
    measured_noise: float
    """Noise level of the picture, whether it counts or not; 0.0 where it was not measured, or where
    there are blocks or impulses instead."""
    quiet_noise: float = 0.0
    """The same in the quietest part of a photograph, where texture is no noise."""
    candidate_scores: tuple[CandidateScore, ...] = ()
    """The candidates for the whole picture, in the order of judging; of a photograph, where blur
    and light are measured, those for noise."""
    verdict: Verdict = Verdict.SUSPECT
    is_page: bool = False
    """Whether the picture is likely a page, a screen, print or a cut-out, of which denoisers have
    seen few (:func:`~dga.explanation.drawings.is_page`)."""
    refused_blur: Degradation | None = None
    """A blur that was measured, and to whose inverse the discriminator objected."""
    blur_margin: float = 0.0
    """By how many logits the discriminator prefers the picture without the blur that was undone, or
    refused."""
    seconds: float = 0.0
    """Wall clock of the search; 0.0 where it was not measured."""
    x_0: Tensor | None = field(default=None, compare=False)
    """The reference, ``[3, H, W]``, where it is known already; None: :meth:`invert` computes it."""

    @property
    def is_unjudgeable(self) -> bool:
        """Whether the picture is of one colour or a drawing."""
        return self.verdict is Verdict.UNJUDGEABLE

    @property
    def is_undamaged(self) -> bool:
        """Whether there is nothing to repair."""
        return self.verdict is Verdict.UNDAMAGED

    def invert(self, x: Tensor) -> Tensor:
        """The reference: a picture, ``[3, H, W]``, after the inverse of its damage but noise.

        The forward process begins with it.
        """
        return self.degradation.invert(x) if self.x_0 is None else self.x_0.to(x)


def explain_picture(
    scorer: Scorer,
    x: Tensor,
    config: ExplanationConfig,
) -> Generator[CandidateScore, None, Explanation]:
    """Explain one picture, ``[3, H, W]`` in [-1, 1] at 8-bit levels; yields scores as they come.

    Noise is searched for first, because it hides the rest: a picture with noise is not searched
    further. Exposure follows, coarse gains before fine ones, and blur on top of it.
    """
    noise_level = measure_noise(x)
    if is_one_colour_or_drawing(x):
        return Explanation(NO_DEGRADATION, 0, noise_level, verdict=Verdict.UNJUDGEABLE)
    search = _CandidateSearch(scorer, x, config, noise_level)
    best = yield from search.run()
    return Explanation(
        best,
        entry=find_matched_depth(scorer.schedule, best.noise),
        measured_noise=noise_level,
        candidate_scores=tuple(search.candidate_scores),
        verdict=Verdict.UNDAMAGED if search.is_undamaged else Verdict.SUSPECT,
        blur_margin=search.blur_margin,
    )


@dataclass
class _CandidateSearch:
    """The search in one picture, in stages; each returns the best candidate so far."""

    scorer: Scorer
    x: Tensor
    config: ExplanationConfig
    noise_level: float
    is_undamaged: bool = False
    blur_margin: float = 0.0
    candidate_scores: list[CandidateScore] = field(default_factory=list)
    cache: dict[tuple[Degradation, tuple[int, ...]], float] = field(default_factory=dict)
    """Scores by candidate and depths."""

    def run(self) -> Generator[CandidateScore, None, Degradation]:
        """The degradation that explains the picture best, or none where that is good enough."""
        config, best = self.config, NO_DEGRADATION
        if self.noise_level <= config.noise_floor:
            (score,) = yield from self._score("nothing", (best,), config.judged_at)
            self.is_undamaged = score < config.undamaged_score
            if self.is_undamaged:
                return best
        if config.noise:
            best = yield from self._find_noise()
        if config.exposure and not best.noise:
            best = yield from self._find_exposure(best)
        if config.sharpness and not best.noise:
            best = yield from self._find_blur(best)
        return best

    def _find_noise(self) -> Generator[CandidateScore, None, Degradation]:
        """White noise where it is measured; else impulses, too sparse for that measure."""
        config, head_start = self.config, self.config.head_start
        if self.noise_level > config.noise_floor:
            head_start = config.noise_head_start
            candidates = [Degradation(noise=self.noise_level)]
        else:
            candidates = [Degradation(impulses=threshold) for threshold in config.impulses]
        return (yield from self._choose("noise", [NO_DEGRADATION, *candidates], head_start))

    def _find_exposure(self, base: Degradation) -> Generator[CandidateScore, None, Degradation]:
        """Coarse gains are compared at one depth, then the best and finer ones at all depths."""
        config, restored = self.config, base.invert(self.x)

        def make_candidates(family: Iterable[Stretch]) -> dict[Degradation, Stretch]:
            pairs = ((stretch.to_exposure(restored), stretch) for stretch in family)
            return {replace(base, exposure=e): stretch for e, stretch in pairs if e}

        coarse = make_candidates(list_stretches(config.gains))
        best = yield from self._choose_coarsely("exposure", base, tuple(coarse))
        if best is None:
            return base
        stretch = coarse[best]
        gains = (stretch.gain / config.fine_factor, stretch.gain * config.fine_factor)
        near = make_candidates(replace(stretch, gain=gain) for gain in gains if stretch.gain > 1)
        return (yield from self._choose("exposure", [base, best, *near], config.head_start))

    def _find_blur(self, base: Degradation) -> Generator[CandidateScore, None, Degradation]:
        """Disks are compared at one depth, then the best with none at all depths.

        A picture that was enlarged in blocks has no fine scale to sharpen.
        """
        config = self.config
        if measure_blocks(self.x):
            return base
        sharper = tuple(replace(base, blur=r, regularisation=g) for r, g in config.blurs)
        best = yield from self._choose_coarsely("sharpness", base, sharper)
        if best is None:
            return base
        before, after = yield from self._score("sharpness", (base, best), config.judged_at)
        if after >= before - config.head_start:
            return base
        self.blur_margin = before - after
        return best

    def _choose_coarsely(
        self, stage: str, base: Degradation, candidates: tuple[Degradation, ...]
    ) -> Generator[CandidateScore, None, Degradation | None]:
        """The best candidate at one depth; None without any, or where ``base`` is good enough."""
        config = self.config
        (score,) = yield from self._score(stage, (base,), config.judged_at)
        if score < config.undamaged_score or not candidates:
            return None
        scores = yield from self._score(stage, candidates, (config.coarse_at,))
        return candidates[scores.index(min(scores))]

    def _choose(
        self, stage: str, candidates: Sequence[Degradation], head_start: float
    ) -> Generator[CandidateScore, None, Degradation]:
        """The candidate with the lowest score; the first keeps a head start."""
        scores = yield from self._score(stage, candidates, self.config.judged_at)
        scores[0] -= head_start
        return candidates[scores.index(min(scores))]

    def _score(
        self, stage: str, candidates: Sequence[Degradation], offsets: Sequence[int]
    ) -> Generator[CandidateScore, None, list[float]]:
        """Scores at depths beyond each candidate's own entry."""
        groups: dict[tuple[int, ...], list[Degradation]] = {}
        for candidate in candidates:
            entry = find_matched_depth(self.scorer.schedule, candidate.noise)
            groups.setdefault(tuple(entry + offset for offset in offsets), []).append(candidate)
        scores = dict[Degradation, float]()
        for depths, group in groups.items():
            new = [candidate for candidate in group if (candidate, depths) not in self.cache]
            if new:
                results = torch.stack([candidate.invert(self.x) for candidate in new])
                noise_levels = [candidate.noise for candidate in new]
                new_scores = self.scorer.score(results[:, None], depths, noise_levels)
                for candidate, score in zip(new, new_scores, strict=True):
                    self.cache[candidate, depths] = score
                    self.candidate_scores.append(CandidateScore(stage, candidate, score))
                    yield self.candidate_scores[-1]
            scores |= {candidate: self.cache[candidate, depths] for candidate in group}
        return [scores[candidate] for candidate in candidates]
