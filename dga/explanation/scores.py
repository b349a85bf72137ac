"""The discriminator's scores of pictures, by which inverses are chosen, and refused.

Pictures are noised to a few depths before the discriminator sees them, as it was trained; a score
is the mean of its logits there, lower for pictures that look like source data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dga.batch_size import choose_batch_size
from dga.diffusion import Schedule, compute_missing_variance, draw_step_noise
from dga.discriminator import judge_states


@dataclass(frozen=True)
class Scorer:
    """The discriminator, with the schedule and the seed by which pictures are noised for it."""

    schedule: Schedule
    network: nn.Module
    seed: int

    def score(
        self, views: Tensor, depths: Sequence[int], noise_levels: Sequence[float]
    ) -> list[float]:
        """Mean logit of each of C pictures, over ``depths`` and its ``views``, ``[C, V, 3, S, S]``.

        Lower is closer to source data. ``noise_levels``: standard deviations of the noise that the
        pictures hold already. All are noised alike; depths beyond T are left out. Raises what
        :func:`~dga.discriminator.judge_states` does.
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

    def compare(self, before: Tensor, after: Tensor, depths: Sequence[int]) -> tuple[float, float]:
        """Scores of a picture and of what was made of it, without noise of their own, by their
        views, ``[V, 3, S, S]`` each."""
        before_score, after_score = self.score(torch.stack([before, after]), depths, (0.0, 0.0))
        return before_score, after_score
