"""A network that was trained on from another: what changed, as matrices of low rank.

Each weight's difference is L R, with R of few rows (LoRA, Hu et al., 2022): the file of a
conditional denoiser is a fifth of the diffusion model's, from which it was trained on.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

RANK_SHARE = 0.19
"""Rank of a difference, as a share of the smaller side of its matrix."""
LEFT, RIGHT = "left:", "right:"


def limit_rank(network: nn.Module, origin: Mapping[str, Tensor]) -> None:
    """Bring each weight of a network to the nearest whose difference from ``origin`` can be saved.

    (Eckart and Young, 1936.)
    """
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if value.ndim > 1:
                left, right = _factorise(value.float().cpu() - origin[name])
                value.copy_(origin[name] + (left @ right).view(value.shape))


def factorise(state: Mapping[str, Tensor], origin: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What is saved of a network: factors of each matrix's difference, and vectors as they are."""
    factors = dict[str, Tensor]()
    for name, value in state.items():
        if value.ndim > 1:
            left, right = _factorise(value.float() - origin[name].float())
            factors |= {LEFT + name: left, RIGHT + name: right}
        else:
            factors[name] = value
    return factors


def restore(factors: Mapping[str, Tensor], origin: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The network's weights, float32, from what :func:`factorise` made of them.

    Raises ``KeyError`` and ``RuntimeError`` where both do not belong together.
    """
    state = {name: value for name, value in factors.items() if name in origin}
    for name, left in factors.items():
        if name.startswith(LEFT):
            name = name.removeprefix(LEFT)
            difference = left.float() @ factors[RIGHT + name].float()
            state[name] = origin[name].float() + difference.view(origin[name].shape)
    return state


def _factorise(difference: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest product of low rank to a weight ``[n, ...]``: ``[n, r]`` and ``[r, m]``."""
    matrix = difference.flatten(1)
    rank = max(1, round(RANK_SHARE * min(matrix.shape)))
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    root = s[:rank].sqrt()
    return u[:, :rank] * root, root[:, None] * v[:rank]
