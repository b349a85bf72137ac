"""What a picture may have suffered, as a few numbers, and the simple inverse of that.

Exposure, sharpness and noise are generic and know no corruption of the benchmark; a measured
operator or veil is what such damage is like, which was seen there.
"""

from dataclasses import dataclass, replace

from torch import Tensor

from dga.explanation.exposure import UNCHANGED, Exposure
from dga.explanation.noise_level import remove_impulses
from dga.explanation.operators import Operator
from dga.explanation.sharpness import disk, wiener
from dga.explanation.veil import Veil
from dga.images import to_levels


@dataclass(frozen=True)
class Degradation:
    """One explanation of a picture's damage; the defaults are none at all.

    ``exposure``: what undoes it, a gain and an offset a channel; ``operator``: blocks or blur that
    was measured; ``veil``: added light, likewise; ``blur``: radius of a disk in pixels that was
    judged; ``regularisation``: noise-to-signal ratio of the Wiener filter against it;
    ``impulses``: distance from the neighbours' median, in [0, 2], from which a value counts as
    wrong; ``noise``: standard deviation of white noise in [-1, 1].
    """

    exposure: Exposure = UNCHANGED
    blur: float = 0.0
    regularisation: float = 0.0
    impulses: float | None = None
    noise: float = 0.0
    operator: Operator | None = None
    veil: Veil | None = None

    def inverse(self, x: Tensor) -> Tensor:
        """The picture without this damage, but for its noise, which diffusion removes.

        ``x``: ``[..., 3, H, W]`` in [-1, 1]; so is the result, in 8-bit levels. With nothing
        to undo it is ``x``, bit for bit.
        """
        if self.nothing_to_invert:
            return x
        if self.impulses is not None:
            x = remove_impulses(x, self.impulses)
        if self.exposure != UNCHANGED:
            x = self.exposure.apply(x)
        if self.blur:
            x = wiener(x, disk(self.blur), self.regularisation)
        if self.operator:
            x = self.operator.invert(x)
        if self.veil:
            x = self.veil.remove(x)
        return to_levels(x)

    def __str__(self) -> str:
        """``none``, or what there is: ``gain 3, blur 2 px, noise 0.41``."""
        wordings = {
            "gain {:.3g}": self.exposure.gain if self.exposure.gain != 1 else None,
            "offset {}": "/".join(f"{o:+.2f}" for o in self.exposure.offset)
            if self.exposure != UNCHANGED
            else None,
            "blur {:g} px": self.blur or None,
            "{}": self.operator or self.veil,
            "impulses beyond {:g}": self.impulses,
            "noise {:.2f}": self.noise or None,
        }
        parts = [form.format(value) for form, value in wordings.items() if value is not None]
        return ", ".join(parts) or "none"

    @property
    def kinds(self) -> list[str]:
        """Which there are, in order: an operator's, veil, exposure, blur, impulses and noise."""
        kinds = {
            "exposure": self.exposure != UNCHANGED,
            "blur": self.blur,
            "impulses": self.impulses is not None,
            "noise": self.noise,
        }
        measured = [self.operator.kind] if self.operator else []
        measured += ["veil"] if self.veil else []
        return measured + [name for name, is_there in kinds.items() if is_there]

    @property
    def nothing_to_invert(self) -> bool:
        """Whether there is no damage, or noise alone."""
        return replace(self, noise=0.0) == NO_DEGRADATION


NO_DEGRADATION = Degradation()
