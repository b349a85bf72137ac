"""Several processes that train one model together, a GPU each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class ProcessGroup:
    """This process among ``size`` of them; ``rank`` 0 also writes files and shows progress.

    ``torchrun`` and ``accelerate launch`` start the processes and tell each its place by
    the same environment variables. Each makes its share of every batch, and gradients are
    averaged, so that the result is that of one process with the whole batch.
    """

    device: torch.device
    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> ProcessGroup:
        """Meet the others; alone where no launcher started this process.

        ``device``: cpu, or cuda, of which each process of a machine takes its own.
        """
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls(device)
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(device, dist.get_rank(), size)

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def share(self, count: int) -> range:
        """This process's part of ``count`` things. Raises ``ValueError`` for unequal parts."""
        if count % self.size:
            raise ValueError(
                f"{count} pairs of pictures cannot be shared by {self.size} processes. Choose a "
                f"--batch that is a multiple of {2 * self.size}."
            )
        each = count // self.size
        return range(self.rank * each, (self.rank + 1) * each)

    def wrap(self, model: nn.Module) -> nn.Module:
        """The same model; its gradients are averaged over all processes."""
        if self.size == 1:
            return model
        where = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=where)

    def gather(self, names: list[str]) -> list[str]:
        """The names that any process has, sorted, each once."""
        if self.size == 1:
            return sorted(set(names))
        everyones: list[Any] = [None] * self.size
        dist.all_gather_object(everyones, names)
        return sorted({name for one in everyones for name in one})

    def leave(self) -> None:
        """Part from the others."""
        if self.size > 1:
            dist.destroy_process_group()
