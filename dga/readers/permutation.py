"""The control of "chosen for each picture": what was found in one is applied to another.

If accuracy stays the same although pictures of a batch exchange their depths, it was of no use to
choose a depth for each (:class:`dga.systems.Control`).
"""

from dataclasses import replace
from typing import Literal

import torch

from dga.explanation.search import Explanation
from dga.networks.models import Models
from dga.pipeline import Stopped, choose_diffusion, draw_starts, make_judged_path


def permute_stops(
    models: Models,
    what: Literal["noise", "depth", "explanation"],
    all_stopped: list[Stopped],
) -> list[Stopped]:
    """Stops of a batch, of which each picture gets what was found in another.

    ``what``: ``noise`` (level, map and entry, and t*), ``depth`` (t* beyond the entry) or
    ``explanation`` (all, and t*). Pictures are in a fixed random order, in which hardly any keeps
    its own; it is the same for every repair, and none gets what another repair found.
    """
    by_picture = {(stopped.row, stopped.repair): stopped for stopped in all_stopped}
    count = len({row for row, _ in by_picture})
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0)).tolist()
    permuted = []
    for stopped in all_stopped:
        other = by_picture[order[stopped.row], stopped.repair]
        explanation, stop = stopped.explanation, other.stop
        if what == "depth":
            beyond = stop.t_star - other.explanation.entry if stop.t_star else 0
            depth = min(explanation.entry + beyond, models.schedule.steps)
            stop = replace(stop, t_star=depth)
        else:
            explanation = _exchange(explanation, other.explanation, what == "noise")
        path = make_judged_path(models, stopped.observed, stopped.seed, explanation)
        starts, states = draw_starts(path, explanation, stop.t_star)
        permuted.append(
            replace(
                stopped,
                diffusion=choose_diffusion(stopped.repair, explanation),
                explanation=explanation,
                stop=stop,
                x_0=path.states.x_0,
                starts=starts,
                states=states,
            )
        )
    return permuted


def _exchange(mine: Explanation, other: Explanation, is_noise_only: bool) -> Explanation:
    """One picture's explanation with all that was found in another one, or with its noise only."""
    # The state is the other picture itself; this one begins after its inverse.
    explanation = replace(other, scored=mine.scored, state=None)
    if is_noise_only:
        degradation = replace(mine.degradation, noise=other.degradation.noise)
        return replace(explanation, degradation=degradation)
    return explanation
