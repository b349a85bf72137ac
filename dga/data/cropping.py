"""Preprocessing: how picture files are cropped and resized, ImageNet-C's protocol included."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from dga.data.uploads import to_picture
from dga.images import REDUCED_SIDE, Pixels, to_pixels, to_square
from dga.profiles import ReleaseConfig


@dataclass(frozen=True)
class Crop:
    """Turns a picture of any size into pixels, uint8 ``[side, side, 3]``.

    Without ``release`` the middle square, resized (Lanczos). With it what ImageNet-C's pictures
    went through before they were corrupted: the shorter side is brought to ``release.resize``
    pixels, and the middle ``side`` pixels are cut out; a picture of that size is left alone.
    Raises :class:`~dga.data.uploads.UploadError` for what cannot be read.
    """

    side: int
    release: ReleaseConfig | None = None

    def __call__(self, image: Image.Image) -> Pixels:
        side = self.side
        image = to_picture(image, None if self.release else max(REDUCED_SIDE, side))
        if self.release is None:
            return to_pixels(to_square(image, side))
        if image.size != (side, side):
            short = min(image.size)
            width, height = (int(self.release.resize * length / short) for length in image.size)
            kernel = Image.Resampling.BICUBIC if self.release.bicubic else Image.Resampling.BILINEAR
            image = image.resize((width, height), kernel)
            left, top = round((width - side) / 2), round((height - side) / 2)
            image = image.crop((left, top, left + side, top + side))
        return to_pixels(image)
