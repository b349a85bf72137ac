"""How long a picture will take where there is no GPU: said before the wait, not after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.pipeline import Route, default_routes
from dga.profiles import Profile, StoppingConfig
from dga.speed.network_cost import pass_flops
from dga.speed.timing import best_seconds
from dga.weights.store import parameter_count

HEAVY = 100_000_000
"""Parameters of a diffusion model from which a processor's user is warned."""


def route_passes(route: Route, t_star: int) -> int:
    """What one picture by a route costs, in passes of the denoiser.

    A gradient through the network is one more: parameters ask for none.
    """
    through = route.guidance is not None and route.guidance.through_network
    return (len(route.visited(t_star)) - 1) * (2 if through else 1)


def most_passes(
    profile: Profile, stopping: StoppingConfig, routes: Iterable[Route]
) -> tuple[int, int]:
    """Network passes of one picture by all routes together, at their deepest.

    (states that the discriminator judges, passes of the denoiser).
    """
    judged = stopping.paths * (profile.schedule.steps + 1)
    return judged, sum(route_passes(route, stopping.max_depth) for route in routes)


@dataclass(frozen=True)
class Pace:
    """Estimated seconds for one picture: of a denoiser's pass, and of judging one state."""

    denoise: float
    judge: float

    def longest(self, profile: Profile) -> float:
        """Seconds for a picture by DGA, DGA + G and DDA together, at their deepest."""
        routes = default_routes(profile).values()
        judged, passes = most_passes(profile, profile.stopping, routes)
        return judged * self.judge + passes * self.denoise


@torch.no_grad()
def rate(compute: Compute) -> float:
    """Operations a second that one large convolution reaches here (about 0.1 s)."""
    layer = nn.Conv2d(256, 256, 3, padding=1).to(compute.device, compute.dtype)
    x = torch.randn(1, 256, 32, 32, device=compute.device, dtype=compute.dtype)
    best = best_seconds({"layer": lambda: layer(x)}, 4, compute.device)
    return 2 * 9 * 256 * 256 * 32 * 32 / best["layer"]


def slow_pace(models: Models, heavy: int = HEAVY) -> Pace | None:
    """The pace of a large model on a processor; None elsewhere, and for small models.

    Work of the networks over what this processor was just seen to do.
    """
    compute = models.compute
    if models.device.type != "cpu" or parameter_count(models.denoiser) < heavy:
        return None
    step, judge = pass_flops(models.profile)
    single = rate(Compute(compute.device, torch.float32))  # discriminators stay in float32
    fast = single if compute.dtype == torch.float32 else rate(compute)
    return Pace(step / fast, judge / single)


def warning(profile: Profile, pace: Pace) -> str:
    """One sentence for somebody who is about to wait."""
    return (
        f"There is no GPU for {profile.name}: on this processor one step takes about "
        f"{duration(pace.denoise)}, and a picture by DGA, DGA + G and DDA up to "
        f"{duration(pace.longest(profile))}."
    )


def duration(seconds: float) -> str:
    """``0.4 s``, ``35 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
