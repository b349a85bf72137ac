"""Veils: light that fog, frost, snow or glare added to a picture, and simple inverses of that.

The model is y = g (x + v) with a veil v that is grey, or of one colour, and never darkens. What it
cannot do is leave anything black, and that is how it is recognised (the dark channel of He et al.,
"Single Image Haze Removal Using Dark Channel Prior", 2009). Which of three inverses is due is
measured, too: a smooth veil is taken off, lost contrast or lost colour is brought back.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.exposure import DEVIATION_FLOOR

WORKING_SIDE = 112
"""Samples a side at which a smooth veil is estimated, whatever the picture's size."""
CORNER = 8.0
"""Periods a picture at which a veil costs as much as the gradients that it explains."""
ROUNDS = 25
"""Of the splitting; the estimate changes little after fifteen."""


@dataclass(frozen=True)
class Veil:
    """An inverse of added light; the defaults are none at all.

    ``smooth``: an uneven grey veil is estimated and subtracted first; ``cast``: each channel is
    centred by itself, not all by their grey level; ``gamma``: exponent of levels in [0, 1], above 1
    darkens; ``gain`` of grey and ``colour`` of what differs from grey, about the mean, which goes
    to ``target``.
    """

    smooth: bool = False
    cast: bool = False
    gamma: float = 1.0
    gain: float = 1.0
    colour: float = 1.0
    target: float = -0.1

    def remove(self, x: Tensor) -> Tensor:
        """``[..., 3, H, W]`` in [-1, 1], clipped to it again."""
        if self.smooth:
            x = x - smooth_veil(x.mean(-3, keepdim=True))
        if self.gamma != 1:
            x = 2 * ((x + 1) / 2).clamp(min=0) ** self.gamma - 1
        mean = x.mean((-2, -1), keepdim=True)
        x = x - (mean if self.cast else mean.mean(-3, keepdim=True))
        grey = x.mean(-3, keepdim=True)
        return (self.gain * grey + self.colour * (x - grey) + self.target).clamp(-1, 1)

    def __str__(self) -> str:
        """``uneven veil, gain 5.1, colour 7.6``."""
        parts = ["uneven veil"] * self.smooth + ["colour cast"] * self.cast
        parts += [f"gamma {self.gamma:g}"] * (self.gamma != 1)
        return ", ".join([*parts, f"gain {self.gain:.3g}", f"colour {self.colour:.3g}"])


def smooth_veil(grey: Tensor) -> Tensor:
    """The smooth part of ``[..., 1, H, W]``, of mean 0: argmin_v t |grad(grey - v)| + P v².

    Photographs have few, strong gradients; a veil has weak ones everywhere, and a spectrum that
    falls as f^-4. Split by ADMM, each round one cosine transform; ``t`` is the picture's own
    root-mean-square gradient, so that contrast does not matter.
    """
    side, flat = WORKING_SIDE, grey.reshape(-1, 1, *grey.shape[-2:])
    small = F.interpolate(flat, size=(side, side), mode="area")[:, 0].double().cpu().numpy()
    veil = torch.from_numpy(_split(small))[:, None].to(grey)
    return F.interpolate(veil, size=grey.shape[-2:], mode="bicubic").reshape(grey.shape)


def _split(small: NDArray[np.float64]) -> NDArray[np.float64]:
    """The veil of square pictures, ``[n, S, S]``, as :func:`smooth_veil` says."""
    from scipy.fft import dctn, idctn  # here: the page must not wait for it

    side = small.shape[-1]
    target, frequency = _gradient(small), np.arange(side)
    laplace = 2 - 2 * np.cos(np.pi * frequency / side)
    laplace = laplace[:, None] + laplace
    squared = (frequency[:, None] ** 2 + frequency**2) / (2 * CORNER) ** 2
    cost = np.maximum(laplace * (1 + squared), 1e-12)
    threshold = np.sqrt((target**2).sum(0).mean((1, 2), keepdims=True)) + 1e-9
    veil, dual = np.zeros_like(small), np.zeros_like(target)
    for _ in range(ROUNDS):
        rest = target - _gradient(veil) + dual
        kept = rest * np.maximum(0, 1 - threshold / np.maximum(np.hypot(*rest), 1e-9))
        dual = rest - kept
        spectrum = dctn(_minus_divergence(target + dual - kept), axes=(1, 2), norm="ortho")
        spectrum[:, 0, 0] = 0
        veil = idctn(spectrum / cost, axes=(1, 2), norm="ortho")
    return veil


def _gradient(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of ``[n, H, W]``, down and right, 0 at the far border: ``[2, n, H, W]``."""
    down = np.diff(a, axis=1, append=a[:, -1:])
    return np.stack([down, np.diff(a, axis=2, append=a[:, :, -1:])])


def _minus_divergence(g: NDArray[np.float64]) -> NDArray[np.float64]:
    """The adjoint of :func:`_gradient`."""
    down = -np.diff(g[0, :, :-1], axis=1, prepend=0, append=0)
    return down - np.diff(g[1, :, :, :-1], axis=2, prepend=0, append=0)


# From when a veil is believed, and how far it is undone; in [-1, 1], chosen at 224 px.
LIFTED, COLOURED = -0.58, 0.28
"""Light was added where the darkest hundredth of the darkest channel and 0.3 of the mean lie above
the one, and mean saturation below the other."""
FLAT, EVEN, DEVIATION = 0.13, 0.32, 0.55
"""Contrast was lost where grey deviates less than the first, with light added than the second:
then to the third again."""
GLARE = (1.6, 1.1, 2.2)
"""Gamma, gain and colour of added light elsewhere."""
SMOOTHER, BLURRED = 1.9, 9.0
"""A smooth veil deviates so many times as much as the rest; more is blur."""
PALE, DARKEST, WHITE = 0.2, -0.9, 0.003
"""Where there is one, saturation is below the first, the darkest hundredth above the second, and
at most the third is white, as a share."""
UNVEILED, COLOUR = 0.45, 1.5
"""Deviation to which the rest is brought, and its colour's gain by that of grey."""


def measure_veil(x: Tensor) -> Veil | None:
    """The veil of a picture, ``[3, H, W]`` in [-1, 1]; None where none is measured."""
    grey, low, high = x.mean(0, keepdim=True), x.amin(0), x.amax(0)
    dark = float(low.flatten().kthvalue(max(1, round(0.01 * low.numel()))).values)
    deviation = float(grey.std())
    if deviation < DEVIATION_FLOOR:
        return None
    saturation = float(((high - low) / (high + 1.001)).mean())
    pale = saturation < PALE and dark > DARKEST and deviation > FLAT
    if pale and float((low >= 0.99).float().mean()) < WHITE:
        veil = smooth_veil(grey)
        rest = float((grey - veil).std())
        if SMOOTHER * rest < float(veil.std()) < BLURRED * rest:
            gain = UNVEILED / rest
            return Veil(smooth=True, gain=gain, colour=COLOUR * gain)
    lifted = dark + 0.3 * float(x.mean()) > LIFTED and saturation < COLOURED
    if deviation < (EVEN if lifted else FLAT):
        gain = max(1.0, DEVIATION / deviation)
        return Veil(cast=True, gain=gain, colour=gain)
    return Veil(False, False, *GLARE) if lifted else None
