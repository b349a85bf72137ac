"""What a stored picture has beyond 8 bits of sRGB on white, and how a result gets it back.

A repair works on 8 bits of sRGB on white. What it changed is added to the values as they are
stored: so a result has the transparency of its file again, and grey of 16 bits keeps the finer half
of them.
"""

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.ExifTags import Base

from dga.images import (
    Pixels,
    convert_to_profile,
    find_gamma,
    find_orientation,
    is_high_bit_grey,
    is_number,
    read_exif,
    read_grey_16,
    to_pixels,
    turn_upright,
)

Values = NDArray[np.unsignedinteger]
"""Values of pixels, uint8 or uint16."""
_GREY_SCALE = 257
"""16-bit levels in one 8-bit level."""
_BAND_PIXELS = 1_000_000
"""Pixels that are computed at once, to spare memory."""
_MORE_BITS_OF_HEIF = re.compile(rb"pixi[\s\S]{4}[\x01-\x04][\x09-\x10]")
"""A box of HEIC and AVIF that names more than 8 bits a channel."""
_COLOUR_MODES = {"RGB", "RGBA"}
"""Modes in which Pillow reads colours, of 16 bits, too: it reads 8 of them."""


@dataclass(frozen=True)
class StoredValues:
    """One picture, or one frame or page of several, as a file stores it; upright."""

    image: Image.Image
    """As Pillow opened and decoded it."""
    pixels: Pixels
    """8 bits of sRGB on white, uint8 ``[H, W, 3]``, as every picture is read."""
    is_high_bit: bool
    """Whether the file has more than 8 bits a channel."""
    grey: NDArray[np.uint16] | None
    """High-bit grey in 16 bits, uint16 ``[H, W]``; None for other pictures."""
    opacity: Pixels | None
    """uint8 ``[H, W]``; None where every pixel is opaque, and for high-bit grey."""

    @classmethod
    def read(cls, image: Image.Image, data: bytes = b"") -> Self:
        """Decode an opened picture. ``data``: the bytes of its file.

        Raises what :func:`dga.images.to_rgb` does.
        """
        tags = dict(getattr(image, "tag_v2", {}))  # before the pixels: see find_orientation
        has_more_bits = is_high_bit(image, data)
        pixels = to_pixels(image)
        grey = read_grey_16(image, tags)
        has_opacity = grey is None and is_transparent(image)
        opacity = _read_upright(image)[..., 3] if has_opacity else None
        return cls(image, pixels, has_more_bits, grey, opacity)

    @classmethod
    def reduce(cls, image: Image.Image, pixels: Pixels) -> Self:
        """A picture that was opened and made smaller, to ``pixels``: it is opaque, in 8 bits."""
        reduced = Image.fromarray(pixels)
        kept = {"icc_profile", "dpi"} & image.info.keys()
        reduced.info = {name: image.info[name] for name in kept}
        reduced.info["exif"] = read_exif(image)
        return cls(reduced, pixels, is_high_bit=False, grey=None, opacity=None)

    def restore_values(
        self, pixels: Pixels, may_have_opacity: bool = True, may_have_16_bits: bool = True
    ) -> tuple[Values, dict[str, Any]]:
        """Give a repaired picture, uint8 ``[H, W, 3]``, the opacity and the bits of its file.

        Not all files may have opacity, or 16 bits. Returns the values, uint8 ``[H, W, 3 or 4]`` or
        uint16 ``[H, W]``, and profile, EXIF and resolution. A pixel that was not changed keeps its
        colour, because sRGB lacks some; a profile to which colours cannot be converted is left out.
        """
        info = self._list_info()
        values, before = pixels, self.pixels  # on white, in the same colours
        has_same_colours = find_gamma(self.image.info) is None
        if profile := self.image.info.get("icc_profile"):
            coloured = convert_to_profile(pixels, profile)
            has_same_colours = coloured is not None
            if coloured is not None:
                info["icc_profile"] = profile
                bare = self.image.copy()
                del bare.info["icc_profile"]
                before = to_pixels(bare)
                is_same = (pixels == self.pixels).all(-1, keepdims=True)
                values = np.where(is_same, before, coloured)
        grey = self.grey if may_have_16_bits else None
        opacity = self.opacity if may_have_opacity else None
        if grey is None and opacity is None:
            return values, info
        if grey is not None:
            change = values[..., 0].astype(np.int32) - before[..., 0]
            fine = grey if has_same_colours else before[..., 0].astype(np.int32) * _GREY_SCALE
            return (fine + change * _GREY_SCALE).clip(0, 65_535).astype(np.uint16), info
        assert opacity is not None
        stored = _read_upright(self.image)[..., :3] if has_same_colours else None
        result = np.dstack([values, opacity])
        height, width = opacity.shape
        step = max(1, _BAND_PIXELS // width)
        for rows in (slice(top, top + step) for top in range(0, height, step)):
            result[rows, :, :3] = _separate_from_white(
                before[rows], values[rows], opacity[rows], None if stored is None else stored[rows]
            )
        return result, info

    def _list_info(self) -> dict[str, Any]:
        """Resolution and EXIF, by Pillow's names."""
        dpi, exif = self.image.info.get("dpi"), read_exif(self.image)
        is_resolution = isinstance(dpi, tuple) and len(dpi) == 2 and all(map(is_number, dpi))
        info: dict[str, Any] = {"dpi": dpi} if is_resolution else {}
        return info | ({"exif": exif} if exif else {})


def _separate_from_white(
    before: Pixels, after: Pixels, opacity: Pixels, stored: Pixels | None
) -> NDArray[np.float64]:
    """The colours that look like ``after`` on white, under an opacity: whole numbers ``[H, W, 3]``.

    ``before``: how the picture looked on white; ``stored``: its colours, to which the change is
    added; None where they stand for other colours than the result's, and are computed anew.
    """
    share = opacity[..., None] / 255
    change = np.zeros(after.shape)
    np.divide(after.astype(np.float32) - before, share, where=share > 0, out=change)
    colours: NDArray[Any] | None = stored
    if colours is None:
        colours = np.zeros(after.shape)
        np.divide(before - 255 * (1 - share), share, where=share > 0, out=colours)
    return (colours + change).clip(0, 255).round()


def _read_upright(image: Image.Image) -> NDArray[np.uint8]:
    """The stored colours and their opacity, upright, uint8 ``[H, W, 4]``."""
    return turn_upright(np.asarray(image.convert("RGBA")), find_orientation(image))


def is_transparent(image: Image.Image) -> bool:
    """Whether a part of a picture is transparent.

    An opacity that is 0 everywhere is no opacity: no program has filled that channel.
    """
    if is_high_bit_grey(image) or not image.has_transparency_data:
        return image.has_transparency_data
    bands = image if "A" in image.getbands() else image.convert("RGBA")
    least, most = bands.getchannel("A").getextrema()
    return most != 0 and least != 255


def is_high_bit(image: Image.Image, data: bytes) -> bool:
    """Whether the file of an opened picture has more than 8 bits a channel. ``data``: its bytes."""
    if image.mode not in _COLOUR_MODES:
        return is_high_bit_grey(image)
    if image.format in ("AVIF", "HEIF"):
        return bool(_MORE_BITS_OF_HEIF.search(data))
    if image.format == "PNG":
        return data[24:25] == b"\x10"  # the header's bits a channel: 16
    bits = getattr(image, "tag_v2", {}).get(Base.BitsPerSample, (8,))
    return image.format == "TIFF" and set(bits) == {16}
