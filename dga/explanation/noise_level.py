"""How much noise a picture holds already, and the depth of the forward process that this matches.

A picture with white Gaussian noise of deviation s *is* a state of the forward process, up to
its scale, at the depth where sqrt((1 - abar) / abar) = s (Carlini et al., "(Certified!!)
Adversarial Robustness for Free!", ICLR 2023, section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Schedule, draw_step_noise

MAD_TO_DEVIATION = 1 / 0.6745
"""From median absolute deviation to standard deviation, for a normal distribution."""
LUMINANCE, *COLOURS = F.normalize(torch.tensor([[1.0, 1, 1], [1, -1, 0], [1, 1, -2]]), dim=1)
"""Orthonormal directions of a pixel's three channels."""
COLOURLESS = 0.6
"""A colour with less than this share, 0 to 1, of the luminance's noise lacks some."""
BLOCK_SIDE, BLOCK_STEP = 24, 8
"""Pixels a side of the blocks in which noise is measured, and from one to the next; both even."""
BRIGHTNESS_BINS = 12
"""Classes of brightness, each with as many pixels, of :func:`measure_noise_by_brightness`."""
LEAST_IMPULSES, MOST_PAIRED = 0.002, 0.15
"""Share of wrong values from which there are impulses, and by how much a wrong value's neighbour is
wrong more often than any, at most."""
EXTREME, MIXED_EXTREME = 0.68, 0.2
"""Share of black and white among values far from their neighbours from which there are impulses,
beside noise and beside none: of impulse noise 0.73 to 0.99, of shot and Gaussian noise at most 0.63
(assets/results/photo/README.md); fine texture has other such values."""
LEVEL_RATIO = 1.15
"""Factor by which the levels at which a picture is denoised differ, at least."""


def measure_noise(x: Tensor) -> Tensor:
    """Standard deviation of white noise, ``[B, 3, H, W]`` in [-1, 1] to ``[B]``.

    The median absolute value of the finest diagonal Haar detail, where pictures have little
    and white noise has its full variance (Donoho and Johnstone, "Ideal spatial adaptation by
    wavelet shrinkage", 1994), averaged over channels.
    """
    spread = _haar_detail(x).flatten(2).median(2).values  # [B, 3]
    return spread.mean(1) * MAD_TO_DEVIATION


def _haar_detail(x: Tensor) -> Tensor:
    """Absolute value of the finest diagonal Haar detail, ``[..., H // 2, W // 2]``."""
    height, width = (side - side % 2 for side in x.shape[-2:])
    x = x[..., :height, :width]
    detail = x[..., ::2, ::2] - x[..., 1::2, ::2] - x[..., ::2, 1::2] + x[..., 1::2, 1::2]
    return (detail / 2).abs()


def measure_noise_map(x: Tensor) -> Tensor:
    """:func:`measure_noise` around each pixel: ``[C, H, W]`` in [-1, 1] to ``[H, W]``.

    Noise is measured in square blocks of :data:`BLOCK_SIDE` pixels a side, one at every
    :data:`BLOCK_STEP` pixels, then smoothed over neighbouring blocks and interpolated. No side of
    ``x`` is shorter than a block.
    """
    side, step = BLOCK_SIDE // 2, BLOCK_STEP // 2
    detail = _haar_detail(x)  # [C, h, w]
    rows = []
    for top in range(0, detail.shape[1] - side + 1, step):  # one at a time, to bound memory
        strip = detail[:, top : top + side]
        blocks = strip.unfold(2, side, step).movedim(2, 1)  # [C, n, side, side]
        rows.append(blocks.flatten(2).median(2).values.mean(0))
    measured = torch.stack(rows)[None, None] * MAD_TO_DEVIATION
    smooth = F.avg_pool2d(F.pad(measured, (1, 1, 1, 1), "replicate"), 3, 1)
    height, width = (BLOCK_STEP * n for n in measured.shape[2:])
    inner = F.interpolate(smooth, size=(height, width), mode="bilinear", align_corners=False)
    edge = (BLOCK_SIDE - BLOCK_STEP) // 2
    right, below = x.shape[-1] - width - edge, x.shape[-2] - height - edge
    return F.pad(inner, (edge, right, edge, below), "replicate")[0, 0]


def whiten_channels(x: Tensor, noise: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Add noise to the colours of a picture whose noise is nearly the same in all channels.

    Grey photographs have such noise, and so have photographs of which JPEG has stored less of the
    colours than of the luminance; but in a state of the forward process the channels' noise is
    independent. ``x``: ``[3, H, W]`` in [-1, 1]; ``noise``: its noise map, ``[H, W]``, 0 where
    nothing is to be added. Returns both, changed so that each colour has the luminance's noise.
    """
    least = COLOURLESS * float(measure_noise(_project(LUMINANCE, x)[None]))
    lacking = [c for c in COLOURS if float(measure_noise(_project(c, x)[None])) < least]
    if not lacking:
        return x, noise
    luminance, white = measure_noise_map(_project(LUMINANCE, x)), x.clone()
    drawn = draw_step_noise(seed, "forward", 0, x.shape)  # the forward process begins with depth 1
    for colour, more in zip(lacking, drawn, strict=False):
        level = measure_noise_map(_project(colour, x)).square()
        missing = (luminance.square() - level).clamp(min=0).sqrt()
        white += colour.view(3, 1, 1) * torch.where(noise > 0, missing * more, 0)
    return white, torch.where(noise > 0, torch.maximum(noise, luminance), noise)


def _project(direction: Tensor, x: Tensor) -> Tensor:
    return torch.einsum("c,chw->hw", direction, x)[None]


def measure_noise_by_brightness(x: Tensor, noise: Tensor) -> Tensor:
    """A noise map for noise that depends on the brightness, as that of few photons does.

    ``x``: ``[3, H, W]`` in [-1, 1]; ``noise``: its noise map as measured, ``[H, W]``. Pixels are
    sorted into :data:`BRIGHTNESS_BINS` by their brightness, and all pixels of a bin get the same
    level: the root mean square of their finest detail.
    """
    bright = _smooth(x.mean(0))
    some = bright.flatten()[:: max(5, bright.numel() >> 23)]  # torch's limit is 2^24
    edges = torch.quantile(some, torch.linspace(0, 1, BRIGHTNESS_BINS + 1))[1:-1]
    bin_index = torch.bucketize(bright.contiguous(), edges).flatten()
    detail, inside = _haar_detail(x).square().mean(0), _smooth(bright)[..., ::2, ::2]
    inside = inside[: detail.shape[0], : detail.shape[1]]
    detail_bin = torch.bucketize(inside.contiguous(), edges).flatten()
    sums = torch.bincount(detail_bin, detail.flatten(), BRIGHTNESS_BINS)
    counts = torch.bincount(detail_bin, minlength=BRIGHTNESS_BINS)
    expected = (sums / counts.clamp(min=1)).sqrt()
    return torch.where(noise > 0, expected[bin_index].view(noise.shape), 0)


def _smooth(x: Tensor) -> Tensor:
    """The mean of 9 x 9 pixels around each, ``[H, W]``."""
    return F.avg_pool2d(F.pad(x[None, None], (4,) * 4, "replicate"), 9, 1)[0, 0]


def choose_noise_levels(noise: Tensor, most: int) -> tuple[float, ...]:
    """At most ``most`` levels that span a picture's noise map, ``[H, W]``, rising.

    Of two levels that differ by less than a factor of :data:`LEVEL_RATIO` the lower one is left
    out; pixels without noise do not count.
    """
    some = noise[noise > 0][::7]
    shares = torch.linspace(0.05, 0.97, most) if most > 1 else torch.tensor([0.9])
    levels: list[float] = []
    for level in torch.quantile(some[:: 1 + len(some) // 100_000], shares).flip(0).tolist():
        if not levels or levels[-1] > LEVEL_RATIO * level:
            levels.append(level)
    return tuple(reversed(levels))


def compute_level_weights(noise: Tensor, levels: Sequence[float]) -> Tensor:
    """By which weights each pixel is mixed from the levels, ``[1 + L, H, W]``.

    The first weight is that of the picture without denoising. A pixel whose noise lies between two
    levels is mixed from both, linearly.
    """
    at = torch.tensor(levels).view(-1, 1, 1)
    is_noisy = (noise > 0).float()[None]
    share = ((noise - at[:-1]) / at.diff(dim=0)).clamp(0, 1)  # of the way to the next level
    # How much of each pixel lies at a level or above it, from no level to beyond the last.
    reached = torch.cat([torch.ones_like(is_noisy), is_noisy, share, torch.zeros_like(is_noisy)])
    return reached[:-1] - reached[1:]


def find_matched_depth(schedule: Schedule, deviation: float) -> int:
    """k0: the first depth whose noise, relative to the signal, is at least ``deviation``."""
    ratio = (1 / schedule.alpha_bar - 1).sqrt()  # [T + 1], rising from 0
    return min(int(torch.searchsorted(ratio, deviation)), schedule.steps)


def remove_impulses(x: Tensor, threshold: float) -> Tensor:
    """Replace every value that is far from the median of its 3 x 3 neighbourhood by it.

    ``x``: ``[..., 3, H, W]`` in [-1, 1]; ``threshold``: in the same units. Sparse noise, of
    which a median of details sees nothing, is removed; other values keep their bits.
    (Decision-based median filter: Gonzalez and Woods, section 5.3.)
    """
    from scipy import ndimage  # here: the page is served before it is imported

    planes = x.reshape(-1, *x.shape[-2:]).cpu().numpy()
    filtered = ndimage.median_filter(planes, (1, 3, 3), mode="nearest")
    median = torch.from_numpy(filtered).reshape(x.shape).to(x)
    return torch.where((x - median).abs() > threshold, median, x)


def has_impulses(x: Tensor, threshold: float, is_noisy: bool) -> bool:
    """Whether some values of a picture, ``[3, H, W]``, are wrong: black or white, far from their
    neighbours' median, and strewn at random. Small print is in lines, and where other noise is
    strong (``is_noisy``) most of what is far from its neighbours has to be of this kind."""
    is_far = remove_impulses(x, threshold) != x
    is_wrong = is_far & (x.abs() >= 1)
    share, share_of_far = (float(is_wrong.sum() / n) for n in (x.numel(), is_far.sum().clamp(1)))
    if share < LEAST_IMPULSES or share_of_far < (EXTREME if is_noisy else MIXED_EXTREME):
        return False
    pairs = float((is_wrong[..., 1:] & is_wrong[..., :-1]).float().mean()) / share
    return pairs < MOST_PAIRED + share
