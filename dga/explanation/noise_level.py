"""How much noise a picture holds already, and the depth of the forward process it matches.

A picture with white Gaussian noise of deviation s *is* a state of the forward process, up to
its scale, at the depth where sqrt((1 - abar) / abar) = s (Carlini et al., "(Certified!!)
Adversarial Robustness for Free!", ICLR 2023, section 3.1).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Schedule

MAD_TO_DEVIATION = 1 / 0.6745
"""From median absolute deviation to standard deviation, for a normal distribution."""


def noise_deviation(x: Tensor) -> Tensor:
    """Standard deviation of white noise, ``[B, 3, H, W]`` in [-1, 1] to ``[B]``.

    The median absolute value of the finest diagonal Haar detail, where pictures have little
    and white noise has its full variance (Donoho and Johnstone, "Ideal spatial adaptation by
    wavelet shrinkage", 1994), averaged over channels. A picture under two pixels a side holds
    no detail: 0.
    """
    height, width = (side - side % 2 for side in x.shape[-2:])
    if not height or not width:
        return x.new_zeros(len(x))
    x = x[..., :height, :width]
    detail = x[..., ::2, ::2] - x[..., 1::2, ::2] - x[..., ::2, 1::2] + x[..., 1::2, 1::2]
    spread = (detail / 2).abs().flatten(2).median(2).values  # [B, 3]
    return spread.mean(1) * MAD_TO_DEVIATION


def matched_depth(schedule: Schedule, deviation: float) -> int:
    """k0: the first depth whose noise, relative to the signal, is at least ``deviation``."""
    ratio = (1 / schedule.alpha_bar - 1).sqrt()  # [T + 1], rising from 0
    return min(int(torch.searchsorted(ratio, deviation)), schedule.steps)


def remove_impulses(x: Tensor, threshold: float) -> Tensor:
    """Replace every value that is far from the median of its 3 x 3 neighbourhood by it.

    ``x``: ``[..., 3, H, W]`` in [-1, 1]; ``threshold``: in the same units. Sparse noise, of
    which a median of details sees nothing, is removed; other values keep their bits.
    (Decision-based median filter: Gonzalez and Woods, section 5.3.)
    """
    height, width = x.shape[-2:]
    flat = x.reshape(-1, 1, height, width)
    around = F.unfold(F.pad(flat, (1, 1, 1, 1), "replicate"), 3).view(-1, 9, height, width)
    median = around.median(1).values.view(x.shape)
    return torch.where((x - median).abs() > threshold, median, x)
