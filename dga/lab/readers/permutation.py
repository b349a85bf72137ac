"""The control of "chosen for each picture": what was measured in one is applied to another.

If accuracy stays the same although pictures of a batch exchange their depths, it was of no use to
choose a depth for each (``permute`` of :class:`dga.lab.readers.systems.MeasuredSystem`).
"""

from dataclasses import replace
from typing import Literal

import torch

from dga.networks.models import Models
from dga.pipeline import ForwardResult, choose_diffusion, make_judged_path

Exchanged = Literal["noise", "depth", "explanation"]
"""The level of the noise with its entry and t*; how far t* lies beyond the entry; or the whole
explanation with t*."""


def permute_stops(
    models: Models, what: Exchanged, forward_results: list[ForwardResult]
) -> list[ForwardResult]:
    """Give each picture of a batch what was measured in another picture.

    ``forward_results``: those of all pictures and repairs. As many are returned, in the same order,
    with new states. One random order, the same in every run, says which picture stands in for
    which; by chance a few keep their own. Each repair exchanges among its own results.
    """
    by_picture = {(forward.index, forward.repair): forward for forward in forward_results}
    count = len({index for index, _ in by_picture})
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0)).tolist()
    return [
        _exchange(models, what, forward, by_picture[order[forward.index], forward.repair])
        for forward in forward_results
    ]


def _exchange(
    models: Models, what: Exchanged, forward: ForwardResult, other: ForwardResult
) -> ForwardResult:
    """The result of one picture, with what was measured in the ``other`` one."""
    explanation, stop = forward.explanation, other.stop
    if what == "depth":
        beyond = stop.t_star - other.explanation.entry if stop.t_star else 0
        depth = min(max(0, explanation.entry + beyond), models.schedule.steps)
        stop = replace(stop, t_star=depth)
    else:
        degradation = other.explanation.degradation
        if what == "noise":
            degradation = replace(explanation.degradation, noise=degradation.noise)
        # x_0 is the other picture itself; this one begins after its inverse.
        explanation = replace(other.explanation, degradation=degradation, x_0=None)
    path = make_judged_path(models, forward.input, forward.seed, explanation)
    return replace(
        forward,
        diffusion=choose_diffusion(forward.repair, explanation),
        explanation=explanation,
        stop=stop,
        reference=path.forward_path.x_0,
        state=path.forward_path.at(stop.t_star),
    )
