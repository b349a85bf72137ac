"""Preprocessing: how picture files are cropped and resized, ImageNet-C's protocol included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PIL import Image

from dga.images import Pixels, through_jpeg, to_pixels, to_square
from dga.io.parsing import check_choice
from dga.profiles import Profile, ReleaseConfig

FRAMES = ("resize", "raw")


class Frame(Protocol):
    """Turns a picture of any size into pixels, uint8 ``[side, side, 3]``."""

    @property
    def side(self) -> int:
        """Pixels along each side of the result."""
        ...

    def __call__(self, image: Image.Image) -> Pixels:
        """Cut and resize one picture."""
        ...


@dataclass(frozen=True)
class Square:
    """The middle square, resized (Lanczos) to ``side`` pixels."""

    side: int

    def __call__(self, image: Image.Image) -> Pixels:
        return to_pixels(to_square(image, self.side))


@dataclass(frozen=True)
class Crop:
    """Shorter side to ``resize`` pixels (bilinear), then the middle ``side`` pixels.

    What ImageNet-C's pictures went through before they were corrupted. A picture that
    already has that size is left alone.
    """

    resize: int
    side: int

    def __call__(self, image: Image.Image) -> Pixels:
        image = image.convert("RGB")
        if image.size == (self.side, self.side):
            return to_pixels(image)
        short = min(image.size)
        width, height = (int(self.resize * length / short) for length in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
        left, top = round((width - self.side) / 2), round((height - self.side) / 2)
        return to_pixels(image.crop((left, top, left + self.side, top + self.side)))


@dataclass(frozen=True)
class Mirrored:
    """A cut picture in the middle of ``side`` pixels, its borders mirrored outwards.

    A classifier that crops its middle reads the picture's own pixels, never resampled.
    """

    crop: Crop
    side: int

    def __call__(self, image: Image.Image) -> Pixels:
        before = (self.side - self.crop.side) // 2
        margin = (before, self.side - self.crop.side - before)
        return np.pad(self.crop(image), (margin, margin, (0, 0)), "reflect")


@dataclass(frozen=True)
class View:
    """The way of a profile's pictures: read as ``clean``, corrupted, then ``finish``\\ ed.

    Without a ``release`` a picture is read at the networks' size and that is all. With
    one, it becomes what the released data set would hold (cut, corrupted, compressed) and
    is then read as a file of that set is read: resized to the networks' ``size``, or with
    ``raw`` left at its own pixels.
    """

    size: int
    release: ReleaseConfig | None = None
    raw: bool = False

    @classmethod
    def of(cls, profile: Profile, frame: str = "resize") -> View:
        """A profile's way; ``frame``: resize or raw. Raises ``ValueError`` for others."""
        check_choice("frame", frame, FRAMES)
        if frame == "raw" and profile.release is None:
            raise ValueError(f"Profile {profile.name} has no released pictures to read raw.")
        return cls(profile.image_size, profile.release, frame == "raw")

    @property
    def clean(self) -> Frame:
        """How a clean picture is read: what corruptions are applied to."""
        if self.release is None:
            return Square(self.size)
        return Crop(self.release.resize, self.release.crop)

    @property
    def released(self) -> Frame:
        """How a picture of a corrupted data set is read."""
        if self.raw and self.release is not None:
            return Mirrored(Crop(self.release.resize, self.release.crop), self.size)
        return Square(self.size)

    def finish(self, pixels: Pixels) -> Pixels:
        """A picture that was read as ``clean`` and perhaps corrupted, as networks see it.

        Returns uint8 ``[size, size, 3]``: the same bits as from a released file.
        """
        if self.release is None:
            return pixels
        return self.released(through_jpeg(pixels, self.release.quality))
