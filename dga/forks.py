"""Networks in forked processes."""

from __future__ import annotations

import functools
import os

import torch


@functools.cache
def survive_forks() -> None:
    """From now on a forked process runs networks, on one thread.

    OpenMP's threads are not forked with it; without this its first large convolution waits
    for them for ever.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
