"""Group norm with a quicker gradient, for training on a processor."""

from typing import Any

import torch
from torch import Tensor, nn

from dga.networks.fast_blocks import GroupNorm


def quicken_norms(network: nn.Module) -> None:
    """Give the fast blocks inside ``network`` norms whose gradient takes a sixth of the time."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, GroupNorm):
                setattr(module, name, TrainedGroupNorm(child))


class TrainedGroupNorm(GroupNorm):
    """Group norm whose gradient reads ``[B, C, H, W]`` three times, channels last or not.

    On a processor the library's own takes six times as long in bfloat16, a third of a step.
    """

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type != "cpu" or not torch.is_grad_enabled():
            return super().forward(x)
        output: Tensor = _Function.apply(x, self.weight, self.bias, self.num_groups, self.eps)
        return output


class _Function(torch.autograd.Function):
    """The norm and its gradient."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float
    ) -> Tensor:
        size = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
        output, mean, scale = torch.native_group_norm(x, weight, bias, *size, groups, eps)
        ctx.save_for_backward(x, weight, mean.float(), scale.float())  # [B, G] the last two
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """With x_hat = (x - mean) scale: scale (w dy - mean(w dy) - x_hat mean(w dy x_hat))."""
        (dy,) = gradients
        x, weight, mean, scale = ctx.saved_tensors
        batch, channels, height, width = x.shape
        groups = mean.shape[1]
        count = height * width * channels // groups

        def to_channels(by_group: Tensor) -> Tensor:
            return by_group.repeat_interleave(channels // groups, dim=1)  # [B, C]

        def to_map(by_channel: Tensor) -> Tensor:
            return by_channel.to(x.dtype)[..., None, None]

        sums = dy.sum((2, 3), dtype=torch.float32)  # [B, C], as the next
        products = (dy * x).sum((2, 3), dtype=torch.float32)
        products = (products - to_channels(mean) * sums) * to_channels(scale)
        w = weight.float()
        first = (w * sums).view(batch, groups, -1).sum(2) / count
        second = (w * products).view(batch, groups, -1).sum(2) / count
        slope = -scale.square() * second  # of x in the result
        offset = -scale * first - slope * mean
        dx = torch.addcmul(to_map(to_channels(offset)), x, to_map(to_channels(slope)))
        dx.addcmul_(dy, to_map(to_channels(scale) * w))
        return dx, products.sum(0), sums.sum(0), None, None
