"""The one loop: explain what a picture suffered, noise what is left, stop, denoise.

:func:`run` does that for a batch and for any repairs at once, as a generator of events. One
picture is a batch of one (:mod:`dga.one_picture`); rebuilding from every depth is a list of repairs
with fixed depths. States are drawn and judged only as deep as a rule or a caller needs.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.diffusion import ForwardPath, ReverseStep, Sampler, count_steps, reverse, sampler_of
from dga.discriminator import FIRST, Judged, JudgedPath, max_batch
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.judge import CandidateJudge
from dga.explanation.noise_level import level_weights, matched_depth
from dga.explanation.operators import OperatorAgreement
from dga.explanation.search import Explanation, Scored, explain
from dga.explanation.sharpness import disk, wiener
from dga.explanation.windows import explain_by_windows
from dga.guidance import StructuralGuide
from dga.images import to_levels
from dga.networks.compute import with_own_numerics
from dga.networks.models import Models
from dga.profiles import (
    Diffusion,
    ExplanationConfig,
    OperatorGuidanceConfig,
    Repair,
    StoppingConfig,
)
from dga.stopping import Stop, choose_depth, is_decided

NO_EXPLANATION = Explanation(NO_DEGRADATION, entry=0, measured_noise=0.0)
"""The explanation where none is searched for: nothing is undone, and noise starts at depth 0."""


# What happens


@dataclass(frozen=True)
class Stopped:
    """Event: the forward process of one picture stopped, for one repair.

    ``diffusion``: which of the repair's three applies; ``stop``: t*, in 0...T; ``logits``:
    ``[paths, K]`` from the entry on, as far as they were needed, ``[1, 0]`` where the discriminator
    was not asked; ``path``: the first noise path; ``seconds``: of the explanation and the stop.
    """

    row: int
    repair: Repair
    diffusion: Diffusion
    explanation: Explanation
    stop: Stop
    logits: NDArray[np.float64]
    path: JudgedPath
    seconds: float

    @property
    def unchanged(self) -> bool:
        """The picture is returned bit for bit."""
        return self.stop.t_star == 0 and self.explanation.degradation.nothing_to_invert


@dataclass(frozen=True)
class Rebuilt:
    """Event: one repair of one picture is finished. ``image``: ``[3, S, S]`` at 8-bit levels.

    ``steps``: denoising steps from t* to 0; those from the shallower depths of a picture with
    several noise levels do not count. ``seconds``: of all denoising.
    """

    row: int
    repair: Repair
    image: Tensor
    steps: int
    seconds: float


Event = Scored | Judged | Stopped | ReverseStep | Rebuilt
Permutation = Callable[[list[Stopped]], list[Stopped]]
"""From all stops of a batch to those that are denoised."""


# The loop


@with_own_numerics
def run(
    models: Models,
    x: Tensor,
    seeds: Sequence[int],
    repairs: Sequence[Repair],
    caches: Sequence[PictureCache] | None = None,
    permutation: Permutation | None = None,
) -> Iterator[Event]:
    """Apply every repair to every picture, ``[B, 3, S, S]`` in [-1, 1]; one seed per picture.

    Yields :class:`Stopped` and :class:`Rebuilt` for every picture and repair. ``caches``: of these
    pictures, to reuse what they computed before; ``permutation``: gets all stops and returns those
    to denoise (a control permutes them). Raises ``FloatingPointError`` if a network returns no
    numbers, and ``MemoryError`` if not even one picture fits.
    """
    stopped, jobs = list[Stopped](), list[Job]()
    for row in range(len(x)):
        cache = caches[row] if caches else PictureCache(models, x[row], seeds[row])
        for repair in repairs:
            stopped.append((yield from find_stop(cache, row, repair)))
            if permutation is None:
                yield stopped[-1]
        if permutation is None:  # keeps one state a job, not the whole path
            jobs += _make_jobs(models, stopped, x, seeds)
            stopped.clear()
    if permutation is not None:
        permuted = permutation(stopped)
        yield from permuted
        jobs = _make_jobs(models, permuted, x, seeds)
    yield from denoise(models, jobs)


def find_stop(
    cache: PictureCache, row: int, repair: Repair, extent: int = 0
) -> Generator[Scored | Judged, None, Stopped]:
    """Explain a picture and find t*, for one repair.

    ``row``: of the picture in its batch; ``extent``: depths beyond the entry that are judged at
    least, even where the rule is met before.
    """
    explanation = yield from cache.explain(repair.explain)
    diffusion = repair.diffusion
    if explanation.entry and repair.noisy:
        diffusion = repair.noisy
    elif operator := explanation.degradation.operator:  # no noise hides what blur has erased
        sampled = repair.blurred if operator.is_guide else None
        diffusion = sampled or repair.diffusion.with_depth(0)
    path, logits, seconds = cache.path(explanation), np.empty((1, 0)), explanation.seconds
    if diffusion.depth is not None:
        stop = Stop(diffusion.depth, crossed=True)
    elif explanation.is_flat or explanation.is_undamaged:
        stop = Stop(0, crossed=True)
    else:
        assert diffusion.stopping is not None  # by Diffusion itself
        judging = cache.judge_until_stop(explanation, diffusion.stopping, extent)
        stop, logits, judging_seconds = yield from judging
        stop = replace(stop, t_star=0 if stop.gave_up else explanation.entry + stop.t_star)
        seconds += judging_seconds
    return Stopped(row, repair, diffusion, explanation, stop, logits, path, seconds)


# The way into noise


class PictureCache:
    """One picture, ``[3, S, S]`` in [-1, 1], and what its repairs share, each computed once.

    ``explanation``: where it is known; else one is searched for, by each configuration.
    """

    def __init__(
        self, models: Models, x: Tensor, seed: int, explanation: Explanation | None = None
    ) -> None:
        self.models, self.x, self.seed, self.explanation = models, x, seed, explanation
        self._explanations: dict[ExplanationConfig, Explanation] = {}
        self._paths: dict[tuple[Degradation, bool, int, int], JudgedPath] = {}

    def explain(self, config: ExplanationConfig | None) -> Generator[Scored, None, Explanation]:
        """The explanation: the one that is known, else searched for; without ``config`` none."""
        if config is None or self.explanation:
            return self.explanation or NO_EXPLANATION
        if config not in self._explanations:
            begun = time.perf_counter()
            explanation = yield from self._explain(config)
            seconds = time.perf_counter() - begun
            self._explanations[config] = replace(explanation, seconds=seconds)
        return self._explanations[config]

    def _explain(self, config: ExplanationConfig) -> Generator[Scored, None, Explanation]:
        """Search for one, by windows in a picture larger than the discriminator's own size."""
        judge = CandidateJudge(self.models.schedule, self.models.explainer, self.seed)
        side = self.models.window_size
        if config.windows and max(self.x.shape[1:]) > side:
            return (yield from explain_by_windows(judge, self.x.cpu(), side, config))
        return (yield from explain(judge, self.x, config))

    def path(self, explanation: Explanation, number: int = 0) -> JudgedPath:
        """Noise path ``number`` of the picture after the explanation's inverse."""
        is_explained, noise_map = explanation is not NO_EXPLANATION, id(explanation.noise_map)
        key = explanation.degradation, is_explained, noise_map, number
        if key not in self._paths:
            self._paths[key] = make_judged_path(self.models, self.x, self.seed, explanation, number)
        return self._paths[key]

    def judge_until_stop(
        self, explanation: Explanation, stopping: StoppingConfig, extent: int = 0
    ) -> Generator[Judged, None, tuple[Stop, NDArray[np.float64], float]]:
        """Judge until the stopping rule is decided, at least ``extent`` depths beyond the entry.

        Returns the stop, its depth counted from the entry, logits ``[paths, K]``, and seconds.
        """
        paths = [self.path(explanation, number) for number in range(stopping.paths)]
        most = self.models.schedule.steps - explanation.entry + 1
        count, batch = 0, max_batch(self.x)
        while True:
            wanted = count + batch if count else min(FIRST, batch)
            count = min(most, max(extent + 1, min(wanted, stopping.deepest + 1)))
            for path in paths:
                yield from path.judge(count)
            logits = np.stack([path.logits[:count] for path in paths])
            if count == most or is_decided(logits, stopping):
                seconds = sum(path.seconds[count] for path in paths)
                return choose_depth(logits, stopping), logits, seconds


def make_judged_path(
    models: Models, x: Tensor, seed: int, explanation: Explanation, number: int = 0
) -> JudgedPath:
    """Noise path ``number`` of a picture, ``[3, S, S]``, after the explanation's inverse."""
    is_explained, degradation = explanation is not NO_EXPLANATION, explanation.degradation
    path_seed = seed if number == 0 else (seed + 1) * 1_000_003 + number
    noise = degradation.noise if explanation.noise_map is None else explanation.noise_map
    begin = degradation.inverse(x) if explanation.state is None else explanation.state.to(x)
    states = ForwardPath(models.schedule, begin, path_seed, noise)
    network = models.explainer if is_explained else models.discriminator
    return JudgedPath(models.schedule, network, states, explanation.entry)


# The way back


@dataclass(frozen=True)
class Job:
    """One reverse process of a picture, shared by all repairs for which it is the same.

    ``depths``: rising, the last is t*; more than one where pixels are read from several.
    ``states``: x_k at them, ``[n, 3, S, S]``;
    ``restored``: the picture after the inverse, which structural guidance keeps to;
    ``observed``: as it came; both ``[3, S, S]``.
    """

    row: int
    seed: int
    depths: tuple[int, ...]
    diffusion: Diffusion
    states: Tensor
    restored: Tensor
    observed: Tensor
    explanation: Explanation
    repairs: list[Repair]

    @property
    def depth(self) -> int:
        """t*."""
        return self.depths[-1]

    def blend(self, images: Tensor) -> Tensor:
        """The picture, ``[3, S, S]``, from what each depth gave, ``[n, 3, S, S]``."""
        if self.explanation.noise_map is None or not self.explanation.levels:
            return images[0]
        weights = level_weights(self.explanation.noise_map, self.explanation.levels).to(images)
        return (weights[:, None] * torch.cat([self.restored[None], images])).sum(0)


def _make_jobs(
    models: Models, stopped: Sequence[Stopped], x: Tensor, seeds: Sequence[int]
) -> list[Job]:
    """One job for all repairs of a picture that have path, t* and diffusion in common."""
    jobs: dict[tuple[int, int, Diffusion], Job] = {}
    for one in stopped:
        row, depth, explanation = one.row, one.stop.t_star, one.explanation
        diffusion = one.diffusion.with_depth(depth)
        key = row, id(one.path), diffusion
        if key not in jobs:
            beyond = depth - explanation.entry
            entries = (matched_depth(models.schedule, level) for level in explanation.levels[:-1])
            depths = (*(max(0, entry + beyond) for entry in entries), depth)
            jobs[key] = Job(
                row,
                seeds[row],
                depths,
                diffusion,
                states=torch.stack([one.path.states.at(k) for k in depths]),
                restored=explanation.degradation.inverse(x[row]),
                observed=x[row],
                explanation=explanation,
                repairs=[],
            )
        jobs[key].repairs.append(one.repair)
    return list(jobs.values())


def denoise(models: Models, jobs: Sequence[Job]) -> Iterator[ReverseStep | Rebuilt]:
    """Denoise every job to depth 0; those that differ in depth alone share batches."""
    groups: dict[tuple[Diffusion, torch.Size], list[Job]] = defaultdict(list)
    for job in jobs:
        if job.depth:
            groups[job.diffusion.with_depth(0), job.states.shape[1:]].append(job)
        else:
            yield from (Rebuilt(job.row, repair, job.restored, 0, 0.0) for repair in job.repairs)
    size = max_batch(jobs[0].restored) if jobs else 1
    for group in groups.values():
        for first in range(0, len(group), size):
            yield from _denoise_batch(models, group[first : first + size])


def _denoise_batch(models: Models, jobs: Sequence[Job]) -> Iterator[ReverseStep | Rebuilt]:
    """Denoise one batch of jobs that differ in depth alone."""
    begun, diffusion = time.perf_counter(), jobs[0].diffusion
    rows = [job for job in jobs for _ in job.depths]  # a row for each depth of a job
    images = torch.cat([job.states for job in jobs])  # [b, 3, S, S]
    for step in reverse(
        models.schedule,
        models.denoiser,
        images,
        [depth for job in jobs for depth in job.depths],
        [job.seed for job in rows],
        *_make_guidance(models, diffusion, rows),
    ):
        for row, depth, x in zip(step.rows.tolist(), step.depth.tolist(), step.x, strict=True):
            if depth == 0:
                images[row] = x
        yield step
    if not bool(images.isfinite().all()):  # the one synchronisation with a GPU
        raise FloatingPointError("The diffusion model returned values that are not numbers.")
    by_job = images.clamp(-1, 1).split([len(job.depths) for job in jobs])
    images = torch.stack([job.blend(part) for job, part in zip(jobs, by_job, strict=True)])
    if diffusion.sharpen:
        images = wiener(images, disk(diffusion.sharpen), diffusion.sharpen_regularisation)
    images, counts = to_levels(images), [count_steps(job.diffusion, job.depth) for job in jobs]
    step_seconds = (time.perf_counter() - begun) / sum(counts)
    for job, image, steps in zip(jobs, images, counts, strict=True):
        for repair in job.repairs:
            yield Rebuilt(job.row, repair, image, steps, step_seconds * steps)


def _make_guidance(
    models: Models, diffusion: Diffusion, jobs: Sequence[Job]
) -> tuple[StructuralGuide | None, Sampler, OperatorAgreement | None]:
    """What holds each row to its picture: its operator, or its low frequencies; and the sampler."""
    sampler, config = sampler_of(diffusion), diffusion.guidance
    if config is None:
        return None, sampler, None
    if isinstance(config, OperatorGuidanceConfig):
        degradations = (job.explanation.degradation for job in jobs)
        operators = [one.operator for one in degradations if one.operator]
        observed = torch.stack([job.observed for job in jobs])
        return None, sampler, OperatorAgreement(models.schedule, operators, observed, config.weight)
    return StructuralGuide(torch.stack([job.restored for job in jobs]), config), sampler, None
