"""One picture's run as a page watches it: its steps in pictures, what comes out at each depth."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

import numpy as np

from dga.discriminator import Judged
from dga.explanation.search import Scored
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.models import Models
from dga.pipeline import (
    NOTHING,
    Adaptation,
    DepthSweep,
    PictureCache,
    Reconstruction,
    SearchEnded,
    Stepped,
    adapt_steps,
    checked_repair,
    classify,
    sweep_depths,
    systems_by_repair,
)
from dga.profiles import Repair, StoppingConfig
from dga.systems import System

NOISED = "noised"
"""In :class:`Swept` in the place of a system's name: the forward states x_k themselves."""


@dataclass(frozen=True)
class Step:
    """A denoising step. ``systems``: names of those that share it; ``depth``: which it reached.

    ``x``, ``x0_hat``: uint8 ``[S, S, 3]``.
    """

    systems: Sequence[str]
    depth: int
    x: Pixels
    x0_hat: Pixels


@dataclass(frozen=True)
class Swept:
    """A system's results from depths 0, 1, ...; of :data:`NOISED` the predictions alone."""

    system: str
    sweep: DepthSweep


News = Scored | Judged | SearchEnded | Step | Reconstruction | Swept | Adaptation


def fixed_depth(system: System) -> int | None:
    """The depth to which it noises every picture; None where it chooses one for each."""
    return checked_repair(system).end.depth


def alike(one: System, other: System) -> bool:
    """Whether both give the same picture from the same depth."""
    ways = [checked_repair(system).end.at(0) for system in (one, other)]
    return ways[0] == ways[1] and not (one.explain or other.explain)


def watch(
    models: Models,
    pixels: Pixels,
    seed: int,
    stopping: StoppingConfig,
    chosen: Sequence[System],
    extent: int | None = None,
    every: int | None = None,
) -> Generator[News]:
    """:func:`~dga.pipeline.adapt_steps` for a page: the first system's kind ends before the other.

    ``stopping``: the paper's rule; ``every``: at each depth 0...``every`` the frozen classifier
    also reads x_k itself, and what each system that explains rebuilds from there in one step; at
    last the curve is judged as deep as a stop at any other tau may need.
    """
    by_repair = systems_by_repair(chosen)
    cache = PictureCache(models, to_tensor(pixels).to(models.device), seed)
    groups = [list(group) for _, group in groupby(chosen, lambda system: bool(system.explain))]
    parts = (adapt_steps(models, pixels, seed, g, extent, cache, stopping) for g in groups)
    known, result, done = False, None, dict[str, Reconstruction]()
    for event in chain.from_iterable(parts):
        if isinstance(event, Stepped):
            yield from _steps(event, by_repair)
            continue
        if isinstance(event, Adaptation):
            done |= event.reconstructions
            result = event if result is None or event.explained is None else result
            if len(done) == len(chosen):
                if every is not None:
                    _, logits, _ = yield from cache.stop(
                        NOTHING, stopping, max(every, stopping.deepest)
                    )
                    result = replace(result, search=replace(result.search, logits=logits))
                    yield SearchEnded(None, result.search)
                yield replace(result, reconstructions={s.name: done[s.name] for s in chosen})
            continue
        paper = isinstance(event, SearchEnded) and event.system is None
        if paper and known:
            continue
        known |= paper
        yield event
        if every is None:
            continue
        if paper:
            states = cache.path(NOTHING).states.up_to(every)
            none = np.empty((0, *pixels.shape), np.uint8)
            yield Swept(NOISED, DepthSweep(none, classify(models, states)))
        elif isinstance(event, Reconstruction) and event.system.explain:
            repair = _one_step(checked_repair(event.system))
            *_, sweep = sweep_depths(models, pixels, seed, repair, every, cache)
            assert isinstance(sweep, DepthSweep)
            yield Swept(event.system.name, sweep)


def _steps(event: Stepped, by_repair: dict[Repair, list[System]]) -> Iterator[Step]:
    pictures = zip(from_tensor(event.x), from_tensor(event.x0_hat), strict=True)
    for job, depth, (x, x0_hat) in zip(event.jobs, event.depths, pictures, strict=True):
        names = [system.name for repair in job.repairs for system in by_repair[repair]]
        yield Step(names, depth, x, x0_hat)


def _one_step(repair: Repair) -> Repair:
    """The repair with its end for noisy pictures, one step, for all: the other end is slow."""
    return replace(repair, end=repair.noisy or repair.end, noisy=None)
