"""The one way in which pictures are written that were made of somebody's files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dga.data.uploads import OWNER, open_picture, read_bytes, to_picture
from dga.images import Pixels, read_exif, to_image_like, to_pixels
from dga.io.files import write_atomically

_LOSSY = {"quality": 95}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    ".png": ("PNG", {}), ".jpg": ("JPEG", _LOSSY), ".jpeg": ("JPEG", _LOSSY),
    ".webp": ("WEBP", _LOSSY), ".tif": ("TIFF", {}), ".tiff": ("TIFF", {}),
}  # fmt: skip
"""Formats that are written, with their options, by suffix."""


@dataclass(frozen=True)
class StoredPicture:
    """A picture file: its bytes, and the picture as it was opened."""

    data: bytes
    image: Image.Image

    @classmethod
    def read(cls, path: Path) -> StoredPicture:
        """One's own file, decoded. Raises :class:`~dga.data.uploads.UploadError`."""
        data = read_bytes(path, OWNER)
        picture = cls(data, open_picture(data, OWNER))
        _ = picture.pixels  # what cannot be decoded is refused here
        return picture

    @cached_property
    def pixels(self) -> Pixels:
        """uint8 ``[H, W, 3]``, as every picture is read."""
        return to_pixels(to_picture(self.image))

    def result(self, pixels: Pixels, suffix: str) -> bytes:
        """A file of what was made of it, uint8 ``[H, W, 3]``, perhaps at fewer pixels.

        Of what was not changed its own bytes, where ``suffix`` asks for the format that it has.
        Profile, EXIF and resolution are kept where the format can hold them.
        """
        kind, options = KINDS[suffix.lower()]
        stored = original = self.image
        if pixels.shape[0] * pixels.shape[1] != stored.width * stored.height:
            original = Image.fromarray(pixels)
            original.info = {n: stored.info[n] for n in ("icc_profile", "dpi") if n in stored.info}
            original.info["exif"] = read_exif(stored)
        elif stored.format == kind and np.array_equal(pixels, self.pixels):
            return self.data
        image = to_image_like(pixels, original)
        info = {str(name): value for name, value in image.info.items()}
        return encode_picture(image, kind, **options, **info)


def encode_result(data: bytes, pixels: Pixels, suffix: str) -> bytes:
    """:meth:`StoredPicture.result` of a stranger's file."""
    return StoredPicture(data, open_picture(data)).result(pixels, suffix)


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
    """Write a whole file or none, in a folder that is made if need be. Raises ``OSError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as part:
            part.write_bytes(content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OSError(
            f"{path} could not be written ({reason}): mend that, then run the same command again."
        ) from error
