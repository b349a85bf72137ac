"""The one way in which pictures are written that were made of somebody's files."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dga.data.uploads import OWNER, Limits, open_picture, read_bytes, to_picture
from dga.images import Pixels, read_exif, to_image_like, to_pixels
from dga.io.files import atomic

_LOSSY = {"quality": 95}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    ".png": ("PNG", {}), ".jpg": ("JPEG", _LOSSY), ".jpeg": ("JPEG", _LOSSY),
    ".webp": ("WEBP", _LOSSY), ".tif": ("TIFF", {}), ".tiff": ("TIFF", {}),
}  # fmt: skip
"""Formats that are written, with their options, by suffix."""


@dataclass(frozen=True)
class StoredPicture:
    """A picture file: its bytes, the picture as it was opened, and its pixels as they are read."""

    data: bytes
    image: Image.Image
    pixels: Pixels

    @classmethod
    def read(cls, path: Path, limits: Limits = OWNER) -> "StoredPicture":
        """Raises :class:`~dga.data.uploads.UploadError` for what cannot be read right."""
        data = read_bytes(path, limits)
        image = open_picture(data, limits)
        return cls(data, image, to_pixels(to_picture(image)))

    def result(self, pixels: Pixels, suffix: str) -> bytes:
        """A file of what was made of it, uint8 ``[H, W, 3]``; of nothing, its own bytes.

        Those only where ``suffix`` asks for the format that it has. Profile, EXIF and resolution
        are kept where the format can hold them.
        """
        kind, options = KINDS[suffix.lower()]
        if self.image.format == kind and np.array_equal(pixels, self.pixels):
            return self.data
        if pixels.shape != self.pixels.shape:  # a part of it, at another size
            return encode_picture(Image.fromarray(pixels), kind, **options)
        image = to_image_like(pixels, self.image)
        info = {str(name): value for name, value in image.info.items()}
        return encode_picture(image, kind, **options, **info)

    def is_laid_on_white(self, content: bytes) -> bool:
        """Whether a result of it is white where the picture itself is transparent."""
        image = self.image
        if content is self.data or not image.has_transparency_data:
            return False
        if "A" not in image.getbands():
            return True
        alpha = np.asarray(image.getchannel("A"))
        return bool(alpha.any() and alpha.min() < 255)  # all 0: read as if it were not there


def encode_result(data: bytes, pixels: Pixels, suffix: str) -> bytes:
    """A stranger's file with what was made of it, perhaps at fewer pixels than it has.

    As :meth:`StoredPicture.result`, except that profile, EXIF and resolution are kept then, too.
    """
    image = stored = open_picture(data)
    if pixels.shape[0] * pixels.shape[1] == image.width * image.height:
        return StoredPicture(data, image, to_pixels(to_picture(image))).result(pixels, suffix)
    image = Image.fromarray(pixels)
    image.info = {n: stored.info[n] for n in ("icc_profile", "dpi") if n in stored.info}
    image.info["exif"] = read_exif(stored)
    return StoredPicture(data, image, pixels).result(pixels, suffix)


def encode_picture(image: Image.Image, kind: str, **options: Any) -> bytes:
    """A picture as a file; EXIF that a format cannot hold is left out."""
    stream = io.BytesIO()
    try:
        image.save(stream, kind, **options)
    except ValueError:
        if not options.pop("exif", None):
            raise
        return encode_picture(image, kind, **options)
    return stream.getvalue()


def write(path: Path, content: bytes) -> None:
    """A whole file or none, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as part:
        part.write_bytes(content)
