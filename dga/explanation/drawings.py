"""Pictures that are no photographs: of one colour, drawings, pages, screens and cut-outs."""

import torch
from torch import Tensor

from dga.explanation.exposure import DEVIATION_FLOOR
from dga.explanation.noise_level import measure_distance

PLAIN_REACH = 8
"""A pixel is plain that equals the one so many pixels beside, further than JPEG's blocks reach."""
PLAIN_SHARE = 0.2
"""Share of a page's pixels that are plain, at least."""
PAGE_COLOURS = 0.35
"""Share of its four most common colours, at least. Of 60 undamaged photographs of ``tune`` one has
more of both, of 132 pages, drawings and cut-outs 110."""
PAPER_WHITE, PAPER_BORDER, PAPER_PLAIN = 0.97, 0.7, 0.12
"""Paper is white at so much of the border, in [-1, 1] from so bright on; else of a screen's other
pixels more are plain. Overexposed snow is neither: of 60 photographs of ``tune`` under the
strongest it makes 32 as plain as pages, 8 of them with such a border."""
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

GROUND_LEVELS, GROUND_REACH = 16, 0.19
"""Levels of a channel at which the most common colour is found, and how far others may be from it
to count as the ground."""
PRINTED_GROUND = 0.35
"""Share of ground from which there may be print: JPEG leaves print 0.35 to 0.79."""
STROKE, LEAST_STROKES, LEAST_LINES = 0.4, 0.02, 6.0
"""Strokes are values so far from their neighbours' median; their least share; and the variance of
their number by row, and by column, over its mean, at least. Print is in lines and has 7 to 60;
impulses are strewn and have 1 to 2.4, rain at most 4.4 by one of both."""


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


def is_paper(x: Tensor) -> bool:
    """Whether a picture, ``[3, H, W]`` in [-1, 1], is likely a page, a screen, print or a
    cut-out."""
    return _is_plain(x) or _is_printed(x)


def _is_plain(x: Tensor) -> bool:
    """Whether much of ``[3, H, W]`` is plain, few colours are most of it, and it is of some
    contrast. Photographs have noise and shading nearly everywhere, but for overexposed light.
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
    has_span = float(levels[-1 - rare] - levels[rare]) > LEAST_PAGE_SPAN
    return has_span and not _is_overexposed(sample, is_plain)


def _is_overexposed(x: Tensor, is_plain: Tensor) -> bool:
    """Whether light alone made ``[3, H, W]`` plain where ``is_plain``, ``[H, W - reach]``, says
    so."""
    is_white = (x >= PAPER_WHITE).all(0)
    border = torch.cat([is_white[0], is_white[-1], is_white[:, 0], is_white[:, -1]])
    others = is_plain[(x < 1).any(0)[:, :-PLAIN_REACH]]
    return (
        float(border.float().mean()) < PAPER_BORDER and float(others.float().mean()) < PAPER_PLAIN
    )


def _is_printed(x: Tensor) -> bool:
    """Whether ``[3, H, W]`` is likely small print, which the ringing of JPEG keeps from being
    plain: much is near the most common colour, the ground, and strokes stand on it in lines.
    """
    levels = ((x.flatten(1) + 1) / 2 * (GROUND_LEVELS - 1)).round().long()  # [3, n]
    colours = (levels * levels.new_tensor([[GROUND_LEVELS**2], [GROUND_LEVELS], [1]])).sum(0)
    is_common = colours == colours.bincount().argmax()
    ground = x.flatten(1)[:, is_common].median(1).values
    is_ground = ((x.flatten(1) - ground[:, None]).abs() <= GROUND_REACH).all(0)
    if float(is_ground.float().mean()) < PRINTED_GROUND:
        return False
    is_stroke = (measure_distance(x) > STROKE).any(0).float()
    if float(is_stroke.mean()) < LEAST_STROKES:
        return False
    counts = is_stroke.sum(0), is_stroke.sum(1)
    return all(float(count.var() / count.mean()) > LEAST_LINES for count in counts)
