"""Batches made ahead of the training loop by worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

Drawn = TypeVar("Drawn")


class _Steps(Dataset, Generic[Drawn]):
    """A data set whose item is the batch of that step."""

    def __init__(self, make: Callable[[int], Drawn]) -> None:
        self.make = make

    def __getitem__(self, step: int) -> Drawn:
        return self.make(step)


class Feed(Generic[Drawn]):
    """``make(step)`` for one step after the other, ``workers`` of them at a time.

    The step alone fixes a batch, so the number of workers changes nothing but the speed.
    """

    def __init__(self, make: Callable[[int], Drawn], steps: int, workers: int) -> None:
        """``steps``: how many the whole run has; without ``workers`` nothing is made ahead."""
        self.make, self.steps, self.workers = make, steps, workers
        self._ahead: Iterator[Drawn] | None = None
        self._next = -1

    def __call__(self, step: int) -> Drawn:
        if not self.workers:
            return self.make(step)
        if self._ahead is None or step != self._next:
            loader = DataLoader(
                _Steps(self.make),
                batch_size=None,
                sampler=range(step, self.steps),
                num_workers=self.workers,
                pin_memory=torch.cuda.is_available(),
                persistent_workers=True,
            )
            self._ahead = iter(loader)
        self._next = step + 1
        return next(self._ahead)
