"""Exposure: a picture that became darker, brighter or flatter, and simple inverses of that.

The model is photometric: every pixel was scaled about some grey level, and moved. It is not made
for one corruption; fog, contrast, brightness and bad light are all partly of this kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

DEVIATION_FLOOR = 0.004
"""Half an 8-bit level, pixels in [-1, 1]. A picture that deviates less holds nothing that a gain
could bring back."""
DEVIATION_LIMIT = 0.6
"""Photographs, pixels in [-1, 1], deviate less than this from their mean; no gain goes beyond."""
SOURCE_MEAN = -0.1
"""Mean grey level of source pictures, pixels in [-1, 1]: ImageNet's, 0.45 in [0, 1]."""
EXTREME_SHARE = 0.005
"""Share of the pixels that count as a picture's lightest, or darkest."""
DARK = 0.5
"""Level, 0 to 1, below which the lightest pixels of a dark picture lie. Of 688 undamaged
photographs none is darker, of 40 underexposed at strength 5 all are."""
LEAST_LIGHT = 0.02
"""Level, 0 to 1, of the lightest pixels below which no gain is measured: the rest is black, as
around stars."""
WHITE = 0.95
"""Level, 0 to 1, to which they are brought."""
BRIGHT = 0.42
"""Level, 0 to 1, above which the darkest pixels' brightest channel lies in a picture that is too
bright. Of 120 photographs under brightness 5 all are brighter, 96 once saved as JPEG 85, and of 120
undamaged ones one."""
LIFTED_SHARE = 0.9
"""Share of that level which becomes black. So 79 % of these are read right, by gains about white
72, by half of it and a gamma 78."""


@dataclass(frozen=True)
class Exposure:
    """An inverse of a change of exposure: ``gain x + offset``, with an ``offset`` per channel.

    ``black``: level, 0 to 1, of a pixel's brightest channel that becomes black before; hues and
    white stay.
    """

    gain: float = 1.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    black: float = 0.0

    @property
    def stretch(self) -> float:
        """By how much differences between levels are multiplied."""
        return self.gain / (1 - self.black)

    def apply(self, x: Tensor) -> Tensor:
        """The inverse of ``x``, ``[..., 3, H, W]`` in [-1, 1], clipped to that range."""
        if self.black:
            x = _lower_black(x, self.black)
        offset = x.new_tensor(self.offset).view(3, 1, 1)
        return (self.gain * x + offset).clamp(-1, 1)

    def __str__(self) -> str:
        """Such as ``too bright, black at 0.4``, ``too dark, gain 2.5``, where black stays black,
        or ``gain 2, offset ...``."""
        if self.black:
            return f"too bright, black at {self.black:.2g}"
        if self.gain > 1 and set(self.offset) == {self.gain - 1}:
            return f"too dark, gain {self.gain:.3g}"
        offset = "/".join(f"{o:+.2f}" for o in self.offset)
        return f"gain {self.gain:.3g}, " * (self.gain != 1) + f"offset {offset}"


UNCHANGED = Exposure()


def measure_darkness(x: Tensor) -> Exposure | None:
    """The gain about black that brings the lightest pixels of ``[3, H, W]`` to white.

    None where they are light enough or black, too, or all is of one level.
    """
    highest = x.amax(0).flatten()
    lightest = (find_level(highest, 1 - EXTREME_SHARE) + 1) / 2
    if lightest >= DARK or lightest < LEAST_LIGHT or float(highest.std()) < DEVIATION_FLOOR:
        return None
    gain = WHITE / lightest
    return Exposure(gain, (gain - 1, gain - 1, gain - 1))


def measure_brightness(x: Tensor) -> Exposure | None:
    """The level that was added to all pixels of ``[3, H, W]``, as black; None where some are dark,
    or all are of one level."""
    highest = x.amax(0).flatten()
    darkest = (find_level(highest, EXTREME_SHARE) + 1) / 2
    if darkest <= BRIGHT or float(highest.std()) < DEVIATION_FLOOR:
        return None
    return Exposure(black=LIFTED_SHARE * darkest)


def find_level(values: Tensor, share: float) -> float:
    """The value that this share of ``values``, ``[n]``, does not exceed."""
    return float(values.kthvalue(max(1, round(share * len(values)))).values)


def find_range(x: Tensor) -> tuple[float, float]:
    """The levels of ``x``, of any shape, beyond which :data:`EXTREME_SHARE` of it lies, each."""
    levels = x.flatten().sort().values
    rank = round(EXTREME_SHARE * (len(levels) - 1))
    return float(levels[rank]), float(levels[-1 - rank])


def _lower_black(x: Tensor, black: float) -> Tensor:
    """Lower each pixel's brightest channel, with the others, so that ``black`` becomes 0."""
    levels = (x + 1) / 2
    highest = levels.amax(-3, keepdim=True)
    lowered = (highest - black).clamp(min=0) / (1 - black)
    return 2 * levels * lowered / highest.clamp(min=1e-6) - 1


@dataclass(frozen=True)
class Stretch:
    """A candidate: ``gain`` about the mean of the whole picture, or of each channel.

    ``target``: where that mean goes, to itself, to the picture's own grey level or to that of
    source pictures.
    """

    gain: float
    centre: Literal["grey", "channel"]
    target: Literal["own", "grey", "source"]

    def to_exposure(self, x: Tensor) -> Exposure | None:
        """The exposure that this candidate is for ``x``, ``[3, H, W]`` in [-1, 1].

        None where the picture is too flat for a gain to mean anything, or where the result would
        deviate more than photographs do.
        """
        means = x.mean((1, 2))  # [3]
        grey = means.mean().expand(3)
        about = means if self.centre == "channel" else grey
        deviation = float((x - about.view(3, 1, 1)).square().mean().sqrt())
        if self.gain > 1 and not DEVIATION_FLOOR <= deviation <= DEVIATION_LIMIT / self.gain:
            return None
        moved = {"own": about, "grey": grey, "source": torch.full_like(means, SOURCE_MEAN)}
        red, green, blue = (moved[self.target] - self.gain * about).tolist()
        return Exposure(self.gain, (red, green, blue))


def list_stretches(gains: Sequence[float]) -> Iterator[Stretch]:
    """All candidates: each gain about either mean, to every target that makes a difference."""
    for gain in gains:
        if gain != 1:
            yield Stretch(gain, "channel", "own")
            yield Stretch(gain, "grey", "own")
        yield Stretch(gain, "channel", "source")
        yield Stretch(gain, "channel", "grey")
        yield Stretch(gain, "grey", "source")
