"""How long a step takes where there is no GPU: said before the wait, not after it."""

import time

import torch

from dga.networks.models import Models
from dga.weights.store import count_parameters

HEAVY = 100_000_000
"""Parameters of a diffusion model from which a processor's user is warned."""


@torch.no_grad()
def describe_wait(models: Models, heavy: int = HEAVY) -> str:
    """A sentence on what a large model takes on a processor, after one timed pass; else empty."""
    if models.device.type != "cpu" or count_parameters(models.denoiser) < heavy:
        return ""
    size = models.profile.image_size
    x, index = torch.zeros(1, 3, size, size), torch.zeros(1, dtype=torch.int64)
    begun = time.perf_counter()
    models.denoiser(x, index)
    seconds = time.perf_counter() - begun
    return (
        f"There is no GPU for {models.profile.name}: on this processor one step takes about "
        f"{seconds:.1f} s. A picture by DGA or DDA takes up to a hundred; by DGA+ alone "
        "(--methods dga-plus) a few."
    )
