"""The control of "chosen for each picture": what was found in one is applied to another.

If accuracy stays the same although pictures of a batch exchange their depths, it was of no use to
choose a depth for each (:class:`dga.systems.Control`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from dga.explanation.search import Explanation
from dga.networks.models import Models
from dga.pipeline import (
    Permutation,
    Stopped,
    choose_diffusion,
    draw_starts,
    make_judged_path,
)


def make_permutation(
    models: Models,
    x: Tensor,
    seeds: Sequence[int],
    what: Literal["noise", "depth", "explanation"],
) -> Permutation:
    """A permutation for :func:`dga.pipeline.run`: each picture gets what was found in another.

    ``what``: ``noise`` (all that is known of a picture's noise, and t*), ``depth`` (t* beyond the
    entry) or ``explanation`` (all, and t*), in a fixed random order, in which hardly any picture
    keeps its own. The order is the same for every repair, and none gets what another one found.
    """

    def permute(all_stopped: list[Stopped]) -> list[Stopped]:
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0)).tolist()
        by_picture = {(stopped.row, stopped.repair): stopped for stopped in all_stopped}
        return [
            exchange(stopped, by_picture[order[stopped.row], stopped.repair])
            for stopped in all_stopped
        ]

    def exchange(own: Stopped, other: Stopped) -> Stopped:
        """The first picture with what was found in the other one."""
        explanation, stop = own.explanation, other.stop
        if what == "depth":
            beyond = stop.t_star - other.explanation.entry if stop.t_star else 0
            depth = min(explanation.entry + beyond, models.schedule.steps)
            stop = replace(stop, t_star=depth)
        elif what == "noise":
            explanation = _exchange_noise(explanation, other.explanation)
        else:
            # The state is the other picture itself; this one begins after the inverse.
            explanation = replace(other.explanation, state=None)
        path = make_judged_path(models, x[own.row], seeds[own.row], explanation)
        starts, states = draw_starts(path, explanation, stop.t_star)
        return replace(
            own,
            diffusion=choose_diffusion(own.repair, explanation),
            explanation=explanation,
            stop=stop,
            x_0=path.states.x_0,
            starts=starts,
            states=states,
        )

    return permute


def _exchange_noise(own: Explanation, other: Explanation) -> Explanation:
    """One picture's explanation with the noise of another's, whole: levels, map and entry."""
    return replace(
        own,
        degradation=replace(own.degradation, noise=other.degradation.noise),
        entry=other.entry,
        measured_noise=other.measured_noise,
        noise_map=other.noise_map,
        levels=other.levels,
        state=None,  # of the noise that was exchanged
    )
