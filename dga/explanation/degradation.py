"""What damaged a picture, with its inverse, and what else is said of it.

Exposure and noise are generic: their models know no corruption of the benchmark. The models of an
operator or a veil were made after such corruptions were looked at.
"""

from dataclasses import dataclass, field
from enum import Enum

from torch import Tensor

from dga.explanation.exposure import Exposure
from dga.explanation.haze import Haze
from dga.explanation.noise_level import remove_impulses
from dga.explanation.operators import Operator
from dga.explanation.rain import remove_rain
from dga.explanation.veil import Veil
from dga.images import to_levels


@dataclass(frozen=True)
class Degradation:
    """One explanation of a picture's damage; the defaults stand for no damage."""

    exposure: Exposure | None = None
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
        if self.exposure:
            x = self.exposure.apply(x)
        if self.operator:
            x = self.operator.invert(x)
        if self.veil:
            x = self.veil.remove(x)
        return to_levels(x)

    def __str__(self) -> str:
        """What it is, such as ``noise 0.41``, or ``none``."""
        whole = self.exposure, self.operator, self.veil
        parts = [str(part) for part in whole if part is not None]
        parts += ["rain"] * (self.rain is not None)
        parts += [] if self.impulses is None else [f"impulses beyond {self.impulses:g}"]
        parts += [f"noise {self.noise:.2f}"] * (self.noise > 0)
        parts += [] if self.glass is None else [f"behind glass that spreads {self.glass:g} px"]
        parts += ["warping"] * (self.warp is not None)
        parts += [] if self.jpeg_quality is None else [f"JPEG of quality {self.jpeg_quality}"]
        return ", ".join(parts) or "none"

    @property
    def has_measured_inverse(self) -> bool:
        """Whether an operator, light, rain or impulses were measured, which an inverse undoes."""
        measured = self.operator, self.exposure, self.impulses, self.rain, self.veil
        return any(one is not None for one in measured)

    @property
    def has_moved_pixels(self) -> bool:
        """Whether glass, rough or uneven, moved pixels by what cannot be measured."""
        return self.glass is not None or self.warp is not None


NO_DEGRADATION = Degradation()


class Verdict(Enum):
    """What is said of a picture as it came, before anything is undone."""

    UNSEARCHED = "no damage was looked for"
    SUSPECT = "it may be damaged, in a way that is recognised or not"
    UNDAMAGED = "it looks like source data, or what was measured as noise is texture"
    UNJUDGEABLE = "it is of one colour or a drawing"


@dataclass(frozen=True)
class Explanation:
    """What damaged a picture. Noise levels are standard deviations, for pixels in [-1, 1]."""

    degradation: Degradation
    """What is to be undone, or mended."""
    entry: int
    """k0: the depth of the forward process at which the picture stands by its own noise."""
    measured_noise: float
    """Noise level of the picture, whether it counts or not; 0.0 where what passes for noise was
    found first."""
    quiet_noise: float = 0.0
    """The same in the quietest part of a photograph, where texture is no noise."""
    verdict: Verdict = Verdict.SUSPECT
    is_page: bool = False
    """Whether the picture is likely a page, a screen, print or a cut-out, of which denoisers have
    seen few (:func:`~dga.explanation.drawings.is_page`)."""
    refused_blur: Degradation | None = None
    """Blur or blocks that were measured and are not undone, mostly because the discriminator
    objected."""
    blur_margin: float = 0.0
    """By how many logits the discriminator prefers the picture without the blur that was undone, or
    refused."""
    seconds: float = 0.0
    """Wall clock of the search; 0.0 where it was not measured."""
    x_0: Tensor | None = field(default=None, compare=False)
    """The reference, ``[3, H, W]``, where it is known already; None: :meth:`invert` computes it."""

    @property
    def is_unjudgeable(self) -> bool:
        """Whether the picture is of one colour or a drawing."""
        return self.verdict is Verdict.UNJUDGEABLE

    @property
    def is_undamaged(self) -> bool:
        """Whether there is nothing to repair."""
        return self.verdict is Verdict.UNDAMAGED

    def invert(self, x: Tensor) -> Tensor:
        """The reference: a picture, ``[3, H, W]``, after the inverse of its damage but noise.

        The forward process begins with it.
        """
        return self.degradation.invert(x) if self.x_0 is None else self.x_0.to(x)
