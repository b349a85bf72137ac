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
from dga.pipeline import Permutation, Stopped, choose_diffusion, draw_starts, make_judged_path


def make_permutation(
    models: Models, x: Tensor, seeds: Sequence[int], what: Literal["noise", "depth", "explanation"]
) -> Permutation:
    """A permutation for :func:`dga.pipeline.run`: each picture gets what was found in another.

    ``what``: ``noise`` (level, map and entry, and t*), ``depth`` (t* beyond the entry) or
    ``explanation`` (all, and t*). Pictures are in a fixed random order, in which hardly any keeps
    its own; it is the same for every repair, and none gets what another repair found.
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0)).tolist()

    def permute(all_stopped: list[Stopped]) -> list[Stopped]:
        by_picture = {(stopped.row, stopped.repair): stopped for stopped in all_stopped}
        permuted = []
        for own in all_stopped:
            other = by_picture[order[own.row], own.repair]
            explanation, stop = own.explanation, other.stop
            if what == "depth":
                beyond = stop.t_star - other.explanation.entry if stop.t_star else 0
                depth = min(explanation.entry + beyond, models.schedule.steps)
                stop = replace(stop, t_star=depth)
            else:
                explanation = _exchange(explanation, other.explanation, what == "noise")
            path = make_judged_path(models, x[own.row], seeds[own.row], explanation)
            starts, states = draw_starts(path, explanation, stop.t_star)
            permuted.append(
                replace(
                    own,
                    diffusion=choose_diffusion(own.repair, explanation),
                    explanation=explanation,
                    stop=stop,
                    x_0=path.states.x_0,
                    starts=starts,
                    states=states,
                )
            )
        return permuted

    return permute


def _exchange(own: Explanation, other: Explanation, is_noise_only: bool) -> Explanation:
    """One picture's explanation with all that was found in another one, or with its noise only."""
    # The state is the other picture itself; this one begins after its inverse.
    explanation = replace(other, scored=own.scored, state=None)
    if is_noise_only:
        degradation = replace(own.degradation, noise=other.degradation.noise)
        return replace(explanation, degradation=degradation)
    return explanation
