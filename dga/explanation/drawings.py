"""Pictures that are no photographs: of one colour, drawings, pages, screens and cut-outs."""

import torch
from torch import Tensor

from dga.explanation.exposure import DEVIATION_FLOOR

PLAIN_REACH = 8
"""A pixel is plain that equals the one so many pixels beside, further than JPEG's blocks reach."""
PLAIN_SHARE = 0.2
"""Share of a page's pixels that are plain, at least."""
PAGE_COLOURS = 0.35
"""Share of its four most common colours, at least. Of 60 undamaged photographs of ``tune`` one has
more of both, of 132 pages, drawings and cut-outs 110."""
PAGE_SAMPLES = 224
"""Samples a side at which these are counted."""
COLOUR_LEVELS = 64
"""Levels of a channel at which colours are counted."""
LEAST_PAGE_SPAN = 0.6
"""Of a page's grey levels, black -1 and white 1, without its darkest and lightest thousandth. Lost
contrast makes a photograph as plain as a page: of ``tune`` at most 0.44, of undamaged pages at
least 0.86."""
DRAWN_SHARE = 0.75
"""Share of the pixels at a drawing's two most common levels, at least. Of 1,475 photographs the
grey ones, overexposed ones among them, have at most 0.73 there."""


def is_one_colour_or_drawing(x: Tensor) -> bool:
    """Whether a picture, ``[3, H, W]`` in [-1, 1] at 8-bit levels, is of one colour, or a drawing.

    A drawing is grey, has most of its pixels at two levels, and spans an eighth of the range or
    more. The discriminator cannot judge such a picture.
    """
    if float(x.std((1, 2), correction=0).max()) < DEVIATION_FLOOR:
        return True
    grey = x[0]
    if not torch.equal(x, grey.expand_as(x)) or float(grey.max() - grey.min()) < 0.25:
        return False
    counts = grey.unique(return_counts=True)[1].sort(descending=True).values
    return int(counts[:2].sum()) > DRAWN_SHARE * grey.numel()


def is_page(x: Tensor) -> bool:
    """Whether a picture, ``[3, H, W]``, is likely a page, a screen or a cut-out: much is plain, few
    colours are most of it, and it is of some contrast. Photographs have noise and shading nearly
    everywhere.
    """
    stride = max(1, min(x.shape[1:]) // PAGE_SAMPLES)
    sample = x[:, ::stride, ::stride]
    is_plain = (sample[..., PLAIN_REACH:] == sample[..., :-PLAIN_REACH]).all(0)
    if not is_plain.numel() or float(is_plain.float().mean()) < PLAIN_SHARE:
        return False
    levels = ((sample.flatten(1) + 1) * (COLOUR_LEVELS / 2)).long()  # [3, n]
    colours = (levels * levels.new_tensor([[1], [100], [10_000]])).sum(0)
    counts = colours.unique(return_counts=True)[1]
    if float(counts.topk(min(4, len(counts))).values.sum() / counts.sum()) <= PAGE_COLOURS:
        return False
    levels, rare = x.mean(0).flatten().sort().values, x[0].numel() // 1000
    return float(levels[-1 - rare] - levels[rare]) > LEAST_PAGE_SPAN
