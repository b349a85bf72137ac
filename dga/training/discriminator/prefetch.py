"""Batches made ahead of the training loop by worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset


class Prefetcher:
    """``batches[step]`` for one step after the other, ``workers`` of them at a time.

    The step alone fixes a batch, so the number of workers changes nothing but the speed.
    """

    def __init__(self, batches: Dataset, steps: int, workers: int) -> None:
        """``steps``: how many the whole run has; without ``workers`` nothing is made ahead."""
        self.batches, self.steps, self.workers = batches, steps, workers
        self._ahead: Iterator[Any] | None = None
        self._next = -1

    def __call__(self, step: int) -> Any:
        if not self.workers:
            return self.batches[step]
        if self._ahead is None or step != self._next:
            loader = DataLoader(
                self.batches,
                batch_size=None,
                sampler=range(step, self.steps),
                num_workers=self.workers,
                pin_memory=torch.cuda.is_available(),
                persistent_workers=True,
            )
            self._ahead = iter(loader)
        self._next = step + 1
        return next(self._ahead)
