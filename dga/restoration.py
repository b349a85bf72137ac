"""DGA+, ours: explain a picture's damage, then drown and rebuild only what is left.

1. The discriminator chooses among a few simple inverses (:mod:`dga.explanation`).
2. What is left goes down the noise-aware forward path: a noisy picture enters at the depth k0
   that its own noise matches, and only missing variance is added (:mod:`dga.noise_level`).
3. t* is the first depth from there on at which the discriminator can no longer tell it from
   source data, by the paper's own rule.
4. Where noise is the damage, the posterior mean at t* is the answer: one call of the network,
   because sampling invents (Carlini et al., 2023). Where something was erased, a guided sample
   invents it again, from a shallow t*.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.deconvolution import disk, wiener
from dga.degradation import to_levels
from dga.diffusion import Schedule, forward_path
from dga.discriminator import curve_chunks, estimate_x0
from dga.explanation import Explanation, Known, Scored, explain
from dga.networks.models import Models
from dga.profiles import PlusConfig
from dga.stopping import Stop, choose_depth


@dataclass(frozen=True)
class Entered:
    """One picture, explained and noised to t*.

    ``restored``: after the inverse, ``[3, H, W]``; ``states``: its noise-aware path,
    ``[T + 1, 3, H, W]``; ``logits``: at depths entry, entry + 1, ... as far as they were needed;
    ``denoised``: noise is the damage, so that the posterior mean is the answer.
    """

    explanation: Explanation
    restored: Tensor
    states: Tensor
    logits: NDArray[np.float64]
    stop: Stop
    denoised: bool = False

    @property
    def unchanged(self) -> bool:
        """The picture is returned bit for bit."""
        return self.stop.t_star == 0 and self.explanation.degradation.nothing_to_invert


def enter(
    models: Models, x: Tensor, seed: int, config: PlusConfig, known: Known | None = None
) -> Generator[Scored, None, Entered]:
    """Steps 1 to 3 for one picture, ``[3, H, W]`` in [-1, 1]; ``known`` as in :func:`explain`."""
    schedule, judge = models.schedule, models.explainer
    explanation = yield from explain(schedule, judge, x, seed, config.explanation, known)
    found, entry = explanation.degradation, explanation.entry
    restored = found.inverse(x)
    states = forward_path(schedule, restored, seed, found.noise)
    alone = explanation.flat or explanation.settled
    if alone or not (found.noise or config.sampling):
        return Entered(explanation, restored, states, np.empty(0), Stop(0, crossed=True))
    stopping, logits = config.stopping, list[float]()
    if found.noise:
        stopping = replace(stopping, tau=config.noise_tau, horizon=None)
    for _, piece in curve_chunks(
        schedule, judge, states[: entry + stopping.deepest + 1], first=entry
    ):
        logits += piece.double().tolist()
        stop = choose_depth(logits, stopping)
        if stop.crossed:
            break
    stop = replace(stop, t_star=0 if stop.hopeless else entry + stop.t_star)
    denoised = entry > 0 and config.posterior
    return Entered(explanation, restored, states, np.array(logits), stop, denoised)


def last(steps: Generator[Scored, None, Entered]) -> Entered:
    """What :func:`enter` ends with, its events aside."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def reenter(
    schedule: Schedule, x: Tensor, seed: int, own: Entered, other: Entered, taken: str
) -> Entered:
    """A picture with what was found in another one: the control of "chosen for each picture".

    ``taken``: ``noise`` (entry and t*), ``depth`` (t* beyond the entry) or ``explanation`` (all).
    """
    mine, theirs = own.explanation, other.explanation
    beyond = other.stop.t_star - theirs.entry if other.stop.t_star else 0
    if taken == "depth":
        depth = min(mine.entry + beyond, schedule.steps)
        return replace(own, stop=replace(other.stop, t_star=depth))
    degradation = theirs.degradation
    if taken == "noise":
        degradation = replace(mine.degradation, noise=degradation.noise)
    found = replace(mine, degradation=degradation, entry=theirs.entry)
    restored = degradation.inverse(x)
    states = forward_path(schedule, restored, seed, degradation.noise)[: len(other.states)].clone()
    return Entered(found, restored, states, own.logits, other.stop, other.denoised)


def posterior_mean(
    models: Models, states: Tensor, depths: Sequence[int], config: PlusConfig
) -> Tensor:
    """E[x_0 | x_k] as the network estimates it, sharpened: ``[B, 3, H, W]`` in 8-bit levels.

    ``states``: ``[B, 3, H, W]`` at ``depths``, each from 1. (Ho et al., 2020, Eq. 15.)
    """
    x0_hat = estimate_x0(models.schedule, models.denoiser, states, torch.tensor(depths))
    if config.sharpen:
        x0_hat = wiener(x0_hat, disk(config.sharpen), config.sharpen_regularisation)
    return to_levels(x0_hat)
