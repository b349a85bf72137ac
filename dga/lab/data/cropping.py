"""Preprocessing: how picture files are cropped and resized, ImageNet-C's protocol included."""

from dataclasses import dataclass

from PIL import Image

from dga.data.uploads import decode_picture
from dga.images import REDUCED_SIDE, Pixels, recompress_jpeg, to_pixels, to_square
from dga.profiles import Profile, ReleaseConfig


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
        image = decode_picture(image, None if self.release else max(REDUCED_SIDE, side))
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


@dataclass(frozen=True)
class View:
    """How a profile's pictures are prepared, for training and for measuring alike.

    A picture file is read through ``clean``, perhaps corrupted, and brought to the networks' size
    by ``finish``. Without a ``release`` of the profile the first step does all of it. With one, the
    picture becomes what the released data set would hold (cut, corrupted, compressed), and is then
    read as a file of that set is.
    """

    profile: Profile

    @property
    def clean(self) -> Crop:
        """How a clean picture is read: what corruptions are applied to."""
        release = self.profile.release
        return Crop(release.crop, release) if release else self.released

    @property
    def released(self) -> Crop:
        """How a picture of a corrupted data set is read."""
        return Crop(self.profile.image_size)

    def finish(self, pixels: Pixels) -> Pixels:
        """A picture that was read as ``clean`` and perhaps corrupted, as networks see it.

        Returns uint8 ``[size, size, 3]``: the same bits as from a released file.
        """
        if self.profile.release is None:
            return pixels
        quality = self.profile.release.quality
        return self.released(
            recompress_jpeg(pixels, quality) if quality else Image.fromarray(pixels)
        )
