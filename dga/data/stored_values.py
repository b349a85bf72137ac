"""What a stored picture has beyond 8 bits of sRGB on white: opacity, 16 bits of grey; the way back.

A repair works on 8 bits of sRGB, laid on white. What it changed is added to the values as they are
stored: transparency comes back, and 16 bits of grey keep those that a repair does not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.ExifTags import Base

from dga.images import (
    Pixels,
    find_gamma,
    find_orientation,
    is_deep_grey,
    read_exif,
    read_grey_16,
    to_image_like,
    to_pixels,
    turn_upright,
)

Values = NDArray[np.unsignedinteger]
"""Of pixels, uint8 or uint16."""
_GREY_SCALE = 257  # 16-bit levels in one of 8 bits
_BAND_PIXELS = 1_000_000  # computed at once, to spare memory
_DEEP_COLOURS = {"RGB", "RGBA"}
"""Modes that Pillow gives to colours of 16 bits, of which it reads 8."""


@dataclass(frozen=True)
class StoredValues:
    """One picture, or one frame or page of several, as a file has it; upright."""

    image: Image.Image
    """As Pillow opened and decoded it."""
    pixels: Pixels
    """8 bits of sRGB on white, uint8 ``[H, W, 3]``, as every picture is read."""
    is_deep: bool
    """Whether the file has more than 8 bits a channel."""
    grey: NDArray[np.uint16] | None
    """Grey of more than 8 bits in 16, uint16 ``[H, W]``; None for other pictures."""
    opacity: Pixels | None
    """uint8 ``[H, W]``; None where all of it is opaque, and for such grey."""

    @classmethod
    def read(cls, image: Image.Image, data: bytes = b"") -> StoredValues:
        """Decode an opened picture; ``data``: its file.

        Raises what :func:`dga.images.to_rgb` does.
        """
        # Before its pixels: see find_orientation.
        tags, is_deep = dict(getattr(image, "tag_v2", {})), has_deep_values(image, data)
        pixels = to_pixels(image)
        grey = read_grey_16(image, tags)
        has_opacity = grey is None and is_transparent(image)
        opacity = _read_upright(image)[..., 3] if has_opacity else None
        return cls(image, pixels, is_deep, grey, opacity)

    @classmethod
    def reduce(cls, image: Image.Image, pixels: Pixels) -> StoredValues:
        """An opened picture whose ``pixels`` are fewer, uint8 ``[H, W, 3]``: opaque, in 8 bits."""
        reduced = Image.fromarray(pixels)
        reduced.info = {n: image.info[n] for n in ("icc_profile", "dpi") if n in image.info}
        reduced.info["exif"] = read_exif(image)
        return cls(reduced, pixels, is_deep=False, grey=None, opacity=None)

    def lay_back(
        self, pixels: Pixels, has_opacity: bool = True, is_deep: bool = True
    ) -> tuple[Values, dict[str, Any]]:
        """Give a repaired picture, uint8 ``[H, W, 3]``, the opacity and depth that the file has.

        ``has_opacity``, ``is_deep``: whether the result may have opacity, and 16 bits. Returns
        values, uint8 ``[H, W, 3 or 4]`` or uint16 ``[H, W]``, and profile, EXIF and resolution.
        """
        coloured = to_image_like(pixels, self.image)
        info = {str(name): value for name, value in coloured.info.items()}
        values = np.array(coloured, np.uint8)
        grey, opacity = self.grey if is_deep else None, self.opacity if has_opacity else None
        if grey is None and opacity is None:
            return values, info
        profile = self.image.info.get("icc_profile")
        is_own = info.get("icc_profile") == profile and find_gamma(self.image.info) is None
        laid = self.pixels  # on white, in the colours of ``values``
        if is_own and profile:
            bare = self.image.copy()
            del bare.info["icc_profile"]
            laid = to_pixels(bare)
        if grey is not None:
            change = values[..., 0].astype(np.int32) - laid[..., 0]
            fine = grey if is_own else laid[..., 0].astype(np.int32) * _GREY_SCALE
            return (fine + change * _GREY_SCALE).clip(0, 65_535).astype(np.uint16), info
        assert opacity is not None
        own = _read_upright(self.image)[..., :3] if is_own else None
        result = np.dstack([values, opacity])
        height, width = opacity.shape
        step = max(1, _BAND_PIXELS // width)
        for rows in (slice(top, top + step) for top in range(0, height, step)):
            result[rows, :, :3] = _lay_under(
                values[rows], laid[rows], opacity[rows], None if own is None else own[rows]
            )
        return result, info


def _lay_under(
    made: Pixels, laid: Pixels, opacity: Pixels, own: Pixels | None
) -> NDArray[np.float64]:
    """Colours which, under an opacity, look on white as ``made``, whole numbers ``[H, W, 3]``.

    ``laid``: how the picture looked; ``own``: its colours, to which the change is added, None where
    they stand for other colours than the result's.
    """
    share = opacity[..., None] / 255
    change = np.zeros(made.shape)
    np.divide(made.astype(np.float32) - laid, share, where=share > 0, out=change)
    colours: NDArray[Any] | None = own
    if colours is None:
        colours = np.zeros(made.shape)
        np.divide(laid - 255 * (1 - share), share, where=share > 0, out=colours)
    return (colours + change).clip(0, 255).round()


def _read_upright(image: Image.Image) -> NDArray[np.uint8]:
    """Values as they are stored, with opacity, uint8 ``[H, W, 4]``."""
    return turn_upright(np.asarray(image.convert("RGBA")), find_orientation(image))


def is_transparent(image: Image.Image) -> bool:
    """Whether some of a picture is transparent; a channel that is 0 everywhere was never filled."""
    if is_deep_grey(image) or not image.has_transparency_data:
        return image.has_transparency_data
    bands = image if "A" in image.getbands() else image.convert("RGBA")
    least, most = bands.getchannel("A").getextrema()
    return most != 0 and least != 255


def has_deep_values(image: Image.Image, data: bytes) -> bool:
    """Whether a picture that was opened has more than 8 bits a channel; ``data``: its file.

    Of colours Pillow reads 8 bits all the same.
    """
    if image.mode not in _DEEP_COLOURS:
        return is_deep_grey(image)
    if image.format == "PNG":
        return data[24:25] == b"\x10"  # in its header
    bits = getattr(image, "tag_v2", {}).get(Base.BitsPerSample, (8,))
    return image.format == "TIFF" and set(bits) == {16}
