"""Device, precision and kernels of the networks are chosen here; threads of forked processes."""

from __future__ import annotations

import functools
import os
import time
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn

from dga.io.parsing import check_choice
from dga.networks.memory import AdaptiveBatchSize
from dga.networks.unet import Denoiser, GuidedNetwork


@functools.cache
def use_one_thread_in_forks() -> None:
    """From now on a forked process runs networks, on one thread.

    OpenMP's threads are not forked with it; without this its first large convolution waits
    for them for ever.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


Precision = Literal["auto", "float32", "bfloat16", "float16"]
PRECISIONS: tuple[Precision, ...] = ("auto", "float32", "bfloat16", "float16")
WORTH_IT = 0.8
"""Another precision is taken when it needs less than this share of the time."""
CLEARLY = 0.5
"""Another half precision is taken only for this share: where bfloat16 is emulated."""
FULL_SIZE = 30_000_000
"""Parameters of a discriminator from which a processor runs it in the denoiser's precision."""
ROUNDS = 6
"""The best of so many measurements counts."""
HOPELESS = 4.0
"""A half precision that needs more than this multiple of the best time is measured no further."""


@dataclass(frozen=True)
class Compute:
    """A device, the precision of the denoiser's convolutions, and how they are run.

    ``fast``: fused attention, fewer passes through memory, channels last; results equal
    the reference's up to rounding. ``compiled``: the denoiser goes through
    ``torch.compile`` (with CUDA graphs on a GPU), which pays when many batches have
    the same size. ``automatic``: the precision is the device's choice, and chosen anew where
    networks move. ``batch_size``: how many pictures fit at once, learned on the way.
    """

    device: torch.device
    dtype: torch.dtype
    fast: bool = False
    compiled: bool = False
    automatic: bool = False
    batch_size: AdaptiveBatchSize = field(
        default_factory=AdaptiveBatchSize, compare=False, repr=False
    )

    @classmethod
    def choose(
        cls, device: str | None = None, precision: str = "auto", compiled: bool = False
    ) -> Compute:
        """The GPU if there is one; half precision where the device is faster in it.

        ``float32`` is the reference: the package's own networks, bit for bit, and on a GPU
        without TF32, which :meth:`prepare` switches off for the whole process. Raises
        ``ValueError`` for an unknown precision or a device that is not there.
        """
        check_choice("precision", precision, PRECISIONS)
        try:
            chosen = torch.device(device or default_device())
            torch.zeros(1, device=chosen)
        except (RuntimeError, AssertionError) as error:
            raise ValueError(f"Device {device!r} cannot be used here: {error}") from error
        dtype = fastest_dtype(chosen) if precision == "auto" else getattr(torch, precision)
        return cls(chosen, dtype, dtype != torch.float32, compiled, precision == "auto")

    def moved(self, device: torch.device) -> Compute:
        """The same on another device, with its own choice of precision where one was left to it.

        Raises ``ValueError`` for a device that is not there.
        """
        if self.automatic and device != self.device:
            return Compute.choose(str(device), "auto", self.compiled)
        return replace(self, device=device, batch_size=AdaptiveBatchSize())

    @property
    def precision(self) -> str:
        """``float32``, ``bfloat16`` or ``float16``."""
        return str(self.dtype).removeprefix("torch.")

    def prepare(self, network: nn.Module) -> nn.Module:
        """Move a network to the device; a denoiser also to the precision and kernels.

        The discriminator and the classifier stay in float32, so that t* and the
        label of a given picture do not depend on the precision. On a processor a
        discriminator of the full size, which takes seconds a call, follows the denoiser.
        One that was prepared before, for another device, changes as far as it must.
        """
        if self.device.type == "cuda" and self.dtype == torch.float32:
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        network.to(self.device)
        if not isinstance(network, GuidedNetwork):
            return network
        if not isinstance(network, Denoiser) and not self._follows(network):
            network.convert_torso(torch.float32)
            return network
        network.convert_torso(self.dtype)
        if self.dtype != torch.float32:
            for parameter in network.parameters():
                if parameter.dtype == torch.float32:
                    parameter.data = parameter.data.clone()  # lets go of the file it was read from
        if self.fast:
            network.use_fast_blocks()
        if self.compiled and isinstance(network, Denoiser):
            mode = "reduce-overhead" if self.device.type == "cuda" else None
            network.net.compile(mode=mode, dynamic=False)
        return network

    def _follows(self, network: nn.Module) -> bool:
        large = sum(p.numel() for p in network.parameters()) >= FULL_SIZE
        return large and self.device.type == "cpu"


def default_device() -> str:
    """``cuda`` if there is a GPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def fastest_dtype(device: torch.device) -> torch.dtype:
    """On a GPU bfloat16 if it has units for it; a processor is measured, for about 100 ms.

    One typical convolution in each precision; they take turns, so that a busy machine slows
    all of them alike. float16 must beat bfloat16 clearly too, because it can overflow. A GPU
    would have spent such a small one waiting for work.
    """
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if native else torch.float32
    racing = [torch.float32, torch.bfloat16, torch.float16]
    seconds = dict.fromkeys(racing, float("inf"))
    for _ in range(ROUNDS):
        for dtype in racing:
            seconds[dtype] = min(seconds[dtype], _convolution_seconds(device, dtype))
        bound = HOPELESS * min(seconds.values())
        racing = [torch.float32, *(d for d in racing[1:] if seconds[d] <= bound)]
    best = torch.bfloat16
    if seconds[torch.float16] < CLEARLY * seconds[best]:
        best = torch.float16
    return best if seconds[best] < WORTH_IT * seconds[torch.float32] else torch.float32


def _convolution_seconds(device: torch.device, dtype: torch.dtype) -> float:
    """With its gradient, the second of two; infinite where the device cannot do it."""
    try:
        layer = nn.Conv2d(128, 128, 3, padding=1).to(device, dtype).requires_grad_(False)
        layer.to(memory_format=torch.channels_last)
        x = torch.randn(1, 128, 32, 32, device=device).to(dtype)
        x = x.contiguous(memory_format=torch.channels_last).requires_grad_()
        _seconds(layer, x)
        return _seconds(layer, x)
    except RuntimeError:
        return float("inf")


def _seconds(layer: nn.Module, x: Tensor) -> float:
    begun = time.perf_counter()
    with torch.enable_grad():
        torch.autograd.grad(layer(x).sum(), x)
    return time.perf_counter() - begun
