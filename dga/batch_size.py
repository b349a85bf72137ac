"""How many pictures are repaired together, and how many a network sees at once, to bound memory."""

from torch import Tensor

CHUNK_VALUES = 16 * 3 * 64 * 64
"""Values of pixels in one pass of a network on a processor: 16 pictures of 64 px."""
GPU_CHUNKS = 16
"""A GPU gets so many times ``CHUNK_VALUES``, to keep it busy (2.5 GB at 256 px)."""
REPAIR_BATCH = 16
"""Pictures that are repaired together. More need more memory and are no faster."""
WINDOW_BATCH = 16
"""Windows of the discriminator's size that are repaired together, or as many pixels in larger
windows. This also bounds the time between two events."""


def choose_batch_size(x: Tensor) -> int:
    """Choose how many pictures like ``x``, ``[..., H, W]``, a network sees at once."""
    values = CHUNK_VALUES * (GPU_CHUNKS if x.device.type == "cuda" else 1)
    return max(1, values // (3 * x.shape[-2] * x.shape[-1]))
