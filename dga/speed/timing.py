"""Seconds and bytes of a piece of work, on a machine that may have other things to do."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from dga.networks.compute import synchronize

Work = Callable[[], object]
RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def best_seconds(work: Mapping[str, Work], repeats: int, device: torch.device) -> dict[str, float]:
    """The best of several runs of each, wall clock.

    They take turns, in an order that is reversed from round to round, so that a busy
    spell of the machine does not fall on one of them alone.
    """
    names = list(work)
    best = dict.fromkeys(names, float("inf"))
    for number in range(repeats):
        for name in names if number % 2 == 0 else reversed(names):
            best[name] = min(best[name], seconds(work[name], device))
    return best


def seconds(work: Work, device: torch.device) -> float:
    """Wall clock of one run, from an idle GPU to an idle GPU."""
    synchronize(device)
    begun = time.perf_counter()
    work()
    synchronize(device)
    return time.perf_counter() - begun


def peak_bytes(work: Work, device: torch.device) -> int:
    """Most memory in use during one run.

    On a GPU what tensors took; on a processor the whole process (its resident set; on
    systems that cannot reset it, since the process began).
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        work()
        return torch.cuda.max_memory_allocated(device)
    try:
        RESET.write_text("5")  # proc(5): resets the peak resident set
    except OSError:
        work()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    work()
    lines = STATUS.read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kilobytes) * 1024


def peak_flops(device: torch.device, dtype: torch.dtype, repeats: int = 5) -> float:
    """What this device reaches in one large matrix product, in FLOP/s."""
    side = 8192 if device.type == "cuda" else 1024
    a = torch.randn(side, side, device=device).to(dtype)
    work = {"product": lambda: a @ a}
    best_seconds(work, 1, device)
    return 2 * side**3 / best_seconds(work, repeats, device)["product"]
