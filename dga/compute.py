"""Where and how precisely networks run: one place decides."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from dga.networks import Denoiser

Precision = Literal["auto", "float32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = ("auto", "float32", "bfloat16")


@dataclass(frozen=True)
class Compute:
    """A device and the precision of the denoiser's convolutions."""

    device: torch.device
    dtype: torch.dtype

    @classmethod
    def choose(cls, device: str | None = None, precision: str = "auto") -> Compute:
        """The GPU if there is one; bfloat16 where a short measurement finds it faster.

        Raises ``ValueError`` for an unknown precision or a device that is not there.
        """
        if precision not in PRECISIONS:
            raise ValueError(
                f"Unknown precision {precision!r}. Choose one of: {', '.join(PRECISIONS)}."
            )
        try:
            chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
            torch.zeros(1, device=chosen)
        except (RuntimeError, AssertionError) as error:
            raise ValueError(f"Device {device!r} cannot be used here: {error}") from error
        if precision == "auto":
            dtype = torch.bfloat16 if _bf16_is_faster(chosen) else torch.float32
        else:
            dtype = torch.float32 if precision == "float32" else torch.bfloat16
        return cls(chosen, dtype)

    @property
    def precision(self) -> str:
        """``float32`` or ``bfloat16``."""
        return str(self.dtype).removeprefix("torch.")

    def prepare(self, network: nn.Module) -> nn.Module:
        """Move a network to the device; a denoiser's torso also to the precision.

        The discriminator and the classifier stay in float32, so that t* and the
        label of a given picture do not depend on the precision.
        """
        network.to(self.device)
        if isinstance(network, Denoiser) and self.dtype != torch.float32:
            network.convert_torso(self.dtype)
        return network


@torch.no_grad()
def _bf16_is_faster(device: torch.device) -> bool:
    """Time one typical convolution both ways (about 20 ms)."""
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        layer = nn.Conv2d(128, 128, 3, padding=1).to(device, dtype)
        x = torch.randn(1, 128, 32, 32, device=device, dtype=dtype)
        best = float("inf")
        for _ in range(4):
            start = time.perf_counter()
            layer(x)
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            best = min(best, time.perf_counter() - start)
        seconds[dtype] = best
    return seconds[torch.bfloat16] < 0.8 * seconds[torch.float32]
