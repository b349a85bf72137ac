"""Overlapping windows that cover a picture: how they are cut out and put together again.

Used where a discriminator judges a large picture by windows, and where one is repaired by windows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Grid:
    """Square windows that cover a picture, ``side`` pixels each way.

    ``tops`` and ``lefts``: rows and columns of pixels at which they begin. They are numbered row by
    row.
    """

    tops: tuple[int, ...]
    lefts: tuple[int, ...]
    side: int

    @classmethod
    def over(cls, shape: Sequence[int], side: int, overlap: int) -> Self:
        """Windows evenly over ``[H, W]``, which share ``overlap`` pixels or more with the next."""
        gaps = [math.ceil((length - side) / (side - overlap)) for length in shape]
        tops, lefts = (
            tuple(round(i * (length - side) / max(1, n)) for i in range(n + 1))
            for length, n in zip(shape, gaps, strict=True)
        )
        return cls(tops, lefts, side)

    def corner(self, number: int) -> tuple[int, int]:
        """The top row and the left column of a window."""
        row, column = divmod(number, len(self.lefts))
        return self.tops[row], self.lefts[column]

    def __len__(self) -> int:
        return len(self.tops) * len(self.lefts)

    def cut(self, x: Tensor, numbers: Sequence[int]) -> Tensor:
        """The windows with these numbers, ``[n, C, S, S]``, of a picture, ``[C, H, W]``."""
        side = self.side
        return torch.stack([x[:, i : i + side, j : j + side] for i, j in map(self.corner, numbers)])

    def join(self, windows: Iterable[Tensor], like: Tensor) -> Tensor:
        """Put all windows, ``[3, S, S]`` each, together, faded into each other at their edges.

        ``like``: a picture, ``[3, H, W]``, of the result's shape, on its device.
        """
        total = torch.zeros_like(like)
        fade = torch.hann_window(self.side + 2, periodic=False)[1:-1].clamp(min=0.02)
        for number, window in enumerate(windows):
            i, j = self.corner(number)
            weights = fade.to(window)
            total[:, i : i + self.side, j : j + self.side] += weights[:, None] * weights * window
        sums = []
        for begins in (self.tops, self.lefts):
            sums.append(torch.zeros(begins[-1] + self.side))
            for begin in begins:
                sums[-1][begin : begin + self.side] += fade
        return total / (sums[0][:, None] * sums[1]).to(like)
