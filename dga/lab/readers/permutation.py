"""The control of "chosen for each picture": what was measured in one is applied to another.

If accuracy stays the same although pictures of a batch exchange their depths, it was of no use to
choose a depth for each (``permute`` of :class:`dga.lab.readers.systems.MeasuredSystem`).
"""

from dataclasses import replace
from typing import Literal

import torch

from dga.networks.models import Models
from dga.pipeline import Start, choose_diffusion, make_judged_path

Exchanged = Literal["noise", "depth", "explanation"]
"""The level of the noise with its entry and t*; how far t* lies beyond the entry; or the whole
explanation with t*."""


def permute_stops(models: Models, what: Exchanged, starts: list[Start]) -> list[Start]:
    """Give each picture of a batch what was measured in another picture.

    ``starts``: those of all pictures and repairs. As many are returned, in the same order,
    with new states. One random order, the same in every run, says which picture stands in for
    which; by chance a few keep their own. Each repair exchanges among its own results.
    """
    by_picture = {(start.index, start.repair): start for start in starts}
    count = len({index for index, _ in by_picture})
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0)).tolist()
    return [
        _exchange(models, what, start, by_picture[order[start.index], start.repair])
        for start in starts
    ]


def _exchange(models: Models, what: Exchanged, start: Start, other: Start) -> Start:
    """The result of one picture, with what was measured in the ``other`` one."""
    explanation, stop = start.explanation, other.stop
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
    path = make_judged_path(models, start.input, start.seed, explanation)
    return replace(
        start,
        diffusion=choose_diffusion(start.repair, explanation),
        explanation=explanation,
        stop=stop,
        reference=path.forward_path.x_0,
        state=path.forward_path.at(stop.t_star),
    )
