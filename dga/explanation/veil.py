"""Veils: light that fog, frost, snow or glare added to a picture, and four simple inverses.

The model is y = g (x + v): a veil v, grey or of one colour, is added to the picture x, and all is
scaled by g. A veil leaves nothing black, by which it is recognised (the dark channel of He et al.,
"Single Image Haze Removal Using Dark Channel Prior", 2009). The inverses: an uneven
veil is estimated and subtracted; contrast lost in added light is stretched about the mean of
photographs, without added light about the picture's own mean; glare is darkened by a gamma. Haze
that thickens with the distance has a law of its own (:mod:`dga.explanation.haze`).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from dga.explanation.blur import is_blurred
from dga.explanation.exposure import DEVIATION_FLOOR, find_level, find_range
from dga.explanation.haze import WORKING_SIDE, Haze, measure_haze
from dga.explanation.streaks import measure_streaks, remove_streaks

CORNER = 8.0
"""Spatial frequency, in periods a picture, at which a veil in :func:`estimate_smooth_veil` costs as
much as the gradients that it explains; higher ones cost more."""
ROUNDS = 25
"""Iterations of :func:`estimate_smooth_veil`; the estimate changes little after fifteen."""

# Limits by which a veil is recognised, and how far it is undone. Levels and standard deviations
# are of pixels in [-1, 1]; "dark" is the level of the darkest hundredth of each pixel's darkest
# channel.
BLACK = -0.9
"""Where dark is no higher, something is black: there is no veil."""
LIGHT_LEVEL = -0.58
LIGHT_SATURATION = 0.28
"""Where light was added, dark + 0.3 mean is above that level, and mean saturation below this."""
FLAT_DEVIATION = 0.13
"""Contrast was lost where grey deviates less than this."""
HAZY_MEAN = 0.3
HAZY_GAIN = 12.0
"""No light was added to a flat picture whose mean grey is below that level (haze is lighter), or
that lacks more than this gain (through such a haze nothing is seen)."""
COLOUR_SHARE = 0.8
"""Share of grey's gain that colours have then: of so few levels, most of their change is rounding
or JPEG."""
VEILED_DEVIATION = 0.32
"""Contrast was lost where light was added and grey deviates less than this."""
STRETCHED_DEVIATION = 0.55
"""Deviation to which lost contrast is stretched. Of 60 photographs under contrast 5 and 3 it has
80.0 and 80.0 % read right, 0.4 81.7 and 76.7, 0.7 78.3 and 78.3."""
SURE_GAIN = 4.0
"""Gain below which that is not done to a blurred picture, which may have been pale before."""
SMOOTH_RATIO = 1.9
"""An uneven veil deviates more than so many times as much as the rest of the picture."""
UNEVEN_SATURATION = 0.2
UNEVEN_WHITE = 0.003
"""Under an uneven veil, mean saturation and the share of white pixels are below these."""
MOST_EQUAL = 0.6
"""Share of equal neighbours, down or across, beyond which shading is drawn and no uneven veil. Of
320 uneven veils of weather none has more than 0.56."""
UNEVEN_SHARE = 0.9
"""Share of an uneven veil that is subtracted: its estimate holds shading of the picture, too. Of
300 photographs under fog 5 0.95, 0.9 and 0.85 have 59.8, 60.1 and 60.1 % read right, all of it
57.7."""
UNEVEN_COLOUR = 1.25
"""Gain of the rest's colour as a multiple of grey's."""


@dataclass(frozen=True)
class Veil:
    """An inverse of added light, in the order of its fields; the defaults change the mean alone.

    ``streaks``: direction in degrees of bright streaks, which are removed first, as of snow;
    ``smooth``: whether an uneven grey veil is estimated and subtracted; ``cast``: whether each
    channel's mean is subtracted, not that of all three; ``gamma``: exponent of levels in [0, 1],
    above 1 darkens; ``gain``: of grey, and ``colour``: of each channel's difference from grey;
    ``target``: the new mean, in [-1, 1], or None where the mean that was subtracted stays.
    """

    streaks: int | None = None
    smooth: bool = False
    cast: bool = False
    gamma: float = 1.0
    gain: float = 1.0
    colour: float = 1.0
    target: float | None = -0.1

    @property
    def change(self) -> float:
        """How far the factors of the inverse are from 1, at most."""
        return max(abs(factor - 1) for factor in (self.gain, self.colour, self.gamma))

    @property
    def is_lost_contrast(self) -> bool:
        """Whether contrast was lost about the picture's own mean, without added light."""
        return self.target is None

    def remove(self, x: Tensor) -> Tensor:
        """The picture, ``[..., 3, H, W]`` in [-1, 1], without the veil, in the same range."""
        if self.streaks is not None:
            x = remove_streaks(x, self.streaks)
        if self.smooth:
            x = x - UNEVEN_SHARE * estimate_smooth_veil(x.mean(-3, keepdim=True))
        if self.gamma != 1:
            x = 2 * ((x + 1) / 2).clamp(min=0) ** self.gamma - 1
        mean = x.mean((-2, -1), keepdim=True)
        mean = mean if self.cast else mean.mean(-3, keepdim=True)
        x = x - mean
        grey = x.mean(-3, keepdim=True)
        target = mean if self.target is None else self.target
        return (self.gain * grey + self.colour * (x - grey) + target).clamp(-1, 1)

    def __str__(self) -> str:
        """All parts of the inverse, such as ``uneven veil, gain 5.1, colour 7.6``."""
        parts = ["streaks"] * (self.streaks is not None)
        light = "lost contrast" if self.is_lost_contrast else "colour cast"
        parts += ["uneven veil"] * self.smooth + [light] * self.cast
        parts += [f"gamma {self.gamma:g}"] * (self.gamma != 1)
        return ", ".join([*parts, f"gain {self.gain:.3g}", f"colour {self.colour:.3g}"])


GLARE = Veil(gamma=1.6, gain=1.1, colour=2.2)
"""Where light was added without a loss of contrast, as among streaks."""


def estimate_smooth_veil(grey: Tensor) -> Tensor:
    """The smooth part v of a grey picture ``[..., 1, H, W]``, with mean 0.

    It minimises t |grad(grey - v)| + P v². The first term: photographs have few, strong gradients,
    a veil weak ones everywhere; t is the picture's root-mean-square gradient, so that contrast does
    not matter. P penalises high frequencies: a veil's spectrum falls as f^-4. Solved by ADMM (Boyd
    et al., 2011), a cosine transform in each of :data:`ROUNDS` iterations.
    """
    side, flat = WORKING_SIDE, grey.reshape(-1, 1, *grey.shape[-2:])
    small = F.interpolate(flat, size=(side, side), mode="area")[:, 0].double().cpu().numpy()
    veil = torch.from_numpy(_solve_veil(small))[:, None].to(grey)
    return F.interpolate(veil, size=grey.shape[-2:], mode="bicubic").reshape(grey.shape)


def _solve_veil(small: NDArray[np.float64]) -> NDArray[np.float64]:
    """ADMM for :func:`estimate_smooth_veil`: grey squares to their veils, ``[n, S, S]`` both."""
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
        sparse = rest * np.maximum(0, 1 - threshold / np.maximum(np.hypot(*rest), 1e-9))
        dual = rest - sparse
        spectrum = scipy.fft.dctn(
            _minus_divergence(target + dual - sparse), axes=(1, 2), norm="ortho"
        )
        spectrum[:, 0, 0] = 0
        veil = scipy.fft.idctn(spectrum / cost, axes=(1, 2), norm="ortho")
    return veil


def _gradient(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of ``[n, H, W]``, down and right, 0 at the far border: ``[2, n, H, W]``."""
    down = np.diff(a, axis=1, append=a[:, -1:])
    return np.stack([down, np.diff(a, axis=2, append=a[:, :, -1:])])


def _minus_divergence(g: NDArray[np.float64]) -> NDArray[np.float64]:
    """The adjoint of :func:`_gradient`."""
    down = -np.diff(g[0, :, :-1], axis=1, prepend=0, append=0)
    return down - np.diff(g[1, :, :, :-1], axis=2, prepend=0, append=0)


def list_veils(x: Tensor) -> list[Veil | Haze]:
    """What may veil a picture, ``[3, H, W]`` in [-1, 1], the likeliest first: haze, other light.

    Where bright streaks fall through it, which are sharp, the rest is measured again without them,
    and there is no haze; nor is any where contrast was lost. Without streaks glare alone is none,
    for a pale photograph looks the same.
    """
    veil = _measure_light(x)
    angle = measure_streaks(x) if veil and not is_blurred(x) else None
    if veil is not None and angle is not None:
        return [replace(_measure_light(remove_streaks(x, angle)) or veil, streaks=angle)]
    has_lost_contrast = veil is not None and veil.is_lost_contrast
    is_plain = float(x.mean(0).std()) < DEVIATION_FLOOR
    haze = None if has_lost_contrast or is_plain else measure_haze(x)
    light = None if veil == GLARE else veil
    return [one for one in (haze, light) if one is not None]


def _measure_light(x: Tensor) -> Veil | None:
    """The veil, without its streaks."""
    grey, low, high = x.mean(0, keepdim=True), x.amin(0), x.amax(0)
    dark = find_level(low.flatten(), 0.01)
    deviation = float(grey.std())
    if deviation < DEVIATION_FLOOR or dark <= BLACK:
        return None
    saturation = float(((high - low) / (high + 1.001)).mean())
    is_pale = saturation < UNEVEN_SATURATION and deviation > FLAT_DEVIATION
    if is_pale and float((low >= 0.99).float().mean()) < UNEVEN_WHITE:
        veil = estimate_smooth_veil(grey)
        rest = float((grey - veil).std())
        if float(veil.std()) > SMOOTH_RATIO * rest:
            if is_blurred(x) or _is_drawn(x):
                return None
            return _stretch_rest(grey - UNEVEN_SHARE * veil)
    has_light = dark + 0.3 * float(x.mean()) > LIGHT_LEVEL and saturation < LIGHT_SATURATION
    if deviation < (VEILED_DEVIATION if has_light else FLAT_DEVIATION):
        gain = max(1.0, STRETCHED_DEVIATION / deviation)
        is_soft = gain < SURE_GAIN and is_blurred(x)  # and little wonder that it is pale
        if is_soft:
            return None
        is_hazy = float(grey.mean()) > HAZY_MEAN and gain < HAZY_GAIN
        if deviation < FLAT_DEVIATION and not is_hazy:
            gain = measure_lost_contrast(grey)
            return Veil(cast=True, gain=gain, colour=COLOUR_SHARE * gain, target=None)
        return Veil(cast=True, gain=gain, colour=gain)
    return GLARE if has_light else None


def _stretch_rest(grey: Tensor) -> Veil:
    """The inverse of an uneven veil that takes the rest, ``[1, H, W]``, to black and white."""
    dark, light = find_range(grey)
    gain = 2 / max(light - dark, 1e-6)
    target = gain * (float(grey.mean()) - (dark + light) / 2)
    return Veil(smooth=True, gain=gain, colour=UNEVEN_COLOUR * gain, target=target)


def measure_lost_contrast(grey: Tensor) -> float:
    """The gain about its mean that a grey picture, ``[1, H, W]`` in [-1, 1], lacks.

    It is the largest that takes no more of the pixels beyond black, and beyond white, than
    :func:`~dga.explanation.exposure.find_range` leaves out, since most photographs reach one of
    them. On 200 photographs of ``tune``, saved as JPEG 85, one standard deviation of its error is
    14 %.
    """
    mean, (dark, light) = float(grey.mean()), find_range(grey)
    to_black = (1 + mean) / max(mean - dark, 1e-6)
    to_white = (1 - mean) / max(light - mean, 1e-6)
    return max(1.0, min(to_black, to_white))


def _is_drawn(x: Tensor) -> bool:
    """Whether most neighbours in ``[3, H, W]`` are equal, which noise prevents in photographs."""
    return any(float((x.diff(dim=dim) == 0).all(0).float().mean()) > MOST_EQUAL for dim in (1, 2))
