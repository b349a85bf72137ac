"""How many pictures are repaired together, and a network is shown at once: what bounds memory."""

from torch import Tensor

CHUNK_VALUES = 16 * 3 * 64 * 64
"""Pixel values in one forward pass on a processor: 16 pictures of 64 px."""
GPU_CHUNKS = 16
"""How many times ``CHUNK_VALUES`` a GPU gets, to keep it busy (2.5 GB at 256 px)."""
REPAIR_BATCH = 16
"""Pictures that are repaired together. More of them need more memory and are no faster."""
WINDOW_BATCH = 16
"""Windows of the discriminator's size that are repaired together, or as many pixels in larger
windows; this bounds the time between two events, too."""


def choose_batch_size(x: Tensor) -> int:
    """How many pictures like ``x``, ``[..., H, W]``, a network is shown at once on its device."""
    values = CHUNK_VALUES * (GPU_CHUNKS if x.device.type == "cuda" else 1)
    return max(1, values // (3 * x.shape[-2] * x.shape[-1]))
