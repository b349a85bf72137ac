"""The discriminator explains the damage: which simple inverse makes most of a picture source data?

Ours, not the paper's. A few candidate degradations are undone, each result is noised a little and
shown to the discriminator, and the one that it takes for source data most readily explains the
picture best. "Nothing" keeps a head start, so that a picture is left alone unless something
clearly better is found. A picture that holds noise has entered the forward process already, at
the depth k0 that its noise matches (:mod:`dga.explanation.noise_level`).
"""

import math
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from dga.diffusion import Schedule, step_noise
from dga.discriminator import max_batch
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Stretch, nothing_to_judge, stretches
from dga.explanation.noise_level import matched_depth, measure_noise
from dga.explanation.sharpness import repeated_share
from dga.profiles import ExplanationConfig


@dataclass(frozen=True)
class Scored:
    """Event: a candidate was judged. ``score``: mean logit, lower is closer to source data.

    None: its result was not numbers, and it was dropped.
    """

    stage: str
    degradation: Degradation
    score: float | None
    calls: int = 1
    """States that the discriminator was shown for it."""


Look = Callable[[Degradation], Tensor]
"""What the discriminator is shown of a candidate's result, ``[V, 3, S, S]``."""
ScoreCache = dict[tuple[Degradation, tuple[int, ...]], tuple[float | None, float]]
"""By candidate and depths: a score, and the seconds that it cost."""


@dataclass(frozen=True)
class Explanation:
    """What one picture suffered; noise levels are standard deviations in [-1, 1]."""

    degradation: Degradation
    """The candidate that was chosen."""
    entry: int
    """k0: the depth of the forward process at which the picture stands by its own noise."""
    measured_noise: float
    """Noise level of the whole picture, whether it counts or not."""
    scored: tuple[Scored, ...] = ()
    """Every candidate, in the order of judging."""
    is_flat: bool = False
    """Of one colour or a drawing (:func:`~dga.explanation.exposure.nothing_to_judge`)."""
    is_undamaged: bool = False
    """Source data already: nothing was tried."""
    seconds: float = 0.0
    noise_map: Tensor | None = field(default=None, compare=False)
    """Noise level by pixel, ``[H, W]``, 0 where none counts; None: the same everywhere."""
    levels: tuple[float, ...] = ()
    """Of a noise map: the levels at which the picture is denoised, rising."""
    state: Tensor | None = field(default=None, compare=False)
    """Of a noise map: the picture where the forward process begins, ``[3, H, W]``."""

    @property
    def calls(self) -> int:
        """States that the discriminator was shown."""
        return sum(scored.calls for scored in self.scored)


def explain(
    schedule: Schedule,
    discriminator: nn.Module,
    x: Tensor,
    seed: int,
    config: ExplanationConfig,
    cache: ScoreCache | None = None,
    look: Look | None = None,
    measured: float | None = None,
) -> Generator[Scored, None, Explanation]:
    """Explain one picture, ``[3, H, W]`` in [-1, 1] at 8-bit levels; yields scores as they come.

    Noise first, because it hides the rest: what has some is not searched further. Then
    exposure, coarse gains before fine ones, then sharpness on top of it. ``cache``: scores of
    this picture and seed, for other configurations. ``look``: by default the result itself,
    as a picture of the network's size; ``measured``: noise of ``x``, if it is known.
    """
    if measured is None:
        measured = float(measure_noise(x[None])[0])
    cache = {} if cache is None else cache
    look = look or (lambda candidate: candidate.inverse(x)[None])
    search = _CandidateSearch(schedule, discriminator, x, look, seed, config, measured, cache)
    best, is_flat = NO_DEGRADATION, nothing_to_judge(x)
    if not is_flat:
        best = yield from search.run()
    entry = matched_depth(schedule, best.noise)
    scored, is_undamaged = tuple(search.scores), search.is_undamaged
    return Explanation(best, entry, measured, scored, is_flat, is_undamaged, search.seconds)


@dataclass
class _CandidateSearch:
    schedule: Schedule
    discriminator: nn.Module
    x: Tensor
    look: Look
    seed: int
    config: ExplanationConfig
    measured: float
    cache: ScoreCache
    scores: list[Scored] = field(default_factory=list)
    reported: set[tuple[Degradation, tuple[int, ...]]] = field(default_factory=set)
    seconds: float = 0.0
    is_undamaged: bool = False

    def run(self) -> Generator[Scored, None, Degradation]:
        config, best = self.config, NO_DEGRADATION
        if self.measured <= config.noise_floor:
            (score,) = yield from self._score("nothing", (best,), config.score_depths)
            self.is_undamaged = score < config.undamaged_score
            if self.is_undamaged:
                return best
        if config.noise:
            best = yield from self._noise()
        if config.exposure and not best.noise:
            best = yield from self._exposure(best)
        if config.sharpness and not best.noise:
            best = yield from self._sharpness(best)
        return best

    def _noise(self) -> Generator[Scored, None, Degradation]:
        """An entry where noise is measured; sparse impulses where that measure is blind to them."""
        config, candidates = self.config, [NO_DEGRADATION]
        if self.measured > config.noise_floor:
            candidates += [Degradation(noise=self.measured * s) for s in config.noise_scales]
        else:
            candidates += [Degradation(impulses=threshold) for threshold in config.impulses]
        scores = yield from self._score("noise", candidates, config.score_depths)
        for i, candidate in enumerate(candidates[1:], 1):
            scores[i] += config.noise_head_start if candidate.noise else config.head_start
        return candidates[scores.index(min(scores))]

    def _exposure(self, base: Degradation) -> Generator[Scored, None, Degradation]:
        """Coarse gains at one depth, then the best and its neighbours at all."""
        config, restored = self.config, base.inverse(self.x)

        def make_candidates(family: Iterable[Stretch]) -> dict[Degradation, Stretch]:
            pairs = ((stretch.of(restored), stretch) for stretch in family)
            return {replace(base, exposure=e): stretch for e, stretch in pairs if e}

        coarse = make_candidates(stretches(config.gains))
        best = yield from self._coarse("exposure", base, tuple(coarse))
        if best is None:
            return base
        stretch = coarse[best]
        gains = (stretch.gain / config.fine_factor, stretch.gain * config.fine_factor)
        near = make_candidates(replace(stretch, gain=gain) for gain in gains if stretch.gain > 1)
        return (yield from self._choose("exposure", [base, best, *near], config.head_start))

    def _sharpness(self, base: Degradation) -> Generator[Scored, None, Degradation]:
        """Every disk at one depth, then the best at all; none for what was enlarged in blocks."""
        config = self.config
        if repeated_share(self.x) >= config.repeated_share:
            return base
        sharper = tuple(replace(base, blur=r, regularisation=g) for r, g in config.blurs)
        best = yield from self._coarse("sharpness", base, sharper)
        chosen = [base] if best is None else [base, best]
        return (yield from self._choose("sharpness", chosen, config.head_start))

    def _coarse(
        self, stage: str, base: Degradation, candidates: tuple[Degradation, ...]
    ) -> Generator[Scored, None, Degradation | None]:
        """The best candidate at one depth; None where there is none or ``base`` will do."""
        config = self.config
        (score,) = yield from self._score(stage, (base,), config.score_depths)
        if score < config.undamaged_score or not candidates:
            return None
        scores = yield from self._score(stage, candidates, (config.coarse_depth,))
        return candidates[scores.index(min(scores))]

    def _choose(
        self, stage: str, candidates: Sequence[Degradation], lead: float
    ) -> Generator[Scored, None, Degradation]:
        """The candidate with the lowest score; the first keeps a head start."""
        scores = yield from self._score(stage, candidates, self.config.score_depths)
        scores[0] -= lead
        return candidates[scores.index(min(scores))]

    def _score(
        self, stage: str, candidates: Sequence[Degradation], offsets: Sequence[int]
    ) -> Generator[Scored, None, list[float]]:
        """Scores at depths beyond each candidate's own entry; infinite for one that was dropped."""
        groups: dict[tuple[int, ...], list[Degradation]] = {}
        for candidate in candidates:
            entry = matched_depth(self.schedule, candidate.noise)
            groups.setdefault(tuple(entry + offset for offset in offsets), []).append(candidate)
        scores = {}
        for depths, group in groups.items():
            self._judge(group, depths)
            for candidate in group:
                score, seconds = self.cache[candidate, depths]
                if (candidate, depths) not in self.reported:
                    self.reported.add((candidate, depths))
                    self.seconds += seconds
                    self.scores.append(Scored(stage, candidate, score, len(depths)))
                    yield self.scores[-1]
                scores[candidate] = math.inf if score is None else score
        return [scores[candidate] for candidate in candidates]

    def _judge(self, candidates: Sequence[Degradation], depths: tuple[int, ...]) -> None:
        new = [c for c in candidates if (c, depths) not in self.cache]
        begun = time.perf_counter()
        scores = judge(self.schedule, self.discriminator, self.look, new, depths, self.seed)
        share = (time.perf_counter() - begun) / max(1, len(new))
        for candidate, score in zip(new, scores, strict=True):
            self.cache[candidate, depths] = score, share


@torch.no_grad()
def judge(
    schedule: Schedule,
    discriminator: nn.Module,
    look: Look,
    candidates: Sequence[Degradation],
    depths: Sequence[int],
    seed: int,
) -> list[float | None]:
    """Mean logit of each candidate's result over ``depths`` and what is shown of it.

    All see the same noise; depths beyond the last are left out. None where a result is not numbers.
    """
    if not candidates:
        return []
    device = next(discriminator.parameters()).device
    views = torch.stack([look(candidate) for candidate in candidates]).to(device)  # [C, V, 3, S, S]
    is_finite = views.isfinite().flatten(1).all(1).cpu()
    pictures = views[is_finite.to(views.device)]
    depths = [k for k in depths if k <= schedule.steps] or [schedule.steps]
    deviation = torch.tensor([candidate.noise for candidate in candidates])[is_finite]
    each = mean_logits(
        schedule,
        discriminator,
        pictures.flatten(0, 1),
        torch.tensor(depths).expand(pictures.shape[0] * pictures.shape[1], -1),
        deviation.repeat_interleave(views.shape[1]).view(-1, 1, 1, 1),
        seed,
    )
    means = iter(each.view(-1, views.shape[1]).mean(1).tolist())
    scores = [next(means) if ok else None for ok in is_finite.tolist()]
    return [s if s is not None and math.isfinite(s) else None for s in scores]


@torch.no_grad()
def mean_logits(
    schedule: Schedule,
    discriminator: nn.Module,
    x: Tensor,
    depth: Tensor,
    deviation: Tensor,
    seed: int,
) -> Tensor:
    """Mean logit of each picture over its depths, float32 ``[n]`` on the CPU.

    ``x``: ``[n, 3, S, S]``; ``depth``: int64 ``[n, K]``; ``deviation``: of the noise that a picture
    holds already, ``[n, 1, 1 or S, 1 or S]``. At one depth all see the same noise.
    """
    shape, distinct = x.shape[1:], set(depth.flatten().tolist())
    noise = {k: step_noise(seed, "forward", k, shape).to(x) for k in distinct}
    abar = schedule.alpha_bar[depth][..., None, None, None]  # [n, K, 1, 1, 1]
    variance = deviation.double().cpu().square()[:, None]
    remainder = (1 - abar - abar * variance).clamp(min=0).sqrt().to(x)
    signal = abar.sqrt().to(x)
    logits, size = [], max(1, max_batch(x) // depth.shape[1])
    for i in range(0, len(x), size):
        rows = depth[i : i + size]
        draws = torch.stack([noise[k] for k in rows.flatten().tolist()]).view(*rows.shape, *shape)
        part = slice(i, i + size)
        states = signal[part] * x[part, None] + remainder[part] * draws  # [n, K, 3, S, S]
        time = schedule.time[rows.flatten()].to(x.device)
        logits.append(discriminator(states.flatten(0, 1), time).float().cpu().view(rows.shape))
    return torch.cat(logits).mean(1) if logits else torch.empty(0)
