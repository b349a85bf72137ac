"""Pictures as PIL images, uint8 arrays and tensors in [-1, 1], and the ways between them.

There is one way from a stored picture to pixels, :func:`to_rgb`, for files and for PIL images: what
changes the meaning of stored values (orientation, depth, transparency, colour profile) is applied.
"""

from __future__ import annotations

import contextlib
import functools
import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageFile

if TYPE_CHECKING:
    from torch import Tensor

Pixels = NDArray[np.uint8]
HALF_RANGE = 127.5
"""8-bit levels in a unit of [-1, 1]."""

KEPT_SIDE = 768
"""Where a square is cut out, a picture with a shorter side of twice this is first reduced by a
whole factor, to no less."""
EXIF = b"Exif\0\0"
ORIENTATION = 0x0112
_MOST_ENTRIES = 512  # of a directory of EXIF or TIFF
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_MEANING = {"exif", "icc_profile", "transparency", "gamma"}
"""What in a PIL image's ``info`` changes what its values mean."""
_BAND_PIXELS = 1_000_000  # converted at once, to spare memory
_PHOTOMETRIC, _SAMPLE_FORMAT, _LARGEST = 262, 339, 281  # tags of TIFF
_DESCRIBED = {0x010E, 0x010F, 0x0110, 0x0131, 0x0132, 0x013B, 0x8298, 0x8769, 0x8825}
"""Tags of EXIF that say where a picture comes from, not how it is stored: from the description to
the copyright, camera settings, geographical position."""
_NO_PROFILE = (ImageCms.PyCMSError, OSError, ValueError, TypeError)
"""What a profile raises that is damaged, or of another kind of picture: as if there were none."""
_SAME = 2
"""Levels of 255: a profile that moves no colour further is sRGB's."""


class PictureError(ValueError):
    """A picture that cannot be read right. The message is one sentence for its owner."""


def to_rgb(image: Image.Image, kept: int | None = None) -> Image.Image:
    """Any PIL image as 8-bit sRGB, upright; transparency is laid over white.

    Of an animation the frame is taken that it stands at, the first of a file. ``kept``: a picture
    whose shorter side has at least twice so many pixels is reduced by a whole factor, to no less
    than that. A plain RGB image comes back as it is, ``info`` included; others are new, without
    metadata. Raises :class:`PictureError` where it is unclear what the values mean.
    """
    factor = max(1, min(image.size) // kept) if kept else 1
    tags = dict(getattr(image, "tag_v2", {}))  # they go when Pillow turns the picture upright
    is_plain = image.mode == "RGB" and not _MEANING & image.info.keys()
    if is_plain and factor == 1 and not isinstance(image, ImageFile.ImageFile):
        return image
    image.load()
    values = _Values.of(image, tags)
    width, height = image.size
    paper = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    for box in _bands(image.size, factor):
        band = values.to_rgb(image.crop(box))
        paper.paste(band.reduce(factor) if factor > 1 else band, (0, box[1] // factor))
    turn = _TURNS.get(1 if tags else orientation_of(image.info.get("exif", b"")))
    return paper if turn is None else paper.transpose(turn)


def _bands(size: tuple[int, int], factor: int) -> Iterator[tuple[int, int, int, int]]:
    width, height = size
    rows = factor * max(1, _BAND_PIXELS // (width * factor))
    return ((0, top, width, min(top + rows, height)) for top in range(0, height, rows))


class _Values:
    """What the stored values of one picture mean, for all of its bands alike."""

    def __init__(self, info: Mapping[Any, Any], white: float, inverted: bool, opaque: bool) -> None:
        self.info, self.white, self.inverted, self.opaque = info, white, inverted, opaque

    @classmethod
    def of(cls, image: Image.Image, tags: Mapping[int, Any]) -> _Values:
        """Raises :class:`PictureError` where it is unclear what they mean."""
        deep = image.mode.startswith("I") or image.mode == "F"
        white = _white_of(image, tags) if deep else 255.0
        opaque = not image.has_transparency_data
        if "A" in image.getbands():  # empty everywhere: a channel that nobody filled
            opaque = image.getchannel("A").getextrema()[1] == 0
        return cls(image.info, white, deep and tags.get(_PHOTOMETRIC) == 0, opaque)

    def to_rgb(self, band: Image.Image) -> Image.Image:
        """A part of the picture as 8-bit sRGB, on white."""
        is_deep = band.mode.startswith("I") or band.mode == "F"
        if is_deep:
            band = self._to_8_bits(band)
        is_grey, is_print = band.mode in ("1", "L", "LA", "La"), band.mode == "CMYK"
        if not self.opaque and not is_deep:
            band = _lay_on_white(band)
        elif "A" in band.getbands():
            band = band.convert("RGBA").convert("RGB")
        profile, gamma = self.info.get("icc_profile"), self.info.get("gamma")
        if profile:
            for mode in ("CMYK",) if is_print else ("L", "RGB") if is_grey else ("RGB",):
                with contextlib.suppress(*_NO_PROFILE):
                    transform = _make_srgb_transform(profile, mode)
                    if transform:
                        return _apply_transform(band.convert(mode), transform)
                    return band.convert("RGB")
        elif gamma and "srgb" not in self.info and not 0.9 < 2.2 * gamma < 1.1:
            curve = 255 * (np.arange(256) / 255) ** (1 / (2.2 * gamma))
            return band.convert("RGB").point([int(level) for level in curve.round()] * 3)
        try:
            return band.convert("RGB")
        except ValueError:
            raise PictureError(
                f"This picture's colours ({band.mode}) are stored in a rare way that is not read; "
                "save the picture as PNG."
            ) from None

    def _to_8_bits(self, band: Image.Image) -> Image.Image:
        grey = np.asarray(band).astype(np.float32)
        hidden = grey == self.info["transparency"] if "transparency" in self.info else None
        grey = (self.white - grey if self.inverted else grey) * (255 / self.white)
        if hidden is not None:
            grey[hidden] = 255
        return Image.fromarray(grey.round().clip(0, 255).astype(np.uint8))


def _lay_on_white(image: Image.Image) -> Image.Image:
    image = image if image.mode == "RGBA" else image.convert("RGBA")
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image.getchannel("A"))
    return paper


def _white_of(image: Image.Image, tags: Mapping[int, Any]) -> float:
    """The value that stands for white in grey of 16 or 32 bits, or of floats.

    Raises :class:`PictureError` where that cannot be told: signed numbers, 12 bits kept in 16 ...
    """
    ranges = []
    for box in _bands(image.size, 1):
        values = np.asarray(image.crop(box))
        if not np.isfinite(values).all():
            raise PictureError("This picture has values that are not numbers and cannot be read.")
        ranges.append((float(values.min()), float(values.max())))
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    largest = tags.get(_LARGEST) or 0.0
    largest = float(largest[0] if isinstance(largest, tuple) else largest)
    bits = max(tags.get(258) or (0,))
    whites: list[tuple[float, float, float]]  # from, to: the value of white
    if image.mode == "F":
        whites = [(-1e-3, 1.001, 1.0), (16, 255.5, 255.0), (4096, 65_535.5, 65_535.0)]
        low = 0.0 if -1e-3 <= low < 0 else low  # rounding
    elif image.mode == "I":
        whites = [(0, 255, 255.0), (4096, 65_535, 65_535.0)]
    else:
        whites = [(0, 255, 65_535.0), (4096, 65_535, 65_535.0)]
    if largest > 255 and low >= 0 and high <= largest:
        return largest
    if 8 < bits < 16:
        return 2.0**bits - 1
    is_signed = tags.get(_SAMPLE_FORMAT, (1,))[0] == 2 and bits <= 16
    fitting = [white for least, most, white in whites if least <= high <= most]
    if is_signed or low < 0 or not fitting:
        raise PictureError(
            f"This picture's grey values, {low:.4g} to {high:.4g}, are stored in a rare way "
            "(signed, or with fewer bits than they take), so that white cannot be told; save it "
            "with 8 bits."
        )
    return fitting[0]


@functools.lru_cache(maxsize=8)
def _make_srgb_transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """From a profile's colours to sRGB; None where they are sRGB's anyway.

    ``mode``: RGB, L or CMYK. Raises ``ImageCms.PyCMSError`` for a profile of other colours.
    """
    srgb = ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(BytesIO(profile), srgb, mode, "RGB")
    if mode == "CMYK":
        return transform
    levels = np.arange(0, 256, 15, dtype=np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(1, -1, 3)
    probe = Image.fromarray(grid if mode == "RGB" else grid[..., 0])
    found = np.asarray(_apply_transform(probe, transform)).astype(int)
    unmoved = np.abs(found - np.asarray(probe.convert("RGB"))).max() <= _SAME
    return None if unmoved else transform


def _apply_transform(image: Image.Image, transform: ImageCms.ImageCmsTransform) -> Image.Image:
    """The picture in other colours."""
    moved = ImageCms.applyTransform(image, transform)
    assert moved is not None
    return moved


def read_directory(block: bytes) -> dict[int, tuple[int, int, int]] | None:
    """Entries of a TIFF or of EXIF by tag: kind, number of values, and the first one or its offset.

    None where it is none, or beyond reason: others' may name the same megabytes many times.
    """
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(block[:4])
    if order is None:
        return None
    entries: dict[int, tuple[int, int, int]] = {}
    try:
        (start,) = struct.unpack_from(f"{order}I", block, 4)
        (count,) = struct.unpack_from(f"{order}H", block, start)
        for at in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, values = struct.unpack_from(f"{order}HHI", block, at)
            short = kind == 3 and values <= 2
            (value,) = struct.unpack_from(f"{order}{'H' if short else 'I'}", block, at + 8)
            if tag in entries or count > _MOST_ENTRIES:
                return None
            entries[tag] = kind, values, value
    except struct.error:
        return None
    return entries


def orientation_of(exif: bytes) -> int:
    """Orientation, 1 to 8, from an EXIF block; 1 where there is none that can be read."""
    kind, _, value = (read_directory(exif.removeprefix(EXIF)) or {}).get(ORIENTATION, (0, 0, 0))
    return value if kind == 3 and 1 <= value <= 8 else 1


def to_image_like(pixels: Pixels, original: Image.Image) -> Image.Image:
    """What was made of a picture, uint8 ``[H, W, 3]``, with its profile, EXIF and resolution.

    The pixels are sRGB, as :func:`to_rgb` returns them, and go back into the profile's colours;
    where nothing was changed, its own are kept, for sRGB lacks some. Of a profile that has no way
    back (a printer's, grey) the result is sRGB and says nothing.
    """
    image, info = Image.fromarray(pixels), dict[str | tuple[int, int], Any]()
    if profile := original.info.get("icc_profile"):
        with contextlib.suppress(*_NO_PROFILE):
            if _make_srgb_transform(profile, "RGB"):
                srgb = ImageCms.createProfile("sRGB")
                back = ImageCms.buildTransform(srgb, BytesIO(profile), "RGB", "RGB")
                image = _apply_transform(image, back)
                bare = original.copy()
                del bare.info["icc_profile"]
                is_same = (to_pixels(original) == pixels).all(-1, keepdims=True)
                image = Image.fromarray(np.where(is_same, to_pixels(bare), np.asarray(image)))
            info["icc_profile"] = profile
    if "dpi" in original.info:
        info["dpi"] = original.info["dpi"]
    if exif := read_exif(original):
        info["exif"] = exif
    image.info = info
    return image


def read_exif(image: Image.Image) -> bytes:
    """EXIF of a picture that has been turned upright; empty where it has none that can be read."""
    try:
        exif, result = image.getexif(), Image.Exif()
        for tag in _DESCRIBED & exif.keys():
            result[tag] = exif.get_ifd(tag) if tag in (0x8769, 0x8825) else exif[tag]
        return result.tobytes() if result else b""
    except Exception:  # an EXIF block is whatever some camera wrote
        return b""


def to_square(image: Image.Image, size: int) -> Image.Image:
    """Centre-crop to a square and resize to ``size`` pixels a side (Lanczos, RGB).

    A large picture is reduced first, see :data:`KEPT_SIDE`. Raises what :func:`to_rgb` does.
    """
    image = to_rgb(image, max(KEPT_SIDE, size))
    if image.size == (size, size):
        return image
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    box = (left, top, left + side, top + side)
    return image.resize((size, size), Image.Resampling.LANCZOS, box=box)


def to_pixels(image: Image.Image) -> Pixels:
    """A PIL image to uint8 ``[H, W, 3]``, sRGB, upright. Raises what :func:`to_rgb` does."""
    return np.array(to_rgb(image), dtype=np.uint8)


def through_jpeg(pixels: Pixels, quality: int) -> Image.Image:
    """A picture, uint8 ``[H, W, 3]``, saved as JPEG and opened again."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)


def to_tensor(pixels: Pixels) -> Tensor:
    """uint8 ``[..., H, W, 3]`` to float32 ``[..., 3, H, W]`` in [-1, 1]."""
    import torch  # here: decoding a picture must not wait for it

    x = torch.tensor(np.ascontiguousarray(pixels)).movedim(-1, -3)  # a copy: it may be read-only
    return x.to(torch.float32).div(HALF_RANGE).sub(1.0).contiguous()


def to_levels(x: Tensor) -> Tensor:
    """A picture in [-1, 1], rounded to the 256 levels of a picture file, in [-1, 1] again."""
    return ((x + 1) * HALF_RANGE).round() / HALF_RANGE - 1


def from_tensor(x: Tensor) -> Pixels:
    """float ``[..., 3, H, W]`` in [-1, 1] to uint8 ``[..., H, W, 3]`` (clipped, rounded).

    Raises ``FloatingPointError`` for what is no picture: NaN would become a grey level.
    """
    if not bool(x.isfinite().all()):
        raise FloatingPointError("A network returned values that are not numbers.")
    import torch

    levels = x.detach().float().clamp(-1, 1).add(1.0).mul(HALF_RANGE).round()
    return levels.to(torch.uint8).movedim(-3, -1).contiguous().cpu().numpy()
