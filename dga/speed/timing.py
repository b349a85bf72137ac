"""Seconds and bytes of a piece of work, on a machine that may have other things to do."""

import math
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

Work = Callable[[], object]
Done = Callable[[float], object]
"""Hears after every run what share it was of all."""
RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass(frozen=True)
class TimingPlan:
    """What is timed; as it stands, in a few minutes on a processor.

    ``steps``: of a whole reconstruction, of which ``timed`` are run and the rest
    reckoned, since every step costs the same; ``repeats``: the best of so many counts, or
    of fewer where they took ``enough`` seconds (``None``: never). ``against``: whether the
    published way is timed too.
    """

    batches: tuple[int, ...] = (1, 8, 32)
    steps: int = 50
    timed: int = 2
    repeats: int = 3
    enough: float | None = 3.0
    against: bool = True

    def __post_init__(self) -> None:
        if not self.batches or min(*self.batches, 1) < 1:
            raise ValueError("Batches are whole numbers from 1 up.")
        if not 1 <= self.timed <= self.steps:
            raise ValueError(f"Timed steps are from 1 to {self.steps}, not {self.timed}.")
        if self.repeats < 1:
            raise ValueError("At least one repeat is needed.")


THOROUGH = TimingPlan(timed=10, enough=None)


def best_seconds(
    work: Mapping[str, Work],
    repeats: int,
    device: torch.device,
    enough: float | None = None,
    done: Done = lambda share: None,
) -> dict[str, float]:
    """The best of several runs of each, wall clock; none is run again after ``enough`` seconds.

    They take turns, in an order that is reversed from round to round, so that a busy
    spell of the machine does not fall on one of them alone.
    """
    names = list(work)
    best, spent = dict.fromkeys(names, math.inf), dict.fromkeys(names, 0.0)
    for number in range(repeats):
        for name in names if number % 2 == 0 else reversed(names):
            if enough is None or spent[name] < enough:
                taken = seconds(work[name], device)
                best[name], spent[name] = min(best[name], taken), spent[name] + taken
            done(1 / (repeats * len(names)))
    return best


def seconds(work: Work, device: torch.device) -> float:
    """Wall clock of one run, from an idle GPU to an idle GPU."""
    wait = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    wait()
    begun = time.perf_counter()
    work()
    wait()
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
