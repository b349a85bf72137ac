"""Pictures as PIL images, uint8 arrays and tensors in [-1, 1], and the ways between them.

There is one way from a stored picture to pixels, :func:`to_rgb`, for files and for PIL images. It
applies all that changes what stored values mean: orientation, bits a channel, transparency, colour
profile. *High-bit* pictures are those with more than 8 bits a channel.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Mapping
from io import BytesIO
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageFile, ImageOps
from PIL.ExifTags import Base

from dga.tiff import DIRECTORIES, TEXTS, read_orientation

if TYPE_CHECKING:
    from torch import Tensor

Pixels = NDArray[np.uint8]
HALF_RANGE = 127.5
"""How many 8-bit levels lie between 0 and 1 in the range [-1, 1]."""

MIN_PICTURE_SIDE = 16
"""Pixels a side that a picture must have to be read."""
MIN_CORRUPTED_SIDE = 32
"""Pixels a side that a picture must have to be corrupted."""
REDUCED_SIDE = 768
"""Pixels a side. Before a square is cut out, a picture whose shorter side has at least twice as
many is reduced by a whole factor, to no less than this."""
_CHANGES_MEANING = {"exif", "icc_profile", "transparency", "gamma"}
"""Keys of a PIL image's ``info`` that change what its values mean."""
_BAND_PIXELS = 1_000_000
"""Pixels that are converted at once, to spare memory."""
_PROFILE_ERRORS = (ImageCms.PyCMSError, OSError, ValueError, TypeError)
"""What a damaged profile, or one for other kinds of pictures, raises; it is then ignored."""
_SRGB_TOLERANCE = 2
"""In levels of 255. A profile that changes no colour by more counts as sRGB."""


class PictureError(ValueError):
    """A picture that cannot be read right. The message is one sentence for its owner."""


def check_pixels(pixels: Any) -> None:
    """Raise ``ValueError`` for anything but a picture, uint8 ``[H, W, 3]`` with some pixels."""
    is_array = isinstance(pixels, np.ndarray) and pixels.dtype == np.uint8 and pixels.ndim == 3
    if not is_array or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(
            "A picture is an array of shape [H, W, 3] in 8 bits; dga.to_pixels makes one of a PIL "
            "image."
        )


def to_rgb(image: Image.Image, least_side: int | None = None) -> Image.Image:
    """Convert any PIL image to 8-bit sRGB, upright, with white behind transparency.

    Of an animation the current frame is taken; in a file that was just opened it is the first one.
    Where the shorter side has at least twice ``least_side`` pixels, the picture is reduced by a
    whole factor, to no less than ``least_side``. A plain RGB image comes back as it is, ``info``
    included; others are new, without metadata. Raises :class:`PictureError` where it is unclear
    what the values mean.
    """
    factor = max(1, min(image.size) // least_side) if least_side else 1
    tags = dict(getattr(image, "tag_v2", {}))  # see find_orientation
    is_plain = image.mode == "RGB" and not _CHANGES_MEANING & image.info.keys()
    if is_plain and factor == 1 and not isinstance(image, ImageFile.ImageFile):
        return image
    image.load()
    values = _ValueMeaning.read(image, tags)
    width, height = image.size
    canvas = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    for box in _cut_bands(image.size, factor):
        band = values.to_rgb(image.crop(box))
        canvas.paste(band.reduce(factor) if factor > 1 else band, (0, box[1] // factor))
    orientation = find_orientation(image)
    if orientation > 1:
        canvas.getexif()[Base.Orientation] = orientation
        ImageOps.exif_transpose(canvas, in_place=True)
    return canvas


def _cut_bands(size: tuple[int, int], factor: int) -> Iterator[tuple[int, int, int, int]]:
    """Boxes of full width that cover a picture; their heights are multiples of ``factor``."""
    width, height = size
    rows = factor * max(1, _BAND_PIXELS // (width * factor))
    return ((0, top, width, min(top + rows, height)) for top in range(0, height, rows))


class _ValueMeaning(NamedTuple):
    """What the stored values of a picture mean."""

    info: Mapping[Any, Any]
    """``info`` of the PIL image."""
    white: float
    """The grey value that stands for white."""
    is_inverted: bool
    """Whether the value 0 stands for white."""
    is_opaque: bool

    @classmethod
    def read(cls, image: Image.Image, tags: Mapping[int, Any]) -> _ValueMeaning:
        """Find out what the values of an image mean. ``tags``: those of a TIFF, else empty.

        Raises :class:`PictureError` where that is unclear.
        """
        is_high_bit = is_high_bit_grey(image)
        white = _find_white(image, tags) if is_high_bit else 255.0
        is_opaque = not image.has_transparency_data
        if "A" in image.getbands():  # 0 everywhere: a channel that no program filled
            is_opaque = image.getchannel("A").getextrema()[1] == 0
        is_inverted = is_high_bit and tags.get(Base.PhotometricInterpretation) == 0
        return cls(image.info, white, is_inverted, is_opaque)

    def to_rgb(self, band: Image.Image) -> Image.Image:
        """Convert a band of the picture to 8-bit sRGB, on white.

        Raises :class:`PictureError` for colours that Pillow cannot convert.
        """
        if band.mode == "LAB":  # its channel A is a colour, not opacity
            return _make_lab_transform().apply(band)
        is_high_bit = is_high_bit_grey(band)
        if is_high_bit:
            band = self._to_8_bits(band)
        mode = band.mode
        if not self.is_opaque and not is_high_bit:
            band = band.convert("RGBA")
            white = Image.new("RGBA", band.size, "white")
            band = Image.alpha_composite(white, band).convert("RGB")
        elif "A" in band.getbands():
            band = band.convert("RGBA").convert("RGB")
        profile, gamma = self.info.get("icc_profile"), find_gamma(self.info)
        if profile:
            converted = _apply_profile(band, profile, mode)
            if converted is not None:
                return converted
        elif gamma:
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
        """Convert grey of more than 8 bits to 8 bits; its transparent value becomes white."""
        values = np.asarray(band)
        grey = self.scale_grey(values, 255)
        if "transparency" in self.info:
            grey[values == self.info["transparency"]] = 255
        return Image.fromarray(grey.astype(np.uint8))

    def scale_grey(self, values: NDArray[Any], most: int) -> NDArray[np.float32]:
        """Scale grey of more than 8 bits to whole numbers from 0, black, to ``most``, white."""
        grey = values.astype(np.float32)
        grey = (self.white - grey if self.is_inverted else grey) * (most / self.white)
        return grey.round().clip(0, most)


def is_high_bit_grey(image: Image.Image) -> bool:
    """Whether a picture's values are grey of more than 8 bits."""
    return image.mode.startswith("I") or image.mode == "F"


def read_grey_16(image: Image.Image, tags: Mapping[int, Any]) -> NDArray[np.uint16] | None:
    """Convert grey of more than 8 bits to 16, uint16 ``[H, W]``, upright; None for other pictures.

    ``tags``: those of a TIFF, as they were before its pixels were read. Raises
    :class:`PictureError` where it is unclear what the values mean.
    """
    if not is_high_bit_grey(image):
        return None
    values = _ValueMeaning.read(image, tags).scale_grey(np.asarray(image), 65_535).astype(np.uint16)
    return turn_upright(values, find_orientation(image))


def find_gamma(info: Mapping[Any, Any]) -> float | None:
    """The gamma that a PNG states; None where it is sRGB's, or a colour profile says more."""
    gamma = info.get("gamma")
    is_srgb = not gamma or "srgb" in info or "icc_profile" in info or 0.9 < 2.2 * gamma < 1.1
    return None if is_srgb else gamma


def _apply_profile(band: Image.Image, profile: bytes, mode: str) -> Image.Image | None:
    """Convert a band of a picture to sRGB by the colour profile of its file.

    None if the profile is damaged or does not fit. ``mode``: PIL's mode in which the picture is
    stored. Grey pictures may have a profile of grey or of RGB.
    """
    profile_modes = {"CMYK": ("CMYK",), **dict.fromkeys(("1", "L", "LA", "La"), ("L", "RGB"))}
    for profile_mode in profile_modes.get(mode, ("RGB",)):
        with contextlib.suppress(*_PROFILE_ERRORS):
            transform = _make_srgb_transform(profile, profile_mode)
            if transform is None:  # the profile is sRGB
                return band.convert("RGB")
            return transform.apply(band.convert(profile_mode))
    return None


def _find_white(image: Image.Image, tags: Mapping[int, Any]) -> float:
    """The value that stands for white in grey of 16 or 32 bits, or of floats.

    Raises :class:`PictureError` where that is unclear, for example for signed numbers.
    """
    low, high = math.inf, -math.inf
    for box in _cut_bands(image.size, 1):
        values = np.asarray(image.crop(box))
        if not np.isfinite(values).all():
            raise PictureError("This picture has values that are not numbers and cannot be read.")
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    largest = tags.get(Base.MaxSampleValue) or 0.0
    largest = float(largest[0] if isinstance(largest, tuple) else largest)
    bits = max(tags.get(Base.BitsPerSample) or (0,))
    whites: list[tuple[float, float, float]]
    """Rows (from, to, white): ``white`` holds where the highest value is in that interval."""
    if image.mode == "F":
        whites = [(-1e-3, 1.001, 1.0), (16, 255.5, 255.0), (4096, 65_535.5, 65_535.0)]
        low = 0.0 if -1e-3 <= low < 0 else low  # an error of rounding
    elif image.mode == "I":
        whites = [(0, 255, 255.0), (4096, 65_535, 65_535.0)]
    else:
        whites = [(0, 255, 65_535.0), (4096, 65_535, 65_535.0)]
    if largest > 255 and low >= 0 and high <= largest:
        return largest
    if 8 < bits < 16:
        return 2.0**bits - 1
    is_signed = tags.get(Base.SampleFormat, (1,))[0] == 2 and bits <= 16
    if image.format == "PPM":  # Pillow has scaled it
        return 65_535.0
    candidates = [white for start, end, white in whites if start <= high <= end]
    if is_signed or low < 0 or not candidates:
        raise PictureError(
            f"This picture's grey values, {low:.4g} to {high:.4g}, are stored in a rare way "
            "(signed, or with fewer bits than they take), so that white cannot be told; save it "
            "with 8 bits."
        )
    return candidates[0]


@functools.lru_cache(maxsize=1)
def _make_lab_transform() -> ImageCms.ImageCmsTransform:
    """The transform from CIELAB to sRGB; its white is that of printed paper, 5000 K, as in TIFF."""
    lab, srgb = ImageCms.createProfile("LAB", 5000), ImageCms.createProfile("sRGB")
    return ImageCms.buildTransform(lab, srgb, "LAB", "RGB")


@functools.lru_cache(maxsize=8)
def _make_srgb_transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """The transform from a profile's colours to sRGB; None where the profile is sRGB already.

    ``mode``: RGB, L or CMYK. Raises ``ImageCms.PyCMSError`` for a profile of another mode.
    """
    srgb = ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(BytesIO(profile), srgb, mode, "RGB")
    if mode == "CMYK":
        return transform
    levels = np.arange(0, 256, 15, dtype=np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(1, -1, 3)
    probe = Image.fromarray(grid if mode == "RGB" else grid[..., 0])
    converted = np.asarray(transform.apply(probe)).astype(int)
    is_srgb = np.abs(converted - np.asarray(probe.convert("RGB"))).max() <= _SRGB_TOLERANCE
    return None if is_srgb else transform


def turn_upright(values: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn the values of a file, ``[H, W, ...]``, upright. ``orientation``: EXIF's, 1 to 8."""
    if orientation >= 5:  # 5 and 7 are mirrored, too
        values, orientation = values.swapaxes(0, 1), {5: 1, 6: 2, 7: 3, 8: 4}[orientation]
    down, right = {1: (1, 1), 2: (1, -1), 3: (-1, -1), 4: (-1, 1)}[orientation]
    return values[::down, ::right]


def find_orientation(image: Image.Image) -> int:
    """EXIF's orientation, 1 to 8, of the values of a loaded picture.

    Pillow turns a TIFF upright by itself when it loads it, and drops the tag.
    """
    is_tiff = hasattr(image, "tag_v2")
    return 1 if is_tiff else read_orientation(image.info.get("exif", b""))


def to_upright(image: Image.Image) -> Image.Image:
    """A copy of an image, upright, with the values and ``info`` that it has."""
    return ImageOps.exif_transpose(image) if find_orientation(image) > 1 else image.copy()


def convert_to_profile(pixels: Pixels, profile: bytes) -> Pixels | None:
    """Convert a picture in sRGB, uint8 ``[H, W, 3]``, to the colours of a profile.

    None where that cannot be: a printer's, one of grey, a damaged one.
    """
    with contextlib.suppress(*_PROFILE_ERRORS):
        if _make_srgb_transform(profile, "RGB") is None:
            return pixels
        srgb = ImageCms.createProfile("sRGB")
        transform = ImageCms.buildTransform(srgb, BytesIO(profile), "RGB", "RGB")
        return np.asarray(transform.apply(Image.fromarray(pixels)))
    return None


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value of a PIL image's ``info`` is a finite number.

    A PNG may put a text there under any key, and some TIFFs have a resolution of 0 / 0.
    """
    return isinstance(value, Real) and math.isfinite(float(value))


def read_exif(image: Image.Image) -> bytes:
    """The part of a picture's EXIF that says where it comes from, without how it is stored.

    Empty where there is no EXIF that can be read.
    """
    try:
        exif, result = image.getexif(), Image.Exif()
        for tag in (TEXTS | DIRECTORIES) & exif.keys():
            result[tag] = exif.get_ifd(tag) if tag in DIRECTORIES else exif[tag]
        return result.tobytes() if result else b""
    except Exception:  # an EXIF block is whatever some camera wrote
        return b""


def to_square(image: Image.Image, size: int) -> Image.Image:
    """Cut out the middle square and resize it to ``size`` pixels a side (Lanczos, RGB).

    A large picture is reduced first, see :data:`REDUCED_SIDE`. Raises what :func:`to_rgb` does.
    """
    image = to_rgb(image, max(REDUCED_SIDE, size))
    if image.size == (size, size):
        return image
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    box = (left, top, left + side, top + side)
    return image.resize((size, size), Image.Resampling.LANCZOS, box=box)


def to_pixels(image: Image.Image) -> Pixels:
    """Convert a PIL image to uint8 ``[H, W, 3]``, upright sRGB. Raises what :func:`to_rgb` does."""
    return np.array(to_rgb(image), dtype=np.uint8)


def recompress_jpeg(pixels: Pixels, quality: int, subsampling: str = "4:2:0") -> Image.Image:
    """Save a picture, uint8 ``[H, W, 3]``, as JPEG and open it again.

    ``subsampling``: of its colours, as Pillow names it; ImageNet-C's files have 4:2:0.
    """
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=subsampling)
    return Image.open(buffer)


def to_tensor(pixels: Pixels) -> Tensor:
    """Convert pictures, uint8 ``[..., H, W, 3]``, to float32 ``[..., 3, H, W]`` in [-1, 1]."""
    import torch  # here: decoding a picture must not wait for it

    x = torch.tensor(np.ascontiguousarray(pixels)).movedim(-1, -3)  # a copy: it may be read-only
    return x.to(torch.float32).div(HALF_RANGE).sub(1.0).contiguous()


def to_levels(x: Tensor) -> Tensor:
    """Round a picture in [-1, 1] to the 256 levels of a picture file, again in [-1, 1]."""
    return ((x + 1) * HALF_RANGE).round() / HALF_RANGE - 1


def cut_middle(x: Tensor, most: int) -> Tensor:
    """The middle of ``[3, H, W]``, at most ``most`` pixels a side."""
    top, left = (max(0, length - most) // 2 for length in x.shape[1:])
    return x[:, top : top + most, left : left + most]


def from_tensor(x: Tensor) -> Pixels:
    """Round floats, ``[..., 3, H, W]`` in [-1, 1], to pictures, uint8 ``[..., H, W, 3]``.

    Raises ``FloatingPointError`` for NaN and infinity, which would silently become a grey level.
    """
    if not bool(x.isfinite().all()):
        raise FloatingPointError("A network returned values that are not numbers.")
    import torch

    levels = x.detach().float().clamp(-1, 1).add(1.0).mul(HALF_RANGE).round()
    return levels.to(torch.uint8).movedim(-3, -1).contiguous().cpu().numpy()
