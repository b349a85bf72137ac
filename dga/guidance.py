"""Structural guidance: keep the low frequencies of the input while denoising."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Guide
from dga.profiles import GuidanceConfig


def low_pass(x: Tensor, factor: int) -> Tensor:
    """phi: down and up again by ``factor``, cubic and antialiased. Same shape out."""
    size = x.shape[-2:]
    small = (max(1, size[0] // factor), max(1, size[1] // factor))
    down = F.interpolate(x, size=small, mode="bicubic", antialias=True)
    return F.interpolate(down, size=size, mode="bicubic", antialias=True)


def structural_loss(x0_hat: Tensor, reference: Tensor, config: GuidanceConfig) -> Tensor:
    """Distance between low frequencies, one per picture: ``[B, 3, H, W] -> [B]``.

    The norm of each picture (DDA, Eq. 9, as its code computes it but not across
    the batch), or half its square (Eq. in section 3.4 of the paper) if ``squared``.
    """
    gap = (low_pass(reference, config.factor) - low_pass(x0_hat, config.factor)).flatten(1)
    if config.squared:
        return 0.5 * gap.square().sum(1)
    return torch.linalg.vector_norm(gap, dim=1)


@dataclass(frozen=True)
class StructuralGuide:
    """Lambda times the gradient of :func:`structural_loss`, for the rows of one batch.

    ``reference``: ``[B, 3, H, W]`` in [-1, 1].
    """

    reference: Tensor
    config: GuidanceConfig

    @property
    def through_network(self) -> bool:
        return self.config.through_network

    def __call__(self, x_k: Tensor, x0_hat: Tensor, rows: Tensor) -> Tensor:
        """The pull on ``x_k``, ``[b, 3, H, W]``; ``x0_hat`` depends on it."""
        here = self.reference[rows.to(self.reference.device, non_blocking=True)]
        loss = structural_loss(x0_hat, here, self.config).sum()
        (gradient,) = torch.autograd.grad(loss, x_k)
        return self.config.scale * gradient


def structural_guide(reference: Tensor, config: GuidanceConfig) -> Guide:
    """A guide for :func:`dga.diffusion.reverse` that pulls towards ``reference``.

    ``reference``: ``[B, 3, H, W]`` in [-1, 1], the whole batch. The gradient runs
    through the network and the clip (DDA, Eq. 9) or, if so configured, through the
    clip alone: the predicted noise then counts as a constant, and the backward pass
    through the network, two thirds of a step's cost, is saved.
    """
    return StructuralGuide(reference, config)
