"""Whole photographs: a depth for each place. Ours, not the paper's.

A photograph is a batch of overlapping windows of the networks' size. Exposure and sharpness are
explained once, for the whole; then each window has its own noise and its own t*, and
:func:`dga.pipeline.run` repairs them like any batch. Where noise is uneven within a window, each
pixel is given only what it lacks, so that the window stands at one depth and an ordinary denoiser
can take all of it out. (SVNR, Pearl et al., 2023, trains a denoiser that is told a time for every
pixel instead.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from dga.discriminator import Judged
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.noise_level import matched_depth, noise_map
from dga.explanation.search import Explanation, Scored, explain, judge
from dga.explanation.sharpness import reach
from dga.images import Pixels, from_tensor, to_pixels, to_square, to_tensor
from dga.networks.models import Models
from dga.pipeline import Exchange, Rebuilt, Sample, Stopped, drain, judged_path, run
from dga.profiles import End, PhotographConfig, Repair

AT_ONCE = 64
"""Windows repaired together; bounds memory."""
STATISTICS_SIDE = 1024
"""Of larger photographs every n-th pixel is counted where only means are needed."""


@dataclass(frozen=True)
class Photograph:
    """A repaired photograph.

    ``image``: uint8 ``[H, W, 3]``; ``explanation``: of the whole; ``noise``: standard deviation of
    the noise that each pixel holds, float32 ``[H, W]`` in [-1, 1], 0 where it counts as none;
    ``rows``, ``columns``: first pixels of the windows; ``depths``: t* of each, ``[rows, columns]``.
    """

    image: Pixels
    explanation: Explanation
    noise: NDArray[np.float32]
    rows: Sequence[int]
    columns: Sequence[int]
    depths: NDArray[np.int64]
    unchanged: bool
    seconds: float


@dataclass(frozen=True)
class Repaired:
    """Event: so many windows are finished, of how many; ``image``: as far as it is repaired."""

    done: int
    total: int
    image: Pixels


def starts(side: int, window: int, overlap: int) -> list[int]:
    """First pixels of windows that cover ``side`` pixels, neighbours sharing ``overlap`` at least.

    They are spread evenly, so that none lies nearly on another.
    """
    count = max(1, math.ceil((side - overlap) / (window - overlap)))
    return [round(i * (side - window) / max(1, count - 1)) for i in range(count)]


class Window(Sample):
    """A window whose explanation is known; ``level``: noise of its pixels, ``[S, S]``."""

    def __init__(
        self, models: Models, x: Tensor, seed: int, found: Explanation, level: Tensor
    ) -> None:
        super().__init__(models, x, seed)
        self.found, self.level = found, level
