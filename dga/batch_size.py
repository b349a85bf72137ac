"""How many pictures a network is shown at once, which bounds memory."""

from torch import Tensor

CHUNK_VALUES = 16 * 3 * 64 * 64
"""Pixel values in one forward pass on a processor: 16 pictures of 64 px."""
GPU_CHUNKS = 16
"""How many times ``CHUNK_VALUES`` a GPU gets, to keep it busy (2.5 GB at 256 px)."""


def choose_batch_size(x: Tensor) -> int:
    """How many pictures like ``x``, ``[..., H, W]``, a network is shown at once on its device."""
    values = CHUNK_VALUES * (GPU_CHUNKS if x.device.type == "cuda" else 1)
    return max(1, values // (3 * x.shape[-2] * x.shape[-1]))
