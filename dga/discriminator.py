"""The discriminator's confidence along the forward path."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from dga.diffusion import Schedule, predict_x0

INPUTS = ("x_t", "x0_hat")
"""What a discriminator can be shown: the noised state, or the denoiser's clean estimate of it."""
CHUNK_VALUES = 16 * 3 * 64 * 64
"""Values in one forward pass; bounds memory whatever the picture's size."""
GPU_CHUNKS = 16
"""Of those at once on a GPU, which needs more work to be busy (2.5 GB at 256 px)."""


def max_batch(x: Tensor) -> int:
    """How many pictures like ``x``, ``[..., H, W]``, a network is shown at once on its device."""
    values = CHUNK_VALUES * (GPU_CHUNKS if x.device.type == "cuda" else 1)
    return max(1, values // (3 * x.shape[-2] * x.shape[-1]))


@torch.no_grad()
def estimate_x0(schedule: Schedule, denoiser: nn.Module, x_k: Tensor, depth: Tensor) -> Tensor:
    """The clean picture that the frozen denoiser sees in each state, clipped to [-1, 1].

    ``x_k``: ``[n, 3, H, W]``; ``depth``: int64 ``[n]``. A state at depth 0 is the picture
    itself and is returned bit for bit. (Ho et al., 2020, Eq. 15.)
    """
    x0_hat = x_k.clone()
    noised = (depth > 0).nonzero().squeeze(1)
    if len(noised):
        k, x = depth[noised], x_k[noised.to(x_k.device)]
        # The denoiser keeps its own precision, whatever a trainer's autocast does.
        with torch.autocast(x.device.type, enabled=False):
            eps = denoiser(x, schedule.time[k.cpu()].to(x.device))[:, :3]
        x0_hat[noised.to(x_k.device)] = predict_x0(schedule, x, k, eps)
    return x0_hat


@torch.no_grad()
def judge_states(
    schedule: Schedule,
    network: nn.Module,
    states: Tensor,
    depth: Tensor,
    denoiser: nn.Module | None = None,
) -> Tensor:
    """Logits of some states in one pass, float32 ``[n]`` on the CPU.

    ``states``: ``[n, 3, H, W]``; ``depth``: int64 ``[n]``. With a ``denoiser`` the
    network judges x0_hat instead of x_t. Raises ``FloatingPointError`` for logits that are
    not numbers.
    """
    if denoiser is not None:
        states = estimate_x0(schedule, denoiser, states, depth)
    logits = network(states, schedule.time[depth].to(states.device)).float().cpu()
    if not bool(logits.isfinite().all()):
        raise FloatingPointError("The discriminator returned values that are not numbers.")
    return logits


def curve_chunks(
    schedule: Schedule,
    network: nn.Module,
    states: Tensor,
    denoiser: nn.Module | None = None,
    first: int = 0,
) -> Iterator[tuple[int, Tensor]]:
    """Judge a forward path piece by piece: yields (first depth, logits ``[n]``).

    ``states``: ``[K, 3, H, W]``, depths 0...K - 1; judging begins at depth ``first``. The
    first pieces are short so that a page can start drawing.
    """
    full = max_batch(states)
    start = first
    while start < len(states):
        stop = min(len(states), start + min(full, 4 if start == first else full))
        depth = torch.arange(start, stop)
        yield start, judge_states(schedule, network, states[start:stop], depth, denoiser)
        start = stop


def curve(
    schedule: Schedule, network: nn.Module, states: Tensor, denoiser: nn.Module | None = None
) -> Tensor:
    """Logits at every depth of one path: ``[K, 3, H, W] -> [K]``, float32 on the CPU.

    The confidence of the paper, P(target | x_k), is their sigmoid. With a ``denoiser``
    the network judges x0_hat instead of x_t.
    """
    return torch.cat([logits for _, logits in curve_chunks(schedule, network, states, denoiser)])
