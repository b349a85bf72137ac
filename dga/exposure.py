"""Exposure: a picture that became darker, brighter or flatter, and simple inverses of that.

The model is photometric: every pixel was scaled about some grey level and moved. It knows no
corruption; fog, contrast, brightness and bad light are all, partly, of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

DEVIATION_FLOOR = 0.004
"""Half an 8-bit level: a picture that varies less holds nothing that a gain could bring back."""
DEVIATION_LIMIT = 0.6
"""Photographs vary less than this about their mean: no gain goes beyond."""
SOURCE_MEAN = -0.1
"""Mean grey level of source pictures."""

Centre = Literal["grey", "channel"]
Target = Literal["own", "grey", "source"]


@dataclass(frozen=True)
class Exposure:
    """An inverse of exposure, ``gain x + offset``, with one ``offset`` a channel."""

    gain: float = 1.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def apply(self, x: Tensor) -> Tensor:
        """``[..., 3, H, W]`` in [-1, 1], clipped to it again."""
        offset = x.new_tensor(self.offset).view(3, 1, 1)
        return (self.gain * x + offset).clamp(-1, 1)


UNCHANGED = Exposure()


def stretch(x: Tensor, gain: float, centre: Centre, target: Target) -> Exposure | None:
    """The exposure that scales ``x``, ``[3, H, W]``, about its mean and moves that mean.

    ``centre``: the mean of all channels together or of each; ``target``: where it goes, to
    itself, to the picture's own grey level or to that of source pictures. None where the
    picture is too flat for a gain to mean anything, or the result would vary more than
    photographs do.
    """
    own = x.mean((1, 2))  # [3]
    grey = own.mean().expand(3)
    about = own if centre == "channel" else grey
    deviation = float((x - about.view(3, 1, 1)).square().mean().sqrt())
    if gain > 1 and not DEVIATION_FLOOR <= deviation <= DEVIATION_LIMIT / gain:
        return None
    moved = {"own": about, "grey": grey, "source": torch.full_like(own, SOURCE_MEAN)}[target]
    red, green, blue = (moved - gain * about).tolist()
    return Exposure(gain, (red, green, blue))


def exposures(x: Tensor, gains: Sequence[float]) -> Iterator[Exposure]:
    """Candidate inverses for ``x``, ``[3, H, W]``: gains about each centre, to each target."""
    kinds: tuple[tuple[Centre, Target], ...] = (
        ("channel", "own"),
        ("channel", "source"),
        ("channel", "grey"),
        ("grey", "own"),
        ("grey", "source"),
    )
    for gain in gains:
        for centre, target in kinds:
            if gain == 1 and target == "own":
                continue
            found = stretch(x, gain, centre, target)
            if found is not None:
                yield found
