"""Structural guidance: the low frequencies of the input are kept while it is denoised.

Every reverse step is pulled down the gradient of a distance between low-passed pictures (section
3.4 of the paper; Gao et al., "Back to the Source: Diffusion-Driven Test-Time Adaptation", 2023,
called DDA below).
"""

import functools
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dga.profiles import GuidanceConfig


def low_pass(x: Tensor, factor: int) -> Tensor:
    """phi: down and up again by ``factor``, cubic and antialiased. Same shape out.

    ``x``: ``[..., H, W]``, floating point. The interpolation is linear and separable, so that it
    is a product with matrices of rows and of columns. Unlike the interpolation's own backward
    pass, which adds with atomics on a GPU, theirs gives the same bits every time.
    """
    down_h, up_h = _down_up(x.shape[-2], factor, x.device, x.dtype)
    down_w, up_w = _down_up(x.shape[-1], factor, x.device, x.dtype)
    return up_h @ (down_h @ x @ down_w.T) @ up_w.T


@functools.lru_cache(maxsize=32)
@torch.inference_mode(False)  # what is kept must serve in a backward pass, too
def _down_up(
    size: int, factor: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The interpolation of one axis as matrices: down ``[s, size]`` and up ``[size, s]``."""
    small = max(1, size // factor)
    down, up = (
        F.interpolate(
            torch.eye(start, dtype=torch.float64)[None, None],
            size=(end, start),
            mode="bicubic",
            antialias=True,
        )[0, 0].to(device, dtype)
        for start, end in ((size, small), (small, size))
    )
    return down, up


def structural_loss(x0_hat: Tensor, reference: Tensor, config: GuidanceConfig) -> Tensor:
    """Distance between low frequencies, one per picture: ``[B, 3, H, W] -> [B]``.

    The norm of each picture (DDA, Eq. 9, as its code computes it but not across the batch).
    """
    gap = low_pass(reference - x0_hat, config.factor).flatten(1)
    return torch.linalg.vector_norm(gap, dim=1)


@dataclass(frozen=True)
class StructuralGuide:
    """What pulls each step: lambda times the gradient of :func:`structural_loss` in x_k.

    ``reference``: what it pulls towards, ``[B, 3, H, W]`` in [-1, 1], the whole batch. The gradient
    runs through the network and the clip (DDA, Eq. 9) or, if so configured, through the clip alone:
    the predicted noise then counts as a constant, and the backward pass through the network, two
    thirds of a step's cost, is saved.
    """

    reference: Tensor
    config: GuidanceConfig

    def __call__(self, x_k: Tensor, x0_hat: Tensor, indices: Tensor) -> Tensor:
        """What is subtracted from the sample, ``[b, 3, H, W]``.

        ``x0_hat`` depends on ``x_k``; ``indices``: their positions in the batch.
        """
        here = self.reference[indices.to(self.reference.device, non_blocking=True)]
        loss = structural_loss(x0_hat, here, self.config).sum()
        (gradient,) = torch.autograd.grad(loss, x_k)
        return self.config.scale * gradient
