"""What a pass of a network costs, worked out on the meta device: nothing is computed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from dga.networks.compute import Compute
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import NetworkConfig, Profile
from dga.weights.store import parameter_count

META = torch.device("meta")
WORKSPACE = 1 << 30
"""Bytes allowed for what convolution libraries take on the side."""


@dataclass(frozen=True)
class NetworkCost:
    """Of a profile, one picture.

    FLOPs (a multiplication and an addition are two) of a denoising step without and
    with the gradient for the guidance, and of judging one state; ``curve_passes``: the
    discriminator at every depth 1...T, in passes of the denoiser. ``guided_bytes``:
    an estimate of the memory of a guided step at batch 1.
    """

    parameters: int
    step_flops: int
    guided_flops: int
    judge_flops: int
    curve_passes: float
    guided_bytes: int

    @classmethod
    def of(cls, profile: Profile, dtype: torch.dtype) -> NetworkCost:
        """With the denoiser's torso in ``dtype``."""
        with META:
            denoiser = Denoiser(profile.denoiser).eval().requires_grad_(False)
        step, judge = pass_flops(profile)
        return cls(
            parameters=parameter_count(denoiser),
            step_flops=step,
            guided_flops=flops(denoiser, profile.image_size, guided=True),
            judge_flops=judge,
            curve_passes=profile.schedule.steps * judge / step,
            guided_bytes=guided_bytes(profile.denoiser, dtype),
        )


def pass_flops(profile: Profile) -> tuple[int, int]:
    """FLOPs of a pass of the denoiser, and of the discriminator."""
    with META:
        denoiser, judge = Denoiser(profile.denoiser), Discriminator(profile.discriminator)
    return flops(denoiser, profile.image_size), flops(judge, profile.image_size)


def flops(network: nn.Module, size: int, guided: bool = False) -> int:
    """Floating-point operations of one pass at ``size`` pixels, two for a multiply-add.

    ``network`` is on the meta device. ``guided``: with the gradient for the input, which
    no parameter may ask for.
    """
    with torch.set_grad_enabled(guided), FlopCounterMode(display=False) as counter, META:
        x = torch.zeros(1, 3, size, size).requires_grad_(guided)
        output = network(x, torch.zeros(1, dtype=torch.int64))
        if guided:
            output.sum().backward()  # the counter's hooks know no autograd.grad
    return int(counter.get_total_flops())


def guided_bytes(config: NetworkConfig, dtype: torch.dtype) -> int:
    """Memory of a guided step at batch 1: parameters, what the backward pass needs, working room.

    The peak is where the backward pass begins: everything it will need is still there,
    and so are a few tensors as large as the largest, and the libraries' own workspace.
    """
    with META:
        network = Denoiser(config).eval().requires_grad_(False)
        x = torch.zeros(1, 3, config.image_size, config.image_size)
        time = torch.zeros(1, dtype=torch.int64)
    Compute(META, dtype, fast=dtype != torch.float32).prepare(network)
    known = {p.untyped_storage()._cdata for p in network.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in known:
            kept[storage._cdata] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = network(x.requires_grad_(), time)
    del output
    weights = sum(p.numel() * p.element_size() for p in network.parameters())
    return weights + sum(kept.values()) + 4 * max(kept.values()) + WORKSPACE
