"""Attention by PyTorch's fused kernels, in place of the guided-diffusion package's einsum."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

SHORT = 128
"""Tokens up to which a processor's gradient is faster with the weights stored, up to 20 times."""


class ScaledDotProduct(nn.Module):
    """softmax(q k^T / sqrt(c)) v, for long sequences without storing the ``[L, L]`` weights.

    Takes what the package's own modules take, ``[N, 3 * heads * c, L]``, and gives
    ``[N, heads * c, L]``; it has no parameters. ``by_head``: the channels are ordered
    head, then q, k, v (``QKVAttentionLegacy``); otherwise q, k, v, then head
    (``QKVAttention``). (Vaswani et al., 2017, Eq. 1.)
    """

    def __init__(self, heads: int, by_head: bool) -> None:
        super().__init__()
        self.heads, self.by_head = heads, by_head

    def forward(self, qkv: Tensor) -> Tensor:
        """See the class."""
        n, width, length = qkv.shape
        # The kernels want a head's channels side by side; free if the caller has them so.
        tokens = qkv.transpose(1, 2).contiguous()  # [N, L, 3 heads c]
        split = (self.heads, 3) if self.by_head else (3, self.heads)
        parts = tokens.view(n, length, *split, width // (3 * self.heads))
        q, k, v = parts.movedim(1, 3).unbind(2 if self.by_head else 1)  # [N, heads, L, c]
        mixed = _attend(q, k, v)  # [N, heads, L, c]
        return mixed.transpose(1, 2).reshape(n, length, -1).transpose(1, 2)


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.device.type == "cpu" and q.requires_grad and q.shape[-2] <= SHORT:
        return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1) @ v
    return F.scaled_dot_product_attention(q, k, v)
