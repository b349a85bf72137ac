"""The discriminator's judgement of pictures, and of a forward path (section 3.2 of the paper).

States are judged in batches that bound memory, and only as deep as a caller or the stopping rule
needs. The stopping rule (:mod:`dga.stopping`) turns logits into a depth.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dga.batch_size import choose_batch_size
from dga.diffusion import ForwardPath, Schedule, compute_missing_variance, draw_step_noise
from dga.profiles import StoppingConfig
from dga.stopping import Stop, choose_depth, is_decided

FIRST_STATES = 4
"""How many states are judged first: fewer than later, so that a page can soon begin to draw."""
MOST_WINDOWS = 4
"""Most windows along a side of a picture that is larger than the discriminator's own size."""


def cut_judged_windows(x: Tensor, side: int) -> list[Tensor]:
    """Cut the windows by which pictures, ``[B, 3, H, W]``, are judged: ``[B, 3, S, S]`` each.

    They are listed row by row and spread evenly, at most :data:`MOST_WINDOWS` along a side, so that
    unlike a grid's they need not cover a picture. Along a side that is shorter than two windows
    there is one, in the middle. ``side``: S.
    """
    rows, columns = (_spread_windows(length, side) for length in x.shape[-2:])
    return [x[..., i : i + side, j : j + side] for i in rows for j in columns]


def _spread_windows(length: int, side: int) -> list[int]:
    """Where the windows along a side of the picture begin, in pixels."""
    count, last = min(MOST_WINDOWS, length // side), length - side
    if count < 2:
        return [max(0, last) // 2]
    return [round(number * last / (count - 1)) for number in range(count)]


@torch.no_grad()
def judge_states(schedule: Schedule, network: nn.Module, states: Tensor, depth: Tensor) -> Tensor:
    """Judge some states in one pass: logits, float32 ``[n]`` on the CPU.

    ``states``: ``[n, 3, H, W]``; ``depth``: their depths, int64 ``[n]``. Raises
    ``FloatingPointError`` for logits that are not numbers.
    """
    logits = network(states, schedule.time[depth].to(states.device)).float().cpu()
    if not bool(logits.isfinite().all()):
        raise FloatingPointError("The discriminator returned values that are not numbers.")
    return logits


@dataclass(frozen=True)
class Scorer:
    """Scores pictures by the discriminator, so that inverses of damage can be chosen or refused.

    Pictures are noised to a few depths before the discriminator sees them, as in its training. A
    score is the mean of its logits at these depths: lower is closer to source data.
    """

    schedule: Schedule
    network: nn.Module
    seed: int
    """The seed of the noise."""

    def score(
        self, views: Tensor, depths: Sequence[int], noise_levels: Sequence[float]
    ) -> list[float]:
        """Score C pictures: the mean logit of each over ``depths`` and its V views.

        ``views``: ``[C, V, 3, S, S]``; ``noise_levels``: the standard deviations of the noise that
        the C pictures hold already. All views get the same noise. Depths beyond T are left out.
        Raises what :func:`judge_states` does.
        """
        x = views.flatten(0, 1).to(next(self.network.parameters()).device)  # [C V, 3, S, S]
        steps = self.schedule.steps
        depth = torch.tensor([k for k in depths if k <= steps] or [steps])
        draws = [draw_step_noise(self.seed, "forward", k, x.shape[1:]) for k in depth.tolist()]
        noise = torch.stack(draws).to(x)  # [K, 3, S, S]
        abar = self.schedule.alpha_bar[depth].view(-1, 1, 1, 1)
        deviation = torch.tensor(noise_levels).repeat_interleave(views.shape[1])
        variance = deviation.double().square().view(-1, 1, 1, 1, 1)
        remainder = compute_missing_variance(abar, variance).sqrt().to(x)  # [C V, K, 1, 1, 1]
        signal = abar.sqrt().to(x)
        logits, size = [], max(1, choose_batch_size(x) // len(depth))
        for first in range(0, len(x), size):
            part = slice(first, first + size)
            states = signal * x[part, None] + remainder[part] * noise  # [n, K, 3, S, S]
            each_depth = depth.repeat(len(states))
            judged = judge_states(self.schedule, self.network, states.flatten(0, 1), each_depth)
            logits.append(judged.view(-1, len(depth)))
        return torch.cat(logits).mean(1).view(-1, views.shape[1]).mean(1).tolist()


@dataclass
class JudgedPath:
    """A forward path and the discriminator's logits, as deep as they were asked for.

    It is yielded as an event each time that more of its states were judged.
    """

    network: nn.Module
    forward_path: ForwardPath
    entry: int = 0
    """The depth at which the picture enters, and from which its states are judged."""
    logits: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Those of the states from the entry on; their sigmoid is the confidence P(corrupted | x_k)."""
    seconds: list[float] = field(default_factory=lambda: [0.0])
    """At index n: the seconds that drawing and judging the first n states took."""

    def judge(self, count: int) -> Iterator[Self]:
        """Judge states from the entry on, a batch at a time, until ``count`` have logits."""
        while (judged := len(self.logits)) < count:
            start_time = time.perf_counter()
            most = count - judged if judged else min(count, FIRST_STATES)
            size = min(choose_batch_size(self.forward_path.x_0), most)
            first = self.entry + judged
            depths = torch.arange(first, first + size)
            states = self.forward_path.up_to(first + size - 1)[first:]
            schedule = self.forward_path.schedule
            logits = judge_states(schedule, self.network, states, depths).double().numpy()
            self.logits = np.concatenate([self.logits, logits])
            each = (time.perf_counter() - start_time) / size
            self.seconds += [self.seconds[-1] + each * n for n in range(1, size + 1)]
            yield self

    def judge_until_stop(
        self, stopping: StoppingConfig, first: int = FIRST_STATES, curve_depth: int = 0
    ) -> Generator[Self, None, tuple[Stop, int]]:
        """Judge states from the entry on until the stopping rule is decided.

        ``first``: how many states are judged in the first batch; ``curve_depth``: how many depths
        beyond the entry are judged at least, even where the rule is decided before. Returns the
        stop, whose depth is counted from the entry, and how many logits the rule used.
        """
        most = self.forward_path.schedule.steps - self.entry + 1
        count, batch = 0, choose_batch_size(self.forward_path.x_0)
        while True:
            wanted = count + batch if count else min(first, batch)
            needed = max(curve_depth + 1, min(wanted, stopping.deepest + 1))
            count = min(most, needed)
            yield from self.judge(count)
            logits = self.logits[:count]
            if count == most or is_decided(logits, stopping):
                return choose_depth(logits, stopping), count
