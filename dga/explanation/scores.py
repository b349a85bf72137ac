"""The discriminator's scores: of candidate degradations, and of pictures before and after one.

Pictures are noised to a few depths before the discriminator sees them, as it was trained; a score
is the mean of its logits there, lower for pictures that look like source data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dga.batch_size import choose_batch_size
from dga.diffusion import Schedule, compute_missing_variance, draw_step_noise
from dga.discriminator import judge_states
from dga.explanation.degradation import Degradation

Render = Callable[[Degradation], Tensor]
"""From a candidate to what the discriminator is shown of its result, ``[V, 3, S, S]``."""


@dataclass(frozen=True)
class Scorer:
    """The discriminator, with the schedule and the seed by which pictures are noised for it."""

    schedule: Schedule
    network: nn.Module
    seed: int

    def score(
        self, render: Render, candidates: Sequence[Degradation], depths: Sequence[int]
    ) -> list[float]:
        """Mean logit of each candidate's result, over ``depths`` and all views that are rendered.

        Lower is closer to source data. All candidates are noised alike; depths beyond T are left
        out.
        """
        if not candidates:
            return []
        views = torch.stack([render(one) for one in candidates])  # [C, V, 3, S, S]
        depths = [k for k in depths if k <= self.schedule.steps] or [self.schedule.steps]
        deviation = torch.tensor([candidate.noise for candidate in candidates])
        each = self.mean_logits(
            views.flatten(0, 1),
            torch.tensor(depths).expand(views.shape[0] * views.shape[1], -1),
            deviation.repeat_interleave(views.shape[1]),
        )
        return each.view(-1, views.shape[1]).mean(1).tolist()

    def mean_logits(self, x: Tensor, depth: Tensor, deviation: Tensor) -> Tensor:
        """Mean logit of each picture over its depths, float32 ``[n]`` on the CPU.

        ``x``: ``[n, 3, S, S]``; ``depth``: int64 ``[n, K]``; ``deviation``: standard deviation of
        the noise that a picture holds already, ``[n]``. At one depth all pictures get the same
        noise. Raises what :func:`~dga.discriminator.judge_states` does.
        """
        x = x.to(next(self.network.parameters()).device)
        shape, distinct = x.shape[1:], set(depth.flatten().tolist())
        noise = {k: draw_step_noise(self.seed, "forward", k, shape).to(x) for k in distinct}
        abar = self.schedule.alpha_bar[depth][..., None, None, None]  # [n, K, 1, 1, 1]
        variance = deviation.double().square()[:, None, None, None, None]
        remainder = compute_missing_variance(abar, variance).sqrt().to(x)
        signal = abar.sqrt().to(x)
        logits, size = [], max(1, choose_batch_size(x) // depth.shape[1])
        for i in range(0, len(x), size):
            part, rows = slice(i, i + size), depth[i : i + size]
            draws = torch.stack([noise[k] for k in rows.flatten().tolist()])
            draws = draws.view(*rows.shape, *shape)  # [n, K, 3, S, S]
            states = signal[part] * x[part, None] + remainder[part] * draws
            judged = judge_states(self.schedule, self.network, states.flatten(0, 1), rows.flatten())
            logits.append(judged.view(rows.shape))
        return torch.cat(logits).mean(1) if logits else torch.empty(0)
