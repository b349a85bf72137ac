"""One explanation of a picture's damage, as a few numbers, with its simple inverse.

Exposure and noise are generic: their models know no corruption of the benchmark. The models of an
operator or a veil were made after such corruptions were looked at.
"""

from dataclasses import dataclass

from torch import Tensor

from dga.explanation.exposure import UNCHANGED, Exposure
from dga.explanation.haze import Haze
from dga.explanation.noise_level import remove_impulses
from dga.explanation.operators import Operator
from dga.explanation.rain import remove_rain
from dga.explanation.veil import Veil
from dga.images import to_levels


@dataclass(frozen=True)
class Degradation:
    """One explanation of a picture's damage; the defaults stand for no damage."""

    exposure: Exposure = UNCHANGED
    """What undoes too little light, or too much."""
    impulses: float | None = None
    """Distance from the neighbours' median, 0 to 2, from which black or white counts as wrong."""
    is_smeared: bool = False
    """Whether any value so far from its neighbours is wrong, since JPEG has smeared impulses."""
    noise: float = 0.0
    """Standard deviation of white noise, pixels in [-1, 1]."""
    operator: Operator | None = None
    """Blocks or blur that were measured."""
    rain: float | None = None
    """Slant of rain's streaks, in pixels across for each pixel down."""
    veil: Veil | Haze | None = None
    """Added light that was measured."""
    glass: float | None = None
    """Pixels by which rough glass spreads (:mod:`dga.explanation.glass`)."""
    warp: float | None = None
    """Waviness of lines that were bent (:mod:`dga.explanation.warp`)."""
    jpeg_quality: int | None = None
    """Quality, 1 to 100, of a poor JPEG."""

    def invert(self, x: Tensor) -> Tensor:
        """The picture without this damage, but for what networks remove: noise, glass, warping and
        JPEG.

        ``x``: ``[3, H, W]`` in [-1, 1]. The result has the same shape and range, at 8-bit
        levels; where there is nothing to undo, it is ``x`` bit for bit.
        """
        if not self.has_measured_inverse:
            return x
        if self.impulses is not None:
            x = remove_impulses(x, self.impulses, self.is_smeared)
        if self.rain is not None:
            x = remove_rain(x, self.rain)
        if self.exposure != UNCHANGED:
            x = self.exposure.apply(x)
        if self.operator:
            x = self.operator.invert(x)
        if self.veil:
            x = self.veil.remove(x)
        return to_levels(x)

    def __str__(self) -> str:
        """What it is, such as ``noise 0.41``, or ``none``."""
        parts = [str(self.exposure)] * (self.exposure != UNCHANGED)
        parts += ["rain"] * (self.rain is not None)
        parts += [str(part) for part in (self.operator, self.veil) if part is not None]
        parts += [] if self.impulses is None else [f"impulses beyond {self.impulses:g}"]
        parts += [f"noise {self.noise:.2f}"] * (self.noise > 0)
        parts += [] if self.glass is None else [f"behind glass that spreads {self.glass:g} px"]
        parts += ["warping"] * (self.warp is not None)
        parts += [] if self.jpeg_quality is None else [f"JPEG of quality {self.jpeg_quality}"]
        return ", ".join(parts) or "none"

    @property
    def has_measured_inverse(self) -> bool:
        """Whether an operator, light, rain or impulses were measured, which an inverse undoes."""
        measured = self.operator, self.impulses, self.rain, self.veil
        return self.exposure != UNCHANGED or any(one is not None for one in measured)

    @property
    def has_moved_pixels(self) -> bool:
        """Whether glass, rough or uneven, moved pixels by what cannot be measured."""
        return self.glass is not None or self.warp is not None


NO_DEGRADATION = Degradation()
