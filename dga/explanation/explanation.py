"""What is said of a picture: what damaged it, how sure that is, and what undoes it."""

from dataclasses import dataclass, field
from enum import Enum

from torch import Tensor

from dga.explanation.degradation import Degradation


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
