"""Faster versions of the U-Net's blocks, with the same names and values of parameters.

The guided-diffusion package converts to float32 and back around every norm, and scales, shifts and
adds in separate passes through memory. Once convolutions run in half precision, these passes take
most of the time. The blocks here need fewer of them.
"""

import torch
import torch.nn.functional as F
from guided_diffusion import unet
from torch import Tensor, nn


class GroupNorm(nn.GroupNorm):
    """Group norm in the precision of its input, ``[B, C, H, W]``, with statistics in float32."""

    def __init__(self, norm: nn.GroupNorm) -> None:
        super().__init__(norm.num_groups, norm.num_channels, norm.eps)
        self.weight, self.bias = norm.weight, norm.bias

    def forward(self, x: Tensor) -> Tensor:
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if x.device.type != "cpu":  # only the processor's kernel mixes precisions
            weight, bias = weight.to(x.dtype), bias.to(x.dtype)
        return F.group_norm(x, self.num_groups, weight, bias, self.eps)


SHORT_SEQUENCE = 256
"""Up to so many tokens the backward pass on a processor is up to 20 times faster where the weights
of the attention are stored."""


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention, ``[B, heads, L, c]``."""
    if q.device.type == "cpu" and q.requires_grad and q.shape[-2] <= SHORT_SEQUENCE:
        return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1) @ v
    return F.scaled_dot_product_attention(q, k, v)


class ResidualBlock(unet.TimestepBlock):
    """The package's ``ResBlock`` with scale-shift norm: ``[B, C, H, W], [B, E] -> [B, C', H, W]``.

    H and W are halved or doubled where the original does so.
    """

    def __init__(self, block: unet.ResBlock) -> None:
        super().__init__()
        self.in_layers, self.out_layers = block.in_layers, block.out_layers
        self.emb_layers, self.skip_connection = block.emb_layers, block.skip_connection
        self.h_upd, self.x_upd = block.h_upd, block.x_upd
        for layers in (self.in_layers, self.out_layers):
            layers[0] = GroupNorm(layers[0])

    def forward(self, x: Tensor, emb: Tensor) -> Tensor:
        """Transform the features ``x``; ``emb``: the embedded time, float32 ``[B, E]``."""
        h = _silu(self.in_layers[0](x))
        h = self.in_layers[-1](self.h_upd(h))  # [B, C', H, W]
        scale_shift = self.emb_layers(emb).to(h.dtype)[..., None, None]  # [B, 2 C', 1, 1]
        scale, shift = scale_shift.chunk(2, dim=1)
        h = torch.addcmul(shift, self.out_layers[0](h), 1 + scale)
        return self.skip_connection(self.x_upd(x)) + self.out_layers[-1](_silu(h))


class AttentionBlock(nn.Module):
    """The package's block of the same name: ``[B, C, H, W] -> [B, C, H, W]``.

    It computes softmax(q k^T / sqrt(c)) v (Vaswani et al., 2017, Eq. 1). For long sequences the
    weights, ``[L, L]``, are not stored.
    """

    def __init__(self, block: unet.AttentionBlock) -> None:
        super().__init__()
        self.norm, self.qkv, self.proj_out = GroupNorm(block.norm), block.qkv, block.proj_out
        self.heads = block.num_heads

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.norm(x).flatten(2).transpose(1, 2)  # [B, L, C]
        qkv = F.linear(tokens, self.qkv.weight.squeeze(2), self.qkv.bias)  # [B, L, 3 C]
        parts = qkv.unflatten(2, (self.heads, 3, -1)).movedim(1, 3)  # [B, heads, 3, L, c]
        mixed = _attend(*parts.unbind(2)).transpose(1, 2).flatten(2)  # [B, L, C]
        h = F.linear(mixed, self.proj_out.weight.squeeze(2), self.proj_out.bias)
        return x + h.transpose(1, 2).unflatten(2, x.shape[2:])


def replace_blocks(network: nn.Module) -> None:
    """Replace the package's blocks inside of ``network``, at any level, by these."""
    for name, child in network.named_children():
        if isinstance(child, unet.ResBlock) and child.use_scale_shift_norm:
            setattr(network, name, ResidualBlock(child))
        elif isinstance(child, unet.AttentionBlock):
            setattr(network, name, AttentionBlock(child))
        else:
            replace_blocks(child)


def _silu(x: Tensor) -> Tensor:
    """SiLU, in place where no gradient needs ``x`` again."""
    return F.silu(x, inplace=not x.requires_grad)
