"""What a route gives from every depth of a picture's noise path: which depths would have done?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dga.diffusion import forward_path
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.models import Models
from dga.pipeline import (
    Judged,
    Outcomes,
    Route,
    check_numbers,
    check_pixels,
    chunk_of,
    judge_paths,
    path_seed,
    read,
    rebuild_steps,
)


def outcomes_of(
    models: Models, pixels: Pixels, seed: int, route: Route, extent: int
) -> Iterator[tuple[int, int] | Outcomes]:
    """Rebuild a picture, uint8 ``[S, S, 3]``, by a route from each depth 0...``extent``.

    Yields (steps done, of how many), then the :class:`~dga.pipeline.Outcomes`: at each depth the
    picture that :func:`~dga.pipeline.adapt` gives there, up to rounding. Not for DGA+, whose
    path is its own. Raises ``ValueError`` for pixels of another size or a bad depth.
    """
    assert route.plus is None
    check_pixels(pixels, models.profile)
    models.schedule.check_depth(extent)
    x_input = to_tensor(pixels).to(models.device)
    path = forward_path(models.schedule, x_input, seed)
    images = np.repeat(pixels[None], extent + 1, 0)
    size = chunk_of(path)
    groups = [range(k, min(k + size, extent + 1)) for k in range(1, extent + 1, size)]
    counts = [max(len(route.sampler.visited(k)) - 1 for k in group) for group in groups]
    for number, group in enumerate(groups):
        before, total = sum(counts[:number]), sum(counts)
        x, reference = path[group.start : group.stop], x_input.expand(len(group), -1, -1, -1)
        seeds = [seed] * len(group)
        for step in rebuild_steps(
            models, x, reference, list(group), seeds, route.guidance, route.sampler
        ):
            check_numbers(step.x)
            arrived = (step.depth == 0).nonzero().squeeze(1)
            if len(arrived):
                images[[group[i] for i in step.rows[arrived].tolist()]] = from_tensor(
                    step.x[arrived.to(step.x.device)]
                )
            yield before + step.step, total
    yield Outcomes(route, images, read(models, to_tensor(images).to(models.device)))


def judge_further(
    models: Models, pixels: Pixels, seed: int, paths: int, first: int
) -> Iterator[Judged | NDArray[np.float64]]:
    """The rest of a curve that is known to depth ``first`` - 1.

    Yields it in pieces, then its logits, ``[paths, T + 1 - first]``; the noise is that of
    :func:`~dga.pipeline.adapt`.
    """
    x = to_tensor(pixels).to(models.device)
    states = [forward_path(models.schedule, x, path_seed(seed, n)) for n in range(paths)]
    yield (yield from judge_paths(models, states, first, models.schedule.steps + 1))
