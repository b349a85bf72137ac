"""Structural guidance: the low frequencies of the input are kept while it is denoised.

Every reverse step goes down the gradient of a distance between low-passed pictures (section 3.4 of
the paper; Gao et al., "Back to the Source: Diffusion-Driven Test-Time Adaptation", 2023, called DDA
below).
"""

import functools
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dga.profiles import GuidanceConfig


def low_pass(x: Tensor, factor: int) -> Tensor:
    """Resize pictures down by ``factor`` and up again, bicubic and antialiased (phi in the paper).

    ``x``: ``[..., H, W]``, floating point; the result has the same shape. The interpolation is
    linear and separable, so that it is computed as a product with matrices of rows and of columns.
    The backward pass of such products gives the same bits every time. That of PyTorch's own
    interpolation does not, because on a GPU it adds in any order.
    """
    down_h, up_h = _make_resize_matrices(x.shape[-2], factor, x.device, x.dtype)
    down_w, up_w = _make_resize_matrices(x.shape[-1], factor, x.device, x.dtype)
    return up_h @ (down_h @ x @ down_w.T) @ up_w.T


@functools.lru_cache(maxsize=32)
@torch.inference_mode(False)  # the cached matrices must serve in a backward pass, too
def _make_resize_matrices(
    size: int, factor: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The interpolation of one axis as matrices: down, ``[s, size]``, and up, ``[size, s]``."""
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


def compute_structural_loss(x0_hat: Tensor, reference: Tensor, config: GuidanceConfig) -> Tensor:
    """The distance between the low frequencies of pictures, ``[B, 3, H, W] -> [B]``.

    It is the norm of each picture's difference (DDA, Eq. 9; DDA's code takes it over the batch).
    """
    difference = low_pass(reference - x0_hat, config.factor).flatten(1)
    return torch.linalg.vector_norm(difference, dim=1)


@dataclass(frozen=True)
class StructuralGuide:
    """The pull on each step: lambda times the gradient of :func:`compute_structural_loss` in x_k.

    The gradient runs through the network and the clip (DDA, Eq. 9) or, with
    ``through_network=False``, through the clip alone. Then the predicted noise counts as a
    constant, and the backward pass through the network, two thirds of a step's cost, is saved.
    """

    reference: Tensor
    """What the steps are pulled towards, ``[B, 3, H, W]`` in [-1, 1], for the whole batch."""
    config: GuidanceConfig

    def __call__(self, x_k: Tensor, x0_hat: Tensor, indices: Tensor) -> Tensor:
        """Compute what is subtracted from the sample, ``[b, 3, H, W]``.

        ``x0_hat``: the clean estimates, a function of ``x_k``; ``indices``: the positions of both
        in the batch.
        """
        reference = self.reference[indices.to(self.reference.device, non_blocking=True)]
        loss = compute_structural_loss(x0_hat, reference, self.config).sum()
        (gradient,) = torch.autograd.grad(loss, x_k)
        return self.config.scale * gradient
