"""The discriminator's confidence along the forward path."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from dga.diffusion import Schedule

CHUNK_VALUES = 16 * 3 * 64 * 64
"""Values in one forward pass; bounds memory whatever the picture's size."""


def chunk_size(height: int, width: int) -> int:
    """How many states are judged in one pass."""
    return max(1, CHUNK_VALUES // (3 * height * width))


@torch.no_grad()
def curve_chunks(
    schedule: Schedule, network: nn.Module, states: Tensor
) -> Iterator[tuple[int, Tensor]]:
    """Judge a forward path piece by piece: yields (first depth, logits ``[n]``).

    ``states``: ``[K, 3, H, W]``, depths 0...K - 1. The first pieces are short so that
    a page can start drawing.
    """
    full = chunk_size(*states.shape[-2:])
    start = 0
    while start < len(states):
        stop = min(len(states), start + min(full, 4 if start == 0 else full))
        time = schedule.time[start:stop].to(states.device)
        yield start, network(states[start:stop], time).float().cpu()
        start = stop


def curve(schedule: Schedule, network: nn.Module, states: Tensor) -> Tensor:
    """Logits at every depth of one path: ``[K, 3, H, W] -> [K]``, float32 on the CPU.

    The confidence of the paper, P(target | x_k), is their sigmoid.
    """
    return torch.cat([logits for _, logits in curve_chunks(schedule, network, states)])
