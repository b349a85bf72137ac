"""Exposure: a picture that is too dark or too bright, and the inverse of that."""

from dataclasses import dataclass

from torch import Tensor

DEVIATION_FLOOR = 0.004
"""Half an 8-bit level, pixels in [-1, 1]. A picture that deviates less holds nothing that a gain
could bring back."""
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
    """An inverse of a change of exposure.

    ``gain``: by which levels are multiplied, so that black stays black; ``black``: level, 0 to 1,
    of a pixel's brightest channel that becomes black before; hues and white stay.
    """

    gain: float = 1.0
    black: float = 0.0

    @property
    def stretch(self) -> float:
        """By how much differences between levels are multiplied."""
        return self.gain / (1 - self.black)

    def apply(self, x: Tensor) -> Tensor:
        """The inverse of ``x``, ``[..., 3, H, W]`` in [-1, 1], clipped to that range."""
        if self.black:
            x = _lower_black(x, self.black)
        return (self.gain * x + (self.gain - 1)).clamp(-1, 1)

    def __str__(self) -> str:
        """Such as ``too bright, black at 0.4``, or ``too dark, gain 2.5``."""
        if self.black:
            return f"too bright, black at {self.black:.2g}"
        return f"too dark, gain {self.gain:.3g}"


def measure_darkness(x: Tensor) -> Exposure | None:
    """The gain about black that brings the lightest pixels of ``[3, H, W]`` to white.

    None where they are light enough or black, too, or all is of one level.
    """
    highest = x.amax(0).flatten()
    lightest = (find_level(highest, 1 - EXTREME_SHARE) + 1) / 2
    if lightest >= DARK or lightest < LEAST_LIGHT or float(highest.std()) < DEVIATION_FLOOR:
        return None
    return Exposure(WHITE / lightest)


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
