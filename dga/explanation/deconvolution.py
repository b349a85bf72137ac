"""Deconvolution: the inverse of a blur whose point spread function is given."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import Tensor

EDGE = 0.5
"""Half-width, in pixels, of a point spread function's soft edge, which fades over one pixel."""


@functools.lru_cache(maxsize=64)
def make_disk(radius: float) -> Tensor:
    """Point spread function of defocus, ``[n, n]`` with odd n, sums to 1."""
    reach = math.ceil(radius + 2 * EDGE)
    at = torch.arange(-reach, reach + 1, dtype=torch.float64)
    distance = (at[:, None].square() + at.square()).sqrt()
    kernel = ((radius + EDGE - distance) / (2 * EDGE)).clamp(0, 1)
    return kernel / kernel.sum()


def deconvolve(x: Tensor, kernel: Tensor, regularisation: float) -> Tensor:
    """Wiener deconvolution with a constant noise-to-signal ratio, clipped to [-1, 1].

    ``x``: ``[..., 3, H, W]``; ``kernel``: ``[n, n]``, n odd. Borders are mirrored.
    (Gonzalez and Woods, "Digital Image Processing", section 5.8.)
    """
    height, width = x.shape[-2:]
    top, left = (min(2 * len(kernel), side - 1) for side in (height, width))
    padded = F.pad(x.reshape(-1, 3, height, width), (left, left, top, top), "reflect")
    mean = padded.mean((2, 3), keepdim=True)
    transfer = torch.fft.rfft2(place_at_origin(kernel, padded.shape[-2:]).to(x))
    inverse = transfer.conj() / (transfer.abs().square() + regularisation)
    restored = torch.fft.irfft2(torch.fft.rfft2(padded - mean) * inverse, s=padded.shape[-2:])
    restored = (restored + mean)[..., top : top + height, left : left + width]
    return restored.reshape(x.shape).clamp(-1, 1)


def place_at_origin(kernel: Tensor, size: torch.Size) -> Tensor:
    """The kernel on a canvas of ``size``, wrapped so that its middle lies at the origin."""
    rows, columns = ((torch.arange(len(kernel)) - len(kernel) // 2) % side for side in size)
    canvas = torch.zeros(size, dtype=kernel.dtype)
    return canvas.index_put_((rows[:, None], columns), kernel, accumulate=True)
