"""Operations of a network, counted on the meta device: nothing is computed."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def flops(network: nn.Module, size: int, guided: bool = False) -> int:
    """Floating-point operations of one pass at ``size`` pixels, two for a multiply-add.

    ``network`` is on the meta device. ``guided``: with the gradient for the input, which
    no parameter may ask for.
    """
    x = torch.zeros(1, 3, size, size, device="meta").requires_grad_(guided)
    time = torch.zeros(1, dtype=torch.int64, device="meta")
    with (
        torch.set_grad_enabled(guided),
        FlopCounterMode(display=False) as counter,
        torch.device("meta"),
    ):
        output = network(x, time)
        if guided:
            output.sum().backward()  # the counter's hooks know no autograd.grad
    return int(counter.get_total_flops())
