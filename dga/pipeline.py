"""The one loop: explain a picture's damage and undo it, noise what is left, stop, denoise.

:func:`run` does that for a batch and for several repairs at once, as a generator of events, in two
halves: :func:`find_stops` leads every picture into noise, :func:`denoise_and_mend` brings it back.
One picture is a batch of one (:mod:`dga.adaptation`); rebuilding from every depth is a list of
repairs with fixed depths. States are drawn and judged only as deep as a rule or a caller needs.
(Figure 1 and section 3 of the paper; the explanation is ours.)
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.batch_size import choose_batch_size
from dga.diffusion import ForwardPath, ReverseProcess, ReverseStep, choose_sampler, count_steps
from dga.discriminator import FIRST_STATES, JudgedPath
from dga.explanation.deconvolution import deconvolve, make_disk
from dga.explanation.degradation import NO_DEGRADATION, Explanation, Verdict
from dga.explanation.judges import Judges
from dga.explanation.operators import OperatorConsistency
from dga.explanation.search import DamageSearch
from dga.guidance import StructuralGuide
from dga.images import Pixels, from_tensor, to_levels
from dga.mending import is_mendable, make_judges, mend
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models
from dga.profiles import Diffusion, ExplanationConfig, OperatorGuidanceConfig, Repair
from dga.stopping import Stop, compute_confidence

NO_EXPLANATION = Explanation(NO_DEGRADATION, 0, measured_noise=0.0, verdict=Verdict.UNSEARCHED)
"""The explanation where none is searched for: nothing is undone, and the entry is depth 0."""


# What happens


@dataclass(frozen=True)
class Start:
    """Event: where the denoising of one picture starts, for one repair; at depth 0 it does not."""

    index: int
    """The picture's place in its batch."""
    seed: int
    input: Tensor
    """The picture as it came, ``[3, S, S]``."""
    repair: Repair
    diffusion: Diffusion
    """The one of the repair's that applies; from depth 0 where none does."""
    explanation: Explanation
    stop: Stop
    """t*, in 0...T."""
    logits: NDArray[np.float64]
    """The discriminator's, ``[K]``, from the entry on, as far as they were needed."""
    reference: Tensor
    """The input after the inverse, ``[3, S, S]``, to which structural guidance keeps."""
    state: Tensor
    """x_k at t*, ``[3, S, S]``."""
    seconds: float
    """Wall clock of the explanation and the stop."""
    is_mended: bool = False
    """Whether the result is that of a denoiser that sees the picture."""
    judges: Judges | None = None
    """Those that explained the input; None where none did, and in results."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the picture is returned bit for bit."""
        is_inverted = self.explanation.degradation.has_measured_inverse
        return self.stop.t_star == 0 and not (is_inverted or self.is_mended)

    @property
    def steps(self) -> int:
        """How often the denoiser is shown the picture."""
        return count_steps(self.diffusion, self.stop.t_star)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """P(corrupted | x_k) at depths from the entry on."""
        return compute_confidence(self.logits)

    @property
    def x_t_star(self) -> Pixels:
        """The state at t*, uint8 ``[S, S, 3]``."""
        return from_tensor(self.state)


@dataclass(frozen=True)
class RepairResult:
    """Event: one repair of one picture is finished.

    With what a classifier reads in it, it is a :class:`~dga.adaptation.Reconstruction` or an
    :class:`~dga.answers.Answer`.
    """

    start: Start
    image: Tensor
    """``[3, S, S]`` at 8-bit levels."""
    seconds: float
    """Wall clock of denoising and mending."""


Event = JudgedPath | Start | ReverseStep | RepairResult | None
"""None: a moment between two judgements, at which others may have their turn."""


def collect_results(events: Iterable[Event]) -> dict[Repair, list[RepairResult]]:
    """The results among some events: of every repair, by the pictures' places in their batch."""
    results = defaultdict[Repair, list[RepairResult]](list)
    for event in events:
        if isinstance(event, RepairResult):
            results[event.start.repair].append(event)
    for by_picture in results.values():
        by_picture.sort(key=lambda result: result.start.index)
    return results


# The loop


@isolate_numerics
def run(
    models: Models, processes: Iterable[ForwardProcess], repairs: Sequence[Repair]
) -> Iterator[Event]:
    """Apply every repair to every picture, each on its way into noise.

    Yields a :class:`Start` and a :class:`RepairResult` for every picture and repair. Raises
    ``FloatingPointError`` if a network returns no numbers, and ``MemoryError`` if not even one
    picture fits.
    """
    starts = list[Start]()
    for event in find_stops(processes, repairs):
        if isinstance(event, Start):
            starts.append(event)
        yield event
    yield from denoise_and_mend(models, starts)


def find_stops(processes: Iterable[ForwardProcess], repairs: Sequence[Repair]) -> Iterator[Event]:
    """The first half of :func:`run`: a :class:`Start` for every picture and repair."""
    for index, process in enumerate(processes):
        for repair in repairs:
            explanation = yield from process.explain(repair.explain)
            yield (yield from process.find_stop(repair, explanation, index))


def choose_diffusion(repair: Repair, explanation: Explanation) -> Diffusion:
    """Choose which of a repair's diffusions applies to a picture with this explanation.

    In a photograph of windows zoom and blocks are undone before, so that no window's explanation
    has them (:mod:`dga.photograph`).
    """
    if explanation.entry and repair.noise_diffusion:
        return repair.noise_diffusion
    if explanation.degradation.operator is None:
        return repair.diffusion
    # No noise hides what blur has erased.
    return repair.blur_diffusion or repair.diffusion.with_depth(0)


# The way into noise


class ForwardProcess:
    """One picture on its way into noise; what its repairs share is computed once.

    ``x``: the picture, ``[3, S, S]`` in [-1, 1]; ``seed``: of all its noise.
    """

    def __init__(self, models: Models, x: Tensor, seed: int) -> None:
        self.models, self.x, self.seed = models, x, seed
        self._explanations: dict[ExplanationConfig, Explanation] = {}
        self.judges: Judges | None = None
        """Those that explained the picture."""
        self._paths: dict[Hashable, JudgedPath] = {}

    @classmethod
    def of_batch(cls, models: Models, x: Tensor, seeds: Sequence[int]) -> Iterator[ForwardProcess]:
        """Of each picture, ``[B, 3, H, W]``, when its turn comes; one seed per picture."""
        return (cls(models, *picture) for picture in zip(x, seeds, strict=True))

    def explain(self, config: ExplanationConfig | None) -> Generator[None, None, Explanation]:
        """Explain the picture's damage; without ``config`` nothing is looked for."""
        if config is None:
            return NO_EXPLANATION
        if config not in self._explanations:
            start_time = time.perf_counter()
            self.judges = self.judges or make_judges(self.models, self.x, self.seed)
            explanation = yield from DamageSearch(self.judges.x, config, self.judges).run()
            seconds = time.perf_counter() - start_time
            self._explanations[config] = replace(explanation, seconds=seconds)
        return self._explanations[config]

    def path(self, explanation: Explanation) -> JudgedPath:
        """The noise path of the picture after the explanation's inverse."""
        key = explanation.degradation, explanation.verdict is Verdict.UNSEARCHED
        if key not in self._paths:
            self._paths[key] = make_judged_path(self.models, self.x, self.seed, explanation)
        return self._paths[key]

    def find_stop(
        self,
        repair: Repair,
        explanation: Explanation,
        index: int = 0,
        first: int = FIRST_STATES,
        curve_depth: int = 0,
    ) -> Generator[JudgedPath, None, Start]:
        """Find t* for one repair.

        ``index``: of the picture in its batch; ``first``: how many states are judged at once before
        any other; ``curve_depth``: depths beyond the entry that are judged at least, even where the
        rule is met before.
        """
        diffusion, path = choose_diffusion(repair, explanation), self.path(explanation)
        logits, seconds = np.empty(0), explanation.seconds
        if _is_left_to_mending(self.models, repair, explanation):
            stop = Stop(0, is_crossed=True)
        elif diffusion.depth is not None:
            stop = Stop(diffusion.depth, is_crossed=True)
        elif explanation.is_unjudgeable or explanation.is_undamaged:
            stop = Stop(0, is_crossed=True)
        else:
            assert diffusion.stopping is not None  # by Diffusion itself
            stop, count = yield from path.judge_until_stop(diffusion.stopping, first, curve_depth)
            stop = replace(stop, t_star=0 if stop.has_given_up else explanation.entry + stop.t_star)
            logits, seconds = path.logits[:count], seconds + path.seconds[count]
        return Start(
            index=index,
            seed=self.seed,
            input=self.x,
            repair=repair,
            diffusion=diffusion,
            explanation=explanation,
            stop=stop,
            logits=logits,
            reference=path.forward_path.x_0,
            state=path.forward_path.at(stop.t_star),
            seconds=seconds,
            judges=self.judges,
        )


def _is_left_to_mending(models: Models, repair: Repair, explanation: Explanation) -> bool:
    """Whether only noise or JPEG was found, and a denoiser that sees the picture decides what
    becomes of it: the forward process would be judged for nothing."""
    damage = explanation.degradation
    is_measured = damage != NO_DEGRADATION and not damage.has_measured_inverse
    return is_measured and is_mendable(models, repair, explanation)


def make_judged_path(models: Models, x: Tensor, seed: int, explanation: Explanation) -> JudgedPath:
    """The noise path of a picture, ``[3, S, S]``, after the explanation's inverse.

    Where no damage was looked for, the paper's discriminator judges it; else DGA+'s own.
    """
    noise = explanation.degradation.noise
    forward_path = ForwardPath(models.schedule, explanation.invert(x), seed, noise)
    is_searched = explanation.verdict is not Verdict.UNSEARCHED
    network = models.explainer if is_searched else models.discriminator
    return JudgedPath(network, forward_path, explanation.entry)


# The way back


def denoise_and_mend(
    models: Models, starts: Sequence[Start]
) -> Iterator[ReverseStep | RepairResult]:
    """Bring every picture back.

    What was measured is undone and denoised, and a denoiser that sees the picture mends what is
    left; where nothing was measured but noise, it mends the picture itself.
    """
    rest = list[Start]()
    for start in starts:
        judges, start = start.judges, replace(start, judges=None)  # results hold no networks
        mended = None if _is_inverted(start) else _mend(models, _end_as_it_came(start), judges)
        if mended is None:
            rest.append(start)
        else:
            yield mended
    for event in denoise(models, rest):
        if isinstance(event, RepairResult) and _is_inverted(event.start):
            event = _mend(models, event) or event
        yield event


def _is_inverted(start: Start) -> bool:
    return start.explanation.degradation.has_measured_inverse


def _end_as_it_came(start: Start) -> RepairResult:
    """The picture of a repair as it came, neither noised nor denoised."""
    came, stop = start.input, Stop(0, is_crossed=True)
    return RepairResult(replace(start, stop=stop, reference=came, state=came), came, seconds=0.0)


def _mend(
    models: Models, result: RepairResult, judges: Judges | None = None
) -> RepairResult | None:
    """Let a denoiser that sees the picture mend a result; None as :func:`dga.mending.mend`."""
    start_time, start = time.perf_counter(), result.start
    mended = mend(models, result.image, start.seed, start.repair, start.explanation, judges)
    if mended is None:
        return None
    start = replace(start, explanation=mended.explanation, is_mended=mended.is_used)
    seconds = result.seconds + time.perf_counter() - start_time
    return RepairResult(start, mended.image, seconds)


def denoise(models: Models, starts: Sequence[Start]) -> Iterator[ReverseStep | RepairResult]:
    """Denoise every picture to depth 0; mend none. What differs in depth alone shares batches."""
    groups = defaultdict[Diffusion, list[Start]](list)
    for start in starts:
        if start.stop.t_star:
            groups[start.diffusion.with_depth(0)].append(start)
        else:
            yield RepairResult(start, start.reference, 0.0)
    for group in groups.values():
        size = choose_batch_size(group[0].state)
        for begin in range(0, len(group), size):
            yield from _denoise_batch(models, group[begin : begin + size])


def _denoise_batch(models: Models, batch: Sequence[Start]) -> Iterator[ReverseStep | RepairResult]:
    """Denoise one batch of repairs that differ in depth alone."""
    start_time = time.perf_counter()
    depths = [start.stop.t_star for start in batch]
    images = torch.stack([start.state for start in batch])  # [b, 3, S, S]
    reverse = _make_reverse_process(models, batch)
    for step in reverse.run(images, depths, [start.seed for start in batch]):
        images = step.x
        yield step
    if not bool(images.isfinite().all()):  # the one synchronisation with a GPU
        raise FloatingPointError("The diffusion model returned values that are not numbers.")
    images, diffusion = images.clamp(-1, 1), batch[0].diffusion
    if diffusion.sharpen:
        images = deconvolve(images, make_disk(diffusion.sharpen), diffusion.sharpen_regularisation)
    images = to_levels(images)
    step_seconds = (time.perf_counter() - start_time) / sum(start.steps for start in batch)
    for start, image in zip(batch, images, strict=True):
        yield RepairResult(start, image, step_seconds * start.steps)


def _make_reverse_process(models: Models, starts: Sequence[Start]) -> ReverseProcess:
    """How states are denoised, each held to its picture: by the operator, or low frequencies."""
    diffusion = starts[0].diffusion
    guide, consistency, config = None, None, diffusion.guidance
    if isinstance(config, OperatorGuidanceConfig):
        operators = [one.explanation.degradation.operator for one in starts]
        inputs = torch.stack([start.input for start in starts])
        consistency = OperatorConsistency(models.schedule, operators, inputs, config.weight)
    elif config is not None:
        reference = torch.stack([start.reference for start in starts])
        guide = StructuralGuide(reference, config)
    sampler = choose_sampler(diffusion)
    return ReverseProcess(models.schedule, models.denoiser, sampler, guide, consistency)
