"""The control of "chosen for each picture": choices are permuted between pictures."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from dga.networks.models import Models
from dga.pipeline import Permutation, Stopped, make_judged_path


def make_permutation(models: Models, x: Tensor, seeds: Sequence[int], what: str) -> Permutation:
    """A permutation for :func:`dga.pipeline.run`: each picture gets what was found in another.

    ``what``: ``noise`` (entry and t*), ``depth`` (t* beyond the entry) or ``explanation`` (all),
    in a fixed random order, in which hardly any picture keeps its own.
    """

    def permute(stopped: list[Stopped]) -> list[Stopped]:
        order = torch.randperm(len(stopped), generator=torch.Generator().manual_seed(0)).tolist()
        return [exchange(one, stopped[j]) for one, j in zip(stopped, order, strict=True)]

    def exchange(one: Stopped, other: Stopped) -> Stopped:
        """The first picture with what was found in the other one."""
        explanation = one.explanation
        if what == "depth":
            beyond = other.stop.t_star - other.explanation.entry if other.stop.t_star else 0
            depth = min(explanation.entry + beyond, models.schedule.steps)
            return replace(one, stop=replace(other.stop, t_star=depth))
        degradation = other.explanation.degradation
        if what == "noise":
            degradation = replace(explanation.degradation, noise=degradation.noise)
        explanation = replace(explanation, degradation=degradation, entry=other.explanation.entry)
        path = make_judged_path(models, x[one.row], seeds[one.row], explanation)
        return replace(
            one, explanation=explanation, stop=other.stop, diffusion=other.diffusion, path=path
        )

    return permute
