"""From a file of unknown origin to a safe RGB picture, or one clear sentence.

The commands, data sets and the page all open files by :func:`open_picture`, which recognises a
format by its bytes, never by the file's name. Pillow reads the size from the header at once, and
the pixels when they are asked for.
"""

import contextlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from PIL import Image
from PIL.ExifTags import Base

from dga.data.formats import ALLOWED, ENDINGS, FORMATS
from dga.images import (
    MIN_PICTURE_SIDE,
    REDUCED_SIDE,
    PictureError,
    Pixels,
    find_orientation,
    to_pixels,
    to_rgb,
)
from dga.tiff import EXIF, find_directories, read_directory

MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
MAX_BYTES = 20 * 2**20
MOST_PASSES = 12
"""Most passes of a progressive JPEG of the largest size; smaller ones may have more."""

_DAMAGED = "This picture is damaged or incomplete and cannot be read; try saving it again."
_JPEG_FRAMES = frozenset((0xC0, 0xC1, 0xC2))
"""Markers of baseline, extended and progressive frames. The decoders of other JPEGs (lossless,
hierarchical, arithmetic) write beyond their memory."""
_JPEG_SEGMENTS = _JPEG_FRAMES | {0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)}
"""Markers of the segments that may stand before the first scan."""
_JPEG_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
"""The next marker; bytes between segments, such as fill bytes, are passed over, as decoders do."""
_BIG_TIFF = re.compile(rb"II\+\0|MM\0\+")
_JPEG_IN_TIFF, _YCBCR = 7, 6
_TIFF_USUAL = {
    # No compression, fax, LZW, JPEG, Deflate, PackBits: their decoders report what is missing.
    Base.Compression: {1, 2, 3, 4, 5, _JPEG_IN_TIFF, 8, 32773, 32946},
    Base.PhotometricInterpretation: {0, 1, 2, 3, 5, 6, 8},  # grey, RGB, palette, CMYK, YCbCr, LAB
    Base.NewSubfileType: {0, 2},  # no thumbnail
}
"""Values of a TIFF's tags that are read; any other value is refused."""
_TIFF_SIZES = {3: 2, 4: 4, 5: 8, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
"""Bytes of a value by its type in a TIFF's directory; 1 for the others."""
_TIFF_RARE = {Base.DNGVersion, Base.CFARepeatPatternDim}
"""Tags of a camera's raw values."""


class UploadError(PictureError):
    """A file that cannot be used. The message is one sentence for its owner."""


@dataclass(frozen=True)
class Limits:
    """How large a picture file may be."""

    size: int = MAX_BYTES
    """Most bytes."""
    side: int = MAX_SIDE
    """Most pixels a side."""
    pixels: int = MAX_PIXELS
    """Most pixels in all."""
    least: int = MIN_PICTURE_SIDE
    """Least pixels a side."""


STRANGER_LIMITS = Limits()
"""Limits of uploads to the page."""
OWNER_LIMITS = Limits(2**40, 2**20, 2 * 89_478_485)
"""Limits of one's own files on the command line: Pillow's own limit of pixels."""


def detect_format(data: bytes) -> str | None:
    """Pillow's name of the format that the first bytes announce; None for an unknown one."""
    for name, file_format in FORMATS.items():
        if re.match(file_format.magic, data, re.DOTALL):
            return name
    return None


def is_picture(name: str) -> bool:
    """Whether a file counts as a picture by the ending of its name.

    Files that macOS puts beside others (``._NAME``) are none.
    """
    path = PurePath(name)
    return path.suffix.lower() in ENDINGS and not path.name.startswith("._")


def list_pictures(source: Path, pattern: str = "**/*") -> list[str]:
    """The paths of pictures inside a folder, or at any depth of a zip, sorted.

    What counts as a picture says :func:`is_picture`; ``pattern``: which files of a folder are
    considered. Raises ``FileNotFoundError`` where ``source`` is neither folder nor zip.
    """
    if source.is_dir():
        files = [path for path in source.glob(pattern) if is_picture(path.name) and path.is_file()]
        return [path.relative_to(source).as_posix() for path in sorted(files)]
    if source.is_file() and zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            names = (entry.filename for entry in archive.infolist() if not entry.is_dir())
            return sorted(filter(is_picture, names))
    raise FileNotFoundError(f"{source} is neither a folder nor a zip of images.")


def read_bytes(path: str | Path, limits: Limits = STRANGER_LIMITS) -> bytes:
    """Read the bytes of a file once, so that the bytes that are checked are those that are decoded.

    Raises :class:`UploadError` where it cannot be read, is empty or too large.
    """
    try:
        length = Path(path).stat().st_size
        data = Path(path).read_bytes() if length <= limits.size else b""
    except (FileNotFoundError, ValueError):
        raise UploadError("There is no such file (any more).") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UploadError(f"The file cannot be read ({reason}).") from None
    check_length(length, limits)
    return data


def check_length(length: int, limits: Limits = STRANGER_LIMITS) -> None:
    """Raise :class:`UploadError` for an empty file, and for one that is too large."""
    if not length:
        raise UploadError(f"The file is empty; choose a {ALLOWED} picture.")
    if length > limits.size:
        raise UploadError(f"The file is too large: at most {limits.size // 2**20} MB are read.")


def open_picture(data: bytes, limits: Limits = STRANGER_LIMITS) -> Image.Image:
    """Open a picture file and read its metadata; :func:`decode_picture` decodes the pixels.

    ``data``: its bytes. Raises :class:`UploadError` for a file that is no picture, that is stored
    in a way that is not read, or that exceeds the limits.
    """
    format_name = detect_format(data)
    if _BIG_TIFF.match(data):  # the checks below can read only directories of a usual TIFF
        raise _make_rare_error("TIFF")
    reader = FORMATS[format_name].reader if format_name else None
    if format_name is None or reader is None:
        raise UploadError(f"This file is not a {ALLOWED} picture.")
    with refuse_unreadable(format_name):
        if format_name == "JPEG":
            data = _clean_jpeg(data)
        if format_name == "TIFF":
            _check_directory(data)
        image: Image.Image = reader(io.BytesIO(data))
        check_size(*image.size, limits)
        if format_name == "TIFF":
            _check_strips(data, image)
        passes = data.count(b"\xff\xda") if format_name == "JPEG" else 1
        if passes * image.width * image.height > MOST_PASSES * limits.pixels:
            raise _make_rare_error(format_name)
        return image


def seek_frame(image: Image.Image, data: bytes, number: int) -> bool:
    """Go to a frame or page of one's own picture, and read its header; False where there is none.

    ``image``: as :func:`open_picture` opened it; ``data``: the bytes of its file; ``number``: of
    the frame, from 0. Raises :class:`UploadError` for a frame that cannot be read.
    """
    with refuse_unreadable(image.format or "file"):
        if image.format == "TIFF":
            start = next(islice(find_directories(data), number, None), None)
            if start is None:
                return False
            _check_directory(data, start)
        try:
            image.seek(number)
        except EOFError:
            return False
        check_size(*image.size, OWNER_LIMITS)
        if image.format == "TIFF":
            _check_strips(data, image)
        return True


def has_further_frames(image: Image.Image, data: bytes) -> bool:
    """Whether there are frames or pages after the first one. Raises :class:`UploadError`."""
    with refuse_unreadable(image.format or "file"):
        if image.format == "TIFF":
            return len(list(islice(find_directories(data), 2))) > 1
        return bool(getattr(image, "is_animated", False))


def decode_picture(image: Image.Image, least_side: int | None = None) -> Image.Image:
    """Decode a picture that :func:`open_picture` opened, as :func:`dga.images.to_rgb` does.

    Raises :class:`UploadError` for a file that is damaged or too large for the memory.
    """
    with refuse_unreadable(image.format or "file"):
        return to_rgb(image, least_side)


@contextlib.contextmanager
def refuse_unreadable(format_name: str) -> Iterator[None]:
    """Turn any error of a reader, a decoder or a zip into an :class:`UploadError` of one sentence.

    Libraries raise many kinds of errors for a broken file. ``format_name``: for the sentence.
    """
    try:
        yield
    except PictureError as error:
        raise UploadError(str(error)) from None
    except MemoryError:
        raise UploadError("This picture is too large for the memory that there is.") from None
    except Exception as error:
        if re.search("unknown pixel mode|nsupported|not supported", str(error)):
            raise _make_rare_error(format_name) from None
        raise UploadError(_DAMAGED) from None


def _make_rare_error(format_name: str) -> UploadError:
    return UploadError(
        f"This {format_name} is stored in a rare way that is not read; save the picture as PNG."
    )


def _clean_jpeg(data: bytes) -> bytes:
    """Remove what stands between a JPEG's segments, up to its first scan.

    Up to there the file must have one frame of a usual kind. Of several EXIF segments the first is
    kept: Pillow joins them and reads them at once, whatever memory they ask for. Raises
    :class:`UploadError` for any other file.
    """
    position, frames, exifs, segments = 2, 0, 0, [data[:2]]
    while True:
        found = _JPEG_MARKER.search(data, position)
        if found is None:
            raise UploadError(_DAMAGED)
        start = found.start()
        marker, length = data[start + 1], int.from_bytes(data[start + 2 : start + 4])
        if marker == 0xDA:
            segments.append(data[start:])
            break
        if length < 2:
            raise UploadError(_DAMAGED)
        if marker not in _JPEG_SEGMENTS:
            raise _make_rare_error("JPEG")
        frames += marker in _JPEG_FRAMES
        is_exif = data[start + 4 : start + 10] == EXIF
        position = start + 2 + length
        if not (is_exif and exifs):
            segments.append(data[start:position])
        exifs += is_exif
    if frames != 1:
        raise _make_rare_error("JPEG")
    is_clean = sum(map(len, segments)) == len(data)
    return data if is_clean else b"".join(segments)


def _check_directory(data: bytes, start: int | None = None) -> None:
    """Refuse a TIFF with rare ways to store pixels, or with a camera's raw values.

    Pillow reads all that a directory names, be it the same bytes a thousand times. Of TIFFs in
    YCbCr, whose colours may have fewer pixels than their brightness, only those in JPEG are read.
    ``start``: the offset of the page's directory, by default that of the first.
    """
    tags = read_directory(data, start) or {}
    length = sum(_TIFF_SIZES.get(value_type, 1) * count for value_type, count, _ in tags.values())
    values = {tag: value for tag, (_, count, value) in tags.items() if count == 1}
    allowed = dict(_TIFF_USUAL)
    if start is not None:  # further pages may be thumbnails, which are left out later
        del allowed[Base.NewSubfileType]
    is_usual = all(values.get(tag, min(usual)) in usual for tag, usual in allowed.items())
    is_ycbcr = values.get(Base.PhotometricInterpretation) == _YCBCR
    is_usual &= not is_ycbcr or values.get(Base.Compression) == _JPEG_IN_TIFF
    if not tags or length > 2 * len(data) + 64 or not is_usual or tags.keys() & _TIFF_RARE:
        raise _make_rare_error("TIFF")


def _check_strips(data: bytes, image: Any) -> None:
    """Refuse a TIFF whose strips or tiles are JPEGs of a rare kind."""
    tags = image.tag_v2
    if tags.get(Base.Compression) == _JPEG_IN_TIFF:
        starts = tags.get(Base.StripOffsets) or tags[Base.TileOffsets]
        lengths = tags.get(Base.StripByteCounts) or tags[Base.TileByteCounts]
        for start, length in zip(starts, lengths, strict=True):
            if data[start : start + 2] != b"\xff\xd8":
                raise UploadError(_DAMAGED)
            _clean_jpeg(data[start : start + length])


def check_size(width: int, height: int, limits: Limits = STRANGER_LIMITS) -> None:
    """Raise :class:`UploadError` unless both sides and their product are within limits."""
    if min(width, height) < limits.least:
        raise UploadError(
            f"The picture is {width} by {height} pixels; "
            f"each side must have at least {limits.least} pixels."
        )
    if max(width, height) > limits.side or width * height > limits.pixels:
        raise UploadError(
            f"The picture is {width:,} by {height:,} pixels and is too large: at most "
            f"{limits.side:,} pixels a side and {limits.pixels // 1_000_000} megapixels are read."
        )


def read_photograph(data: bytes, most_pixels: int) -> tuple[Pixels, tuple[int, int]]:
    """Read a stranger's photograph at its own size, reduced where it has more than ``most_pixels``.

    Returns uint8 ``[H, W, 3]``, and the width and height that it came with, upright. Raises
    :class:`UploadError`.
    """
    check_length(len(data))
    image = open_picture(data)
    is_large = image.width * image.height > most_pixels
    picture = decode_picture(image, REDUCED_SIDE if is_large else None)
    scale = (most_pixels / (picture.width * picture.height)) ** 0.5
    if scale < 1:
        size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    is_turned = find_orientation(image) >= 5
    return to_pixels(picture), image.size[::-1] if is_turned else image.size
