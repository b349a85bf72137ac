"""DDIM sampling: few steps over some of the depths below t*. The DDPM step is in dga.diffusion."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dga.diffusion import ANCESTRAL, Sampler, Schedule, Transition, spread
from dga.profiles import End


@dataclass(frozen=True)
class FewSteps:
    """At most ``steps`` steps, evenly spread; ``eta``: how much noise they add, 0 to 1.

    With 0 they are deterministic, with 1 as random as DDPM's. Raises ``ValueError``
    for numbers out of range. (Song et al., 2021, "Denoising Diffusion Implicit Models".)
    """

    steps: int
    eta: float = 0.0

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"A picture is rebuilt in at least one step, not {self.steps}.")
        if not 0 <= self.eta <= 1:
            raise ValueError(f"eta is a number from 0 to 1, not {self.eta}.")

    @property
    def random(self) -> bool:
        return self.eta > 0

    def visited(self, depth: int) -> Sequence[int]:
        count = min(self.steps, depth)
        return (*(round(depth * left / count) for left in range(count, 0, -1)), 0)

    def step(
        self,
        schedule: Schedule,
        output: Tensor,
        x0_hat: Tensor,
        x_k: Tensor,
        leg: Transition,
        noise: Tensor | None,
    ) -> Tensor:
        abar_k, abar_j = schedule.alpha_bar[leg.depth], schedule.alpha_bar[leg.target]  # [b]
        sigma = self.eta * ((1 - abar_j) / (1 - abar_k) * (1 - abar_k / abar_j)).sqrt()  # Eq. 16
        rest = (1 - abar_j - sigma.square()).clamp(min=0).sqrt()
        # The noise that agrees with the clipped estimate.
        eps = (x_k - spread(abar_k.sqrt(), x_k) * x0_hat) / spread((1 - abar_k).sqrt(), x_k)
        sample = spread(abar_j.sqrt(), x_k) * x0_hat + spread(rest, x_k) * eps  # Eq. 12
        if noise is not None:
            sample = sample + spread(sigma, x_k) * noise
        return sample


def sampler_of(end: End) -> Sampler:
    """The sampler that an end asks for.

    Raises ``ValueError`` for numbers out of range, and for ``eta`` without a number of steps.
    """
    if end.steps is not None:
        return FewSteps(end.steps, end.eta or 0.0)
    if end.eta is not None:
        raise ValueError(
            "eta belongs to few-step sampling: say how many steps as well, or leave it out."
        )
    return ANCESTRAL
