"""Forward noising and reverse denoising of a respaced DDPM (sections 3.2 and 3.3 of the paper).

A *depth* k in 0...T counts forward steps. Depth 0 is the picture itself, and a state at depth k
takes exactly k denoising steps, unless steps are left out. Only this module knows that depth k has
the respaced index k - 1.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from dga.guidance import StructuralGuide
from dga.profiles import Diffusion, ScheduleConfig

DataConsistency = Callable[[Tensor, Tensor, Tensor], Tensor]
"""A function that changes clean estimates so that they agree with the damaged pictures.

Its arguments are the estimates, ``[b, 3, H, W]`` in [-1, 1], their depths, and their positions in
the batch, both int64 ``[b]``."""


@dataclass(frozen=True)
class Schedule:
    """The constants of every depth, 0...T, on the CPU."""

    alpha_bar: Tensor
    """The fraction of the signal's variance that is left, float64 ``[T + 1]``; 1 at depth 0."""
    time: Tensor
    """The original timestep, 0...999, that networks are given, int64 ``[T + 1]``; 0 at depth 0."""

    @classmethod
    def from_config(cls, config: ScheduleConfig) -> Self:
        """Space linear betas evenly over fewer steps (Nichol and Dhariwal, 2021, section 4)."""
        betas = np.linspace(config.beta_start, config.beta_end, config.timesteps)
        stride = (config.timesteps - 1) / max(config.steps - 1, 1)
        timesteps = [round(i * stride) for i in range(config.steps)]
        alpha_bar = np.cumprod(1.0 - betas)[timesteps]
        return cls(
            alpha_bar=torch.from_numpy(np.concatenate([[1.0], alpha_bar])),
            time=torch.tensor([0, *timesteps], dtype=torch.int64),
        )

    @property
    def steps(self) -> int:
        """T, the deepest depth."""
        return len(self.time) - 1

    @cached_property
    def posterior(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The constants of q(x_{k-1} | x_k, x_0) at every depth k, float64 ``[T + 1]`` each.

        They are the weights of x_0 and of x_k in its mean, its variance, and beta (Ho et al., 2020,
        Eq. 6 and 7). The variance at depth 1 would be 0. As in the guided-diffusion package, that
        of depth 2 stands there instead. Index 0 is never used.
        """
        abar, abar_prev = self.alpha_bar, self.alpha_bar.roll(1)
        beta = 1 - abar / abar_prev
        weight_x0 = beta * abar_prev.sqrt() / (1 - abar)
        weight_xk = (1 - abar_prev) * (1 - beta).sqrt() / (1 - abar)
        variance = beta * (1 - abar_prev) / (1 - abar)
        variance[1] = variance[min(2, self.steps)]
        return weight_x0, weight_xk, variance, beta

    def check_depth(self, depth: int) -> int:
        """Return ``depth``; raise ``ValueError`` unless it is in 0...T."""
        if not 0 <= depth <= self.steps:
            raise ValueError(f"A depth is between 0 and {self.steps}, not {depth}.")
        return depth


def draw_step_noise(
    seed: int, stream: Literal["forward", "reverse"], depth: int, shape: Sequence[int]
) -> Tensor:
    """Draw the standard normal noise of one picture at one depth, float32, on the CPU.

    It depends on seed, stream and depth alone, not on batch, device or method.
    """
    key = hashlib.blake2b(f"{seed}/{stream}/{depth}".encode(), digest_size=8).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(key, "little") >> 1)
    return torch.randn(*shape, generator=generator)


def compute_missing_variance(abar: Tensor, variance: Tensor) -> Tensor:
    """The variance of the noise that a noisy picture x_0 lacks at a depth.

    The state needs noise of variance 1 - abar, of which sqrt(abar) x_0 holds abar times
    ``variance``, the variance of the white noise in x_0 (Ho et al., 2020, Eq. 4). 0 where it holds
    more than that.
    """
    return (1 - abar - abar * variance).clamp(min=0)


class ForwardPath:
    """The states x_0, x_1, ... of one picture's forward process, drawn only as deep as needed.

    ``x_0``: ``[3, H, W]`` in [-1, 1], bit for bit the state at depth 0 (Ho et al., 2020, Eq. 2).
    ``deviation``: the standard deviation of the white noise that the picture holds already. In x_k
    this noise has variance abar_k deviation^2. More is added only up to 1 - abar_k (Ho et al.,
    Eq. 4), and none before the depth where both are equal: there the picture enters the process
    (:func:`dga.explanation.noise_level.find_matched_depth`).
    """

    def __init__(self, schedule: Schedule, x_0: Tensor, seed: int, deviation: float = 0.0) -> None:
        self._variance = torch.tensor(deviation, dtype=torch.float64).square()
        self._signal = schedule.alpha_bar.sqrt().float()
        self.schedule, self.x_0, self._seed = schedule, x_0, seed
        self._drawn = x_0[None]
        self._drift = torch.zeros(x_0.shape, dtype=torch.float64)

    def up_to(self, depth: int) -> Tensor:
        """The states at depths 0...``depth``, ``[depth + 1, 3, H, W]``, on the device of ``x_0``.

        Raises ``ValueError`` for a depth outside 0...T.
        """
        first = len(self._drawn)
        if depth >= first:
            depths = range(first, self.schedule.check_depth(depth) + 1)
            shape = self.x_0.shape
            noise = torch.stack([draw_step_noise(self._seed, "forward", k, shape) for k in depths])
            noise *= self._noise_deviation(first, depth)
            # Summed from depth 1 on, so that the bits do not depend on how often this is called.
            drift = noise.double()
            for before, after in pairwise([self._drift, *drift]):
                after += before  # in place, many times as quick as cumsum
            self._drift = drift[-1].clone()  # a view would keep all depths in memory
            states = self.x_0.cpu() + drift.float()
            states *= self._signal[first : depth + 1].view(-1, 1, 1, 1)
            self._drawn = torch.cat([self._drawn, states.to(self.x_0.device)])
        return self._drawn[: depth + 1]

    def _noise_deviation(self, first: int, last: int) -> Tensor:
        """The deviations of the noise added at depths ``first``...``last``, ``[n, 1, 1, 1]``.

        It is that of the sum x_k / sqrt(abar_k) = x_0 + sum_j sqrt((1 - alpha_j) / abar_j) eps_j.
        """
        abar = self.schedule.alpha_bar[first - 1 : last + 1].view(-1, 1, 1, 1)
        variance = compute_missing_variance(abar, self._variance) / abar  # of x_k / sqrt(abar_k)
        return variance.diff(dim=0).sqrt().float()

    def at(self, depth: int) -> Tensor:
        """The state x_k at ``depth``, ``[3, H, W]``."""
        return self.up_to(depth)[depth]


def predict_x0(schedule: Schedule, x_k: Tensor, depth: Tensor, noise: Tensor) -> Tensor:
    """The clean estimate x0_hat, ``[b, 3, H, W]``, clipped to [-1, 1] (Ho et al., 2020, Eq. 15).

    ``noise``: as the network predicts it; ``depth``: int64 ``[b]``.
    """
    scale = _select_by_depth(schedule.alpha_bar.rsqrt(), depth, x_k)
    sigma = _select_by_depth((1 / schedule.alpha_bar - 1).sqrt(), depth, x_k)
    return (x_k * scale - noise * sigma).clamp(-1, 1)


LEAST_SHOWN_DEPTH = 7
"""A conditional denoiser sees a damaged picture at depth 0 as if it were at this depth, where noise
has a standard deviation of 0.2: damage changes a picture by about as much."""


def estimate_undamaged(
    schedule: Schedule, network: nn.Module, x_k: Tensor, depth: Tensor, condition: Tensor
) -> Tensor:
    """The clean estimate of a conditional denoiser, ``[b, 3, H, W]``, clipped to [-1, 1].

    ``x_k``: states at ``depth``, int64 ``[b]``; at depth 0 they are the damaged pictures
    themselves. ``condition``: the damaged pictures, ``[b, 3, H, W]``.
    """
    shown_depth = depth.clamp(min=LEAST_SHOWN_DEPTH)
    time = schedule.time[shown_depth.cpu()].to(x_k.device, non_blocking=True)
    noise = network(torch.cat([x_k, condition], 1), time)
    sigma = _select_by_depth((1 / schedule.alpha_bar - 1).sqrt(), shown_depth, x_k)
    from_damage = (x_k - noise * sigma).clamp(-1, 1)
    from_noise = predict_x0(schedule, x_k, depth, noise)
    return torch.where((depth == 0).view(-1, 1, 1, 1).to(x_k.device), from_damage, from_noise)


def _select_by_depth(values: Tensor, depth: Tensor, like: Tensor) -> Tensor:
    """Select the constant of each picture's depth, ``[b, 1, 1, 1]``, from constants ``[T + 1]``."""
    return broadcast(values[depth.cpu()], like)


def broadcast(values: Tensor, like: Tensor) -> Tensor:
    """Shape numbers, ``[B]``, to ``[B, 1, 1, 1]``, in the device and dtype of ``like``."""
    return values.to(like.dtype).view(-1, 1, 1, 1).to(like.device, non_blocking=True)


@dataclass(frozen=True)
class Estimate:
    """What the network says of some states."""

    x_k: Tensor
    """The states, ``[b, 3, H, W]``."""
    depth: Tensor
    """Their depths, int64 ``[b]``, on the CPU; they may differ."""
    output: Tensor
    """The network's output, ``[b, 6, H, W]``."""
    x0_hat: Tensor
    """The clean estimate, ``[b, 3, H, W]``."""


class Ancestral:
    """The sampler that visits every depth in turn, as the network was trained (Ho et al., 2020)."""

    is_random = True
    """Whether its steps add noise."""

    def list_depths(self, depth: int) -> Sequence[int]:
        """List the depths that are visited, falling, from ``depth`` itself to 0."""
        return range(depth, -1, -1)

    def step(self, schedule: Schedule, estimate: Estimate, target: Tensor) -> tuple[Tensor, Tensor]:
        """Take one DDPM step k -> k - 1 with the learned variance.

        ``target``: the depths after the step, int64 ``[b]``, on the CPU. Returns the mean of the
        next states, ``[b, 3, H, W]``, and the standard deviation of their noise, of a shape that
        broadcasts to it.
        """
        x_k, depth = estimate.x_k, estimate.depth
        constants = schedule.posterior
        weight_x0, weight_xk, variance, beta = (_select_by_depth(v, depth, x_k) for v in constants)
        mean = weight_x0 * estimate.x0_hat + weight_xk * x_k  # [b, 3, H, W]
        mix = (estimate.output[:, 3:] + 1) / 2
        log_variance = mix * beta.log() + (1 - mix) * variance.log()  # Nichol, Dhariwal, Eq. 15
        is_not_last = broadcast(target > 0, x_k)
        return mean, is_not_last * (0.5 * log_variance).exp()


ANCESTRAL = Ancestral()


@dataclass(frozen=True)
class FewSteps:
    """The sampler that takes at most ``steps`` steps, evenly spread over the depths.

    ``steps``: 1 or more; ``eta``: how random the steps are, from 0, which is deterministic, to 1,
    which is as random as DDPM. (Song et al., 2021, "Denoising Diffusion Implicit Models"; its
    equations are named below.)
    """

    steps: int
    eta: float = 0.0

    @property
    def is_random(self) -> bool:
        return self.eta > 0

    def list_depths(self, depth: int) -> Sequence[int]:
        count = min(self.steps, depth)
        return (*(round(depth * left / count) for left in range(count, 0, -1)), 0)

    def step(self, schedule: Schedule, estimate: Estimate, target: Tensor) -> tuple[Tensor, Tensor]:
        x_k, x0_hat = estimate.x_k, estimate.x0_hat
        abar_k, abar_j = schedule.alpha_bar[estimate.depth], schedule.alpha_bar[target]  # [b]
        sigma = self.eta * ((1 - abar_j) / (1 - abar_k) * (1 - abar_k / abar_j)).sqrt()  # Eq. 16
        rest = (1 - abar_j - sigma.square()).clamp(min=0).sqrt()
        # The noise that belongs to the clipped estimate, not the one that the network predicted.
        eps = (x_k - broadcast(abar_k.sqrt(), x_k) * x0_hat) / broadcast((1 - abar_k).sqrt(), x_k)
        mean = broadcast(abar_j.sqrt(), x_k) * x0_hat + broadcast(rest, x_k) * eps  # Eq. 12
        return mean, broadcast(sigma, x_k)


Sampler = Ancestral | FewSteps


def choose_sampler(diffusion: Diffusion) -> Sampler:
    """Choose the sampler that ``diffusion`` asks for: every depth in turn, or a few steps."""
    steps, eta = diffusion.steps, diffusion.eta or 0.0
    return ANCESTRAL if steps is None else FewSteps(steps, eta)


def count_steps(diffusion: Diffusion, depth: int) -> int:
    """Count the denoising steps that a picture takes from ``depth`` to 0."""
    return len(choose_sampler(diffusion).list_depths(depth)) - 1


@dataclass(frozen=True)
class ReverseStep:
    """Event: the pictures that had not reached depth 0 took one denoising step."""

    indices: Tensor
    """The positions of these pictures in the batch, int64 ``[b]``."""
    x: Tensor
    """The states of the whole batch after the step, ``[B, 3, H, W]``."""


@dataclass(frozen=True)
class ReverseProcess:
    """Denoising of pictures, each from a depth of its own down to 0. (Section 3.3 of the paper.)"""

    schedule: Schedule
    network: Callable[[Tensor, Tensor], Tensor]
    """The diffusion model, from states and times."""
    sampler: Sampler = ANCESTRAL
    """Which depths are visited, and the step between two of them."""
    guide: StructuralGuide | None = None
    """What every step is pulled towards (section 3.4 of the paper)."""
    consistency: DataConsistency | None = None
    """What makes every clean estimate agree with the damaged picture."""

    def run(self, x: Tensor, depths: Sequence[int], seeds: Sequence[int]) -> Iterator[ReverseStep]:
        """Denoise ``x``, the states ``[B, 3, H, W]`` at ``depths``, a step at a time.

        A picture leaves the batch when it reaches depth 0; one that starts there is never part of
        a step. Raises ``ValueError`` for a depth outside 0...T.
        """
        routes = [self.sampler.list_depths(self.schedule.check_depth(depth)) for depth in depths]
        for step in range(1, max(map(len, routes), default=0)):
            unfinished = [i for i, route in enumerate(routes) if len(route) > step]
            indices = torch.tensor(unfinished)
            depth = torch.tensor([routes[i][step - 1] for i in unfinished])
            target = torch.tensor([routes[i][step] for i in unfinished])
            noise = _draw_noise(seeds, indices, depth, x) if self.sampler.is_random else None
            places = indices.to(x.device, non_blocking=True)
            x = x.index_copy(0, places, self._step(x[places], depth, target, noise, indices))
            yield ReverseStep(indices, x)

    def _step(
        self, x_k: Tensor, depth: Tensor, target: Tensor, noise: Tensor | None, indices: Tensor
    ) -> Tensor:
        """The next states, ``[b, 3, H, W]``; a step over n depths is pulled n times as far."""
        guide = self.guide
        through = guide is not None and guide.config.through_network
        x_k = x_k.detach().requires_grad_(through)
        time = self.schedule.time[depth].to(x_k.device, non_blocking=True)
        with torch.set_grad_enabled(through):
            output = self.network(x_k, time)  # [b, 6, H, W]
            x0_hat = predict_x0(self.schedule, x_k, depth, output[:, :3])
            if self.consistency is not None:
                x0_hat = self.consistency(x0_hat, depth, indices)
            estimate = Estimate(x_k, depth, output, x0_hat)
            sample, deviation = self.sampler.step(self.schedule, estimate, target)
            if noise is not None:
                sample = sample + deviation * noise
        if guide is None:
            return sample
        with torch.enable_grad():
            clean = x0_hat
            if not through:
                clean = predict_x0(self.schedule, x_k.requires_grad_(), depth, output[:, :3])
            pull = guide(x_k, clean, indices)
        return sample.detach() - pull * broadcast(depth - target, pull)


def _draw_noise(seeds: Sequence[int], indices: Tensor, depth: Tensor, like: Tensor) -> Tensor:
    """Draw the noise of one step, ``[b, 3, H, W]``, and copy it without waiting for a GPU."""
    pairs = zip(indices.tolist(), depth.tolist(), strict=True)
    noise = torch.stack([draw_step_noise(seeds[i], "reverse", k, like.shape[1:]) for i, k in pairs])
    if like.device.type == "cuda":
        noise = noise.pin_memory()
    return noise.to(like.device, non_blocking=True)
