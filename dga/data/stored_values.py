"""What a stored picture has beyond 8 bits of sRGB on white: opacity, 16 bits; the way back to it.

A repair works on 8 bits of sRGB, laid on white. What it changed is added to the values as they are
stored: transparency comes back, and 16 bits keep those that a repair does not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.ExifTags import Base

from dga.images import (
    Pixels,
    find_gamma,
    read_grey_16,
    to_image_like,
    to_pixels,
    turn_upright,
)
from dga.tiff import TEXTS, read_orientation

Values = NDArray[np.unsignedinteger]
"""Of pixels, uint8 or uint16."""
_PNG_HEAD = 33  # bytes of a PNG before its notes: the signature, and the size
_BLUE_FIRST = [2, 1, 0, 3]  # channels as OpenCV orders them, and back
_DEEP_SCALE = 257  # 16-bit levels in one of 8 bits
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
    deep: NDArray[np.uint16] | None
    """Its colours in 16 bits, uint16 ``[H, W, 1 or 3]``; None where it has fewer, or they cannot be
    read."""
    opacity: Values | None
    """uint8 or uint16 ``[H, W]``; None where all of it is opaque."""

    @classmethod
    def read(cls, image: Image.Image, data: bytes = b"", page: int = 0) -> StoredValues:
        """Decode an opened picture.

        ``data``: its file, from which colours of 16 bits are read; ``page``: its place there.
        Raises what :func:`dga.images.to_rgb` does.
        """
        # They go when Pillow turns the picture upright.
        tags, has_deep_colours = dict(getattr(image, "tag_v2", {})), is_deep(image, data)
        pixels = to_pixels(image)
        grey = read_grey_16(image, tags)
        if grey is not None:
            return cls(image, pixels, True, grey[..., None], None)
        straight = None
        if image.has_transparency_data and image.mode != "I;16":
            straight = _read_upright(image)
            least, most = straight[..., 3].min(), straight[..., 3].max()
            if not most or least == 255:  # nobody filled the channel, or nobody needs it
                straight = None
        opacity = None if straight is None else straight[..., 3]
        deep = _decode_deep(image, data, page, straight) if has_deep_colours else None
        if deep is None:
            return cls(image, pixels, has_deep_colours, None, opacity)
        is_opaque = opacity is None or deep.shape[2] % 2
        return cls(image, pixels, True, deep[..., :3], opacity if is_opaque else deep[..., -1])

    def lay_back(
        self, pixels: Pixels, has_opacity: bool = True, is_deep: bool = True
    ) -> tuple[Values, dict[str, Any]]:
        """Give a repaired picture, uint8 ``[H, W, 3]``, the opacity and depth that the file has.

        ``has_opacity``, ``is_deep``: whether the result may have opacity, and 16 bits. Returns
        values ``[H, W, 1 to 4]``, of 16 bits only where they were stored so, and profile, EXIF and
        resolution.
        """
        coloured = to_image_like(pixels, self.image)
        info = {str(name): value for name, value in coloured.info.items()}
        values: Values = np.array(coloured, np.uint8)
        opacity = self.opacity if has_opacity else None
        deep = self.deep if is_deep else None
        if opacity is None and deep is None:
            return values, info
        profile = self.image.info.get("icc_profile")
        is_own = info.get("icc_profile") == profile and find_gamma(self.image.info) is None
        laid = self.pixels  # on white, in the colours of ``values``
        if is_own and profile:
            bare = self.image.copy()
            del bare.info["icc_profile"]
            laid = to_pixels(bare)
        own: Values | None = None
        if is_own:
            own = _read_upright(self.image)[..., :3] if deep is None else deep
        channels, kind = (3, np.uint8) if deep is None else (deep.shape[2], np.uint16)
        height, width = laid.shape[:2]
        result = np.empty((height, width, channels + (opacity is not None)), kind)
        step = max(1, _BAND_PIXELS // width)
        for rows in (slice(top, top + step) for top in range(0, height, step)):
            colours = _lay_under(
                values[rows].astype(np.float32),
                laid[rows].astype(np.float32),
                None if opacity is None else _as_share(opacity[rows]),
                None if own is None else own[rows],
                _DEEP_SCALE if deep is not None else 1,
            )
            result[rows, :, :channels] = colours[..., :channels]
            if opacity is not None:
                result[rows, :, channels] = (
                    _as_share(opacity[rows])[..., 0] * np.iinfo(kind).max + 0.5
                )
        return result, info


def _as_share(opacity: Values) -> NDArray[np.float64]:
    """Opacity from 0 to 1, ``[H, W, 1]``."""
    return opacity[..., None] / np.iinfo(opacity.dtype).max


def _lay_under(
    made: NDArray[np.float32],
    laid: NDArray[np.float32],
    share: NDArray[np.float64] | None,
    own: Values | None,
    scale: int,
) -> NDArray[np.float64]:
    """Colours which, with an opacity of ``share``, look on white as ``made``, ``[H, W, 3]``.

    ``laid``: how the picture looked; ``own``: its colours, ``[H, W, 1 or 3]``, to which the change
    is added, None where they stand for other colours than the result's; ``scale``: their levels in
    one of 8 bits.
    """
    change = made - laid
    if share is not None:
        change = np.divide(change, share, where=share > 0, out=np.zeros(change.shape))
    if own is None:
        colours = laid
        if share is not None:
            shown = laid - 255 * (1 - share)
            colours = np.divide(shown, share, where=share > 0, out=np.zeros(shown.shape))
        return ((colours + change).clip(0, 255) * scale).round()
    channels = own.shape[2]
    return (own + change[..., :channels] * scale).round().clip(0, 255 * scale)


def _read_upright(image: Image.Image) -> NDArray[np.uint8]:
    """Values as they are stored, with opacity, uint8 ``[H, W, 4]``."""
    is_turned = hasattr(image, "tag_v2")  # Pillow turns a TIFF by itself
    orientation = 1 if is_turned else read_orientation(image.info.get("exif", b""))
    return turn_upright(np.asarray(image.convert("RGBA")), orientation)


def is_deep(image: Image.Image, data: bytes) -> bool:
    """Whether a picture that was opened has colours of 16 bits, of which Pillow reads 8."""
    if image.mode not in _DEEP_COLOURS:
        return False
    if image.format == "PNG":
        return data[24:25] == b"\x10"  # in its header
    bits = getattr(image, "tag_v2", {}).get(Base.BitsPerSample, (8,))
    return image.format == "TIFF" and set(bits) == {16}


def _decode_deep(
    image: Image.Image, data: bytes, page: int, straight: NDArray[np.uint8] | None
) -> NDArray[np.uint16] | None:
    """Colours of 16 bits, uint16 ``[H, W, 3 or 4]``, by OpenCV; None where it reads others.

    ``straight``: what Pillow reads of them, uint8 ``[H, W, 4]``, with which they are compared; None
    where that was not asked for yet.
    """
    import cv2  # here: it takes a third of a second

    content = np.frombuffer(data, np.uint8)
    try:
        if page:
            _, (values,) = cv2.imdecodemulti(content, cv2.IMREAD_UNCHANGED, range=(page, page + 1))
        else:
            values = cv2.imdecode(content, cv2.IMREAD_UNCHANGED)
    except (cv2.error, ValueError):
        return None
    if values is None or values.dtype != np.uint16 or values.ndim != 3 or values.shape[2] < 3:
        return None
    values = values[..., _BLUE_FIRST[: values.shape[2]]]
    if straight is None:
        straight = _read_upright(image)
    orientation = read_orientation(image.info.get("exif", b""))
    for candidate in (values, turn_upright(values, orientation)):
        if candidate.shape[:2] == straight.shape[:2]:
            known = (candidate[..., :3] >> 8).astype(np.uint8)
            if np.array_equal(known, straight[..., :3]):
                return np.ascontiguousarray(candidate)
    return None


def encode_deep(values: NDArray[np.uint16], kind: str, info: dict[str, Any]) -> bytes:
    """Colours of 16 bits, uint16 ``[H, W, 3 or 4]``, as PNG or TIFF, which Pillow cannot write."""
    return _encode_png(values, info) if kind == "PNG" else _encode_tiff(values, info)


def _encode_png(values: NDArray[np.uint16], info: dict[str, Any]) -> bytes:
    import cv2  # here: it takes a third of a second

    blue_first = np.ascontiguousarray(values[..., _BLUE_FIRST[: values.shape[2]]])
    content = cv2.imencode(".png", blue_first, [cv2.IMWRITE_PNG_COMPRESSION, 6])[1].tobytes()
    stream = BytesIO()
    Image.new("RGB", (1, 1)).save(stream, "PNG", **info)
    known = stream.getvalue()
    notes = known[_PNG_HEAD : known.rindex(b"IDAT") - 4]
    return content[:_PNG_HEAD] + notes + content[_PNG_HEAD:]


def _encode_tiff(values: NDArray[np.uint16], info: dict[str, Any]) -> bytes:
    import tifffile  # here: few need it

    exif = Image.Exif()
    exif.load(info.get("exif", b""))
    texts = {tag: str(exif[tag]) for tag in TEXTS & exif.keys()}
    stream, dpi = BytesIO(), info.get("dpi")
    tifffile.imwrite(
        stream,
        np.ascontiguousarray(values),
        byteorder="<",
        photometric="rgb",
        extrasamples=["unassalpha"] if values.shape[2] == 4 else None,
        resolution=(float(dpi[0]), float(dpi[1])) if dpi else None,
        resolutionunit="INCH" if dpi else None,
        iccprofile=info.get("icc_profile"),
        extratags=[(tag, 2, 0, text, True) for tag, text in texts.items()],
        metadata=None,
        software=False,
    )
    return stream.getvalue()
