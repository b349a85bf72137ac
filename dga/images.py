"""Pictures as PIL images, uint8 arrays and tensors in [-1, 1], and the ways between them."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if TYPE_CHECKING:
    from torch import Tensor

Pixels = NDArray[np.uint8]


def to_square(image: Image.Image, size: int) -> Image.Image:
    """Centre-crop to a square and resize to ``size`` pixels a side (Lanczos, RGB)."""
    if image.mode != "RGB":
        image = image.convert("RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    box = (left, top, left + side, top + side)
    if image.size == (size, size):
        return image
    return image.resize((size, size), Image.Resampling.LANCZOS, box=box)


def to_pixels(image: Image.Image) -> Pixels:
    """RGB picture to uint8 ``[H, W, 3]``."""
    return np.array(image.convert("RGB"), dtype=np.uint8)


def to_jpeg(pixels: Pixels, quality: int, subsampling: int = -1) -> bytes:
    """A JPEG file of a picture, uint8 ``[H, W, 3]``; ``subsampling`` of its colours: 0 for none."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=subsampling)
    return buffer.getvalue()


def through_jpeg(pixels: Pixels, quality: int) -> Image.Image:
    """A picture saved as JPEG and opened again."""
    return Image.open(BytesIO(to_jpeg(pixels, quality)))


def to_tensor(pixels: Pixels) -> Tensor:
    """uint8 ``[..., H, W, 3]`` to float32 ``[..., 3, H, W]`` in [-1, 1]."""
    import torch  # here: decoding a picture must not wait for it

    x = torch.tensor(np.ascontiguousarray(pixels)).movedim(-1, -3)  # a copy: it may be read-only
    return x.to(torch.float32).div(127.5).sub(1.0).contiguous()


def from_tensor(x: Tensor) -> Pixels:
    """float ``[..., 3, H, W]`` in [-1, 1] to uint8 ``[..., H, W, 3]`` (clipped, rounded).

    Raises ``FloatingPointError`` for what is no picture: NaN would become a grey level.
    """
    if not bool(x.isfinite().all()):
        raise FloatingPointError("A network returned values that are not numbers.")
    import torch

    levels = x.detach().float().clamp(-1, 1).add(1.0).mul(127.5).round()
    return levels.to(torch.uint8).movedim(-3, -1).contiguous().cpu().numpy()
