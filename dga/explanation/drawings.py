"""Pictures that are no photographs: of one colour, drawings, pages, screens and cut-outs.

Limits without a figure were chosen by hand on every second picture of a set of undamaged pages,
screens, drawings and photographs (trials: assets/results/photo/README.md).
"""

import torch
from torch import Tensor

from dga.explanation.exposure import DEVIATION_FLOOR
from dga.explanation.noise_level import measure_distance

PLAIN_REACH = 8
"""A pixel is plain that equals the one so many pixels beside, further than JPEG's blocks reach."""
PLAIN_SHARE = 0.2
"""Least share of plain pixels on a page."""
PAGE_COLOURS = 0.35
"""Least share of a page's four most common colours. So 110 of 132 pages, drawings and cut-outs are
pages, and one of 60 photographs."""
PAGE_WHITE = 0.97
"""Level in [-1, 1] from which a pixel is white in every channel."""
PAGE_BORDER = 0.7
"""Least share of white along a sheet's border; overexposed snow seldom has as much."""
SCREEN_PLAIN = 0.12
"""Least share of plain pixels among a screen's coloured ones; beside overexposed snow are fewer. Of
60 photographs under snow 32 were pages without these two, 8 are."""
PAGE_SAMPLES = 224
"""Samples a side at which plain pixels and colours are counted."""
COLOUR_LEVELS = 64
"""Levels of a channel at which a page's colours are counted."""
LEAST_PAGE_SPAN = 0.6
"""Least span of a page's grey levels in [-1, 1]; lost contrast makes photographs as plain."""
ONE_COLOUR = 0.99
"""Share of the pixels that have the very same colour in a picture of one colour; single others
would pass for bent lines, or blocks."""
DRAWN_SHARE = 0.75
"""Least share of the pixels at a drawing's two most common levels."""
GROUND_LEVELS = 16
"""Levels of a channel at which the colour of print's ground is found."""
GROUND_REACH = 0.19
"""How far in [-1, 1] a value may be from that colour, and be ground."""
PRINTED_GROUND = 0.35
"""Least share of ground behind print."""
STROKE = 0.4
"""Least distance in [-1, 1] of a stroke from its neighbours' median."""
LEAST_STROKES = 0.02
"""Least share of strokes in print."""
LEAST_LINES = 6.0
"""Least variance of the strokes' number by row, and by column, over its mean: print is in lines. Of
72 prints saved as JPEG 37 lost by a repair before print was known, two do."""


def is_one_colour_or_drawing(x: Tensor) -> bool:
    """Whether a picture, ``[3, H, W]`` in [-1, 1] at 8-bit levels, is of one colour, or a drawing.

    A drawing is grey, has most of its pixels at two levels, and spans an eighth of the range or
    more. The discriminator cannot judge such a picture.
    """
    pixels = x.flatten(1)  # [3, n]
    is_common = (pixels == pixels.median(1, keepdim=True).values).all(0)
    is_one_colour = float(is_common.float().mean()) > ONE_COLOUR
    if is_one_colour or float(x.std((1, 2), correction=0).max()) < DEVIATION_FLOOR:
        return True
    grey = x[0]
    if not torch.equal(x, grey.expand_as(x)) or float(grey.max() - grey.min()) < 0.25:
        return False
    counts = grey.unique(return_counts=True)[1].sort(descending=True).values
    return int(counts[:2].sum()) > DRAWN_SHARE * grey.numel()


def is_page(x: Tensor) -> bool:
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
    colours = _number_colours(((sample.flatten(1) + 1) * (COLOUR_LEVELS / 2)).long())
    if float(colours.bincount(minlength=4).topk(4).values.sum() / len(colours)) <= PAGE_COLOURS:
        return False
    levels, rare = x.mean(0).flatten().sort().values, x[0].numel() // 1000
    has_span = float(levels[-1 - rare] - levels[rare]) > LEAST_PAGE_SPAN
    return has_span and not _is_overexposed(sample, is_plain)


def _is_overexposed(x: Tensor, is_plain: Tensor) -> bool:
    """Whether light alone made ``[3, H, W]`` plain where ``is_plain``, ``[H, W - reach]``, says
    so."""
    is_white = (x >= PAGE_WHITE).all(0)
    border = torch.cat([is_white[0], is_white[-1], is_white[:, 0], is_white[:, -1]])
    others = is_plain[(x < 1).any(0)[:, :-PLAIN_REACH]]
    return (
        float(border.float().mean()) < PAGE_BORDER and float(others.float().mean()) < SCREEN_PLAIN
    )


def _number_colours(levels: Tensor) -> Tensor:
    """A number for each pixel's colour, ``[n]``, of its levels, 0 to 99, ``[3, n]``."""
    return (levels * levels.new_tensor([[10_000], [100], [1]])).sum(0)


def _is_printed(x: Tensor) -> bool:
    """Whether ``[3, H, W]`` is likely small print, which the ringing of JPEG keeps from being
    plain: much is near the most common colour, the ground, and strokes stand on it in lines.
    """
    colours = _number_colours(((x.flatten(1) + 1) / 2 * (GROUND_LEVELS - 1)).round().long())
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
