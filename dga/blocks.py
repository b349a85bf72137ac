"""The U-Net's blocks with less traffic through memory; parameters keep names and values.

The guided-diffusion package converts to float32 and back around every norm and scales,
shifts and adds in passes of their own. Once convolutions run in half precision on matrix
units, such passes take most of the time. These blocks do the same mathematics in fewer
of them, in the precision and memory layout of what comes in.
"""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.attention import ScaledDotProduct
from dga.norm import group_norm

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from guided_diffusion import unet


class ResidualBlock(unet.TimestepBlock):
    """The package's ``ResBlock`` with scale-shift norm: ``[B, C, H, W], [B, E] -> [B, C', H, W]``.

    Halves or doubles H and W where the original does.
    """

    def __init__(self, block: unet.ResBlock) -> None:
        super().__init__()
        self.in_layers, self.out_layers = block.in_layers, block.out_layers
        self.emb_layers, self.skip_connection = block.emb_layers, block.skip_connection
        self.h_upd, self.x_upd = block.h_upd, block.x_upd

    def forward(self, x: Tensor, emb: Tensor) -> Tensor:
        """See the class; ``emb`` is the embedded time, float32."""
        h = _silu(group_norm(self.in_layers[0], x))
        h = self.in_layers[-1](self.h_upd(h))  # [B, C', H, W]
        scale_shift = self.emb_layers(emb).to(h.dtype)[..., None, None]  # [B, 2 C', 1, 1]
        scale, shift = scale_shift.chunk(2, dim=1)
        h = torch.addcmul(shift, group_norm(self.out_layers[0], h), 1 + scale)
        return self.skip_connection(self.x_upd(x)) + self.out_layers[-1](_silu(h))


class AttentionBlock(nn.Module):
    """The package's block of the same name: ``[B, C, H, W] -> [B, C, H, W]``."""

    def __init__(self, block: unet.AttentionBlock) -> None:
        super().__init__()
        self.norm, self.qkv, self.proj_out = block.norm, block.qkv, block.proj_out
        by_head = isinstance(block.attention, unet.QKVAttentionLegacy)
        self.attention = ScaledDotProduct(block.num_heads, by_head)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        tokens = group_norm(self.norm, x).flatten(2).transpose(1, 2)  # [B, H W, C]
        qkv = F.linear(tokens, self.qkv.weight.squeeze(2), self.qkv.bias)
        mixed = self.attention(qkv.transpose(1, 2)).transpose(1, 2)  # [B, H W, C]
        h = F.linear(mixed, self.proj_out.weight.squeeze(2), self.proj_out.bias)
        return x + h.transpose(1, 2).unflatten(2, x.shape[2:])


def replace_blocks(network: nn.Module) -> None:
    """Put these blocks in the place of the package's, wherever they are inside ``network``."""
    for name, child in network.named_children():
        if isinstance(child, unet.ResBlock) and child.use_scale_shift_norm:
            setattr(network, name, ResidualBlock(child))
        elif isinstance(child, unet.AttentionBlock):
            setattr(network, name, AttentionBlock(child))
        else:
            replace_blocks(child)


def _silu(x: Tensor) -> Tensor:
    """In place where no gradient will ask for ``x`` again."""
    return F.silu(x, inplace=not x.requires_grad)
