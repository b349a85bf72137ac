"""From a file of unknown origin to a safe RGB picture, or one clear sentence.

One reader for every entrance: the commands, data sets and the page open files by
:func:`open_picture`, which looks at bytes, never at names.
"""

import importlib.util
import io
import mimetypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import IO, Any

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from dga.data.containers import ContainerError, RareError, adds_up, checked, format_of
from dga.images import EXIF, KEPT_SIDE, PictureError, Pixels, to_pixels, to_rgb, to_square

MIN_SIDE = 16
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
MAX_BYTES = 20 * 2**20

_DECODED_BYTES = 235_000_000  # memory that decoding may take, with copies of the file
_SCANNED_PIXELS = 600_000_000  # of a JPEG, over all its passes
_RUN_LENGTH_BYTES = 2 * 2**20  # of a BMP that is unpacked run by run
ENDINGS = {".jpeg", ".jpg", ".jfif", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
"""Of files that are pictures, or named where they are none."""
_RAW = {".arw", ".cr3", ".dng", ".exr", ".jxl", ".nef", ".orf", ".psd", ".raf", ".rw2", ".tga"}
"""Other pictures' endings, of those that not every machine's own list has."""
ALLOWED = "PNG, JPEG, WebP, GIF, TIFF or BMP"
_RARE = "This {} is stored in a rare way that is not read; save the picture as PNG."
_MOST_BLOCKS = 4_096  # of notes in a GIF, 1 MB


class _Gif(GifImagePlugin.GifImageFile):
    """Joins no notes for ever: where there are millions, each takes longer than the one before."""

    blocks = 0

    def data(self) -> bytes | None:
        self.blocks += 1
        if self.blocks > _MOST_BLOCKS:
            raise ContainerError("too many notes")
        return super().data()


_READERS: dict[str, Any] = {
    "PNG": PngImagePlugin.PngImageFile,
    "JPEG": JpegImagePlugin.JpegImageFile,
    "GIF": _Gif,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
}


class UploadError(PictureError):
    """A file that cannot be used. The message is one sentence for its owner."""


@dataclass(frozen=True)
class Limits:
    """What is read: at most ``size`` bytes, ``side`` pixels a side, ``pixels``; ``least`` a side.

    ``guarded``: also what decoding would cost is bounded, as strangers' files need it.
    """

    size: int = MAX_BYTES
    side: int = MAX_SIDE
    pixels: int = MAX_PIXELS
    least: int = MIN_SIDE
    guarded: bool = True


STRANGERS = Limits()
OWNER = Limits(2**40, 2**20, 2 * 89_478_485, guarded=False)
"""Of one's own command line: as many pixels as Pillow reads without being asked."""
LABELLED = Limits(OWNER.size, OWNER.side, OWNER.pixels, 1, guarded=False)
"""Of data sets, whose pictures may be tiny."""


def read_bytes(path: str | Path | None, limits: Limits = STRANGERS) -> bytes:
    """The file's bytes, once: what was checked is what is decoded. Raises :class:`UploadError`."""
    if not path:
        raise UploadError("There is no such file (any more).")
    try:
        with Path(path).open("rb") as file:
            data = file.read(limits.size + 1 if limits.guarded else -1)
    except (FileNotFoundError, ValueError):
        raise UploadError("There is no such file (any more).") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UploadError(f"The file cannot be read ({reason}).") from None
    check_length(data, limits)
    return data


def check_length(data: bytes, limits: Limits = STRANGERS) -> None:
    """Raise :class:`UploadError` for an empty file, and for one that is too large."""
    if not data:
        raise UploadError(f"The file is empty; choose a {ALLOWED} picture.")
    if len(data) > limits.size:
        raise UploadError(f"The file is too large: at most {limits.size // 2**20} MB are read.")


def is_picture(path: PurePath, opened: Callable[[], IO[bytes]] | None = None) -> bool | None:
    """Whether a file is a picture that is read, by its ending or first bytes.

    None for one of another format, which only its name tells. ``opened``: opens what lies elsewhere
    than on the disk. Raises ``OSError`` for what lies in a folder that cannot be looked into.
    """
    if path.name.startswith("._"):  # macOS keeps its notes so
        return False
    if opened is None and not Path(path).is_file():
        return False
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return True
    kind = None
    with suppress(OSError), opened() if opened else Path(path).open("rb") as file:
        kind = format_of(file.read(16))
    if kind and (kind != "HEIF" or _reads_heif()):
        return True
    named = (mimetypes.guess_type(path.name)[0] or "").startswith("image/")
    return None if kind or named or ending in _RAW else False


def open_picture(data: bytes, limits: Limits = STRANGERS) -> Image.Image:
    """A picture file, opened but not decoded, with its metadata: its pixels are :func:`to_rgb`'s.

    The format is that of the bytes; sizes are read from the header. Raises :class:`UploadError`.
    """
    kind = format_of(data)
    if kind is None or (kind == "HEIF" and not _reads_heif()):
        raise UploadError(f"This file is not a {ALLOWED} picture.")
    try:
        data = checked(kind, data)
        reader = _READERS.get(kind) or importlib.import_module("pillow_heif").HeifImageFile
        image: Image.Image = reader(io.BytesIO(data))
        if "exif" in image.info and not adds_up(image.info["exif"].removeprefix(EXIF)):
            del image.info["exif"]
        check_size(*image.size, limits)
        if limits.guarded:
            _check_cost(kind, image, data)
    except PictureError:
        raise
    except RareError:
        raise UploadError(_RARE.format(kind)) from None
    except MemoryError:
        raise UploadError(_too_large("The picture", limits)) from None
    except Exception as error:  # readers have many ways to say that a file is broken
        raise _broken(kind, error) from None
    return image


def to_picture(image: Image.Image, kept: int | None = None) -> Image.Image:
    """What :func:`open_picture` opened, by :func:`dga.images.to_rgb`.

    Raises :class:`UploadError`.
    """
    try:
        return to_rgb(image, kept)
    except PictureError as error:
        raise UploadError(str(error)) from None
    except MemoryError:
        raise UploadError("This picture is too large for the memory that there is.") from None
    except Exception as error:  # decoders, too
        raise _broken(image.format or "file", error) from None


def _broken(kind: str, error: Exception) -> UploadError:
    unread = "unknown pixel mode" in str(error) or "nsupported" in str(error)
    if unread and not isinstance(error, ContainerError):
        return UploadError(_RARE.format(kind))
    return UploadError(
        "This picture is damaged or incomplete and cannot be read; try saving it again."
    )


def open_upload(
    path: str | Path | None, kept: int = KEPT_SIDE, limits: Limits = STRANGERS
) -> Image.Image:
    """Read one picture file: 8-bit RGB, upright, without metadata; see :func:`dga.images.to_rgb`.

    Raises :class:`UploadError`.
    """
    return to_picture(open_picture(read_bytes(path, limits), limits), kept)


@lru_cache(maxsize=1)
def _reads_heif() -> bool:
    """Whether the plugin for a phone's HEIC pictures is installed."""
    return importlib.util.find_spec("pillow_heif") is not None


def check_size(width: int, height: int, limits: Limits = STRANGERS) -> None:
    """Raise :class:`UploadError` unless both sides and their product are within limits."""
    if min(width, height) < limits.least:
        raise UploadError(
            f"The picture is {width} by {height} pixels; "
            f"each side must have at least {limits.least} pixels."
        )
    if max(width, height) > limits.side or width * height > limits.pixels:
        subject = f"The picture is {width:,} by {height:,} pixels and"
        raise UploadError(_too_large(subject, limits))


def _check_cost(kind: str, image: Image.Image, data: bytes) -> None:
    """Refuse what would take too much memory or time, although its size is allowed."""
    scans = data.count(b"\xff\xda") if kind == "JPEG" else 1
    most = int((_DECODED_BYTES - 2 * len(data)) / _bytes_per_pixel(kind, image, scans))
    if kind == "JPEG":
        most = min(most, _SCANNED_PIXELS // max(scans, 1))
    if image.width * image.height > most:
        raise UploadError(
            f"The picture is {image.width:,} by {image.height:,} pixels and is too large: of a "
            f"{kind} stored like this one at most {most / 1e6:.0f} megapixels are read."
        )
    coder = getattr(image, "tile", None) or [("",)]
    if coder[0][0] == "bmp_rle" and len(data) > _RUN_LENGTH_BYTES:
        raise UploadError("The picture is too large for a run-length encoded BMP; save it as PNG.")


def _bytes_per_pixel(kind: str, image: Image.Image, scans: int) -> float:
    """Upper bounds for what Pillow and the libraries below it hold at once."""
    if kind == "JPEG":
        parts = [(h, v) for _, h, v, _ in getattr(image, "layer", [])]
        areas = [max(h, 1) * max(v, 1) for h, v in parts] or [1]
        widest = max(h for h, _ in parts) * max(v for _, v in parts) if parts else 1
        whole = 2 * sum(areas) / max(widest, 1)  # 16-bit coefficients of all passes
        progressive = scans > 1 or bool(image.info.get("progressive"))
        return 4 + (whole if progressive else 0)
    if kind == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(258, (1,))
        samples = max(1, int(getattr(image, "tag_v2", {}).get(277, 1)))
        return 4 + max(bits) / 8 * max(samples, len(bits))  # one strip may be the whole picture
    return {"WEBP": 18, "HEIF": 14}.get(kind, 4)


def _too_large(subject: str, limits: Limits) -> str:
    return (
        f"{subject} is too large: at most {limits.side:,} pixels a side "
        f"and {limits.pixels // 1_000_000} megapixels are read."
    )


def read_square(path: str | Path, size: int, limits: Limits = STRANGERS) -> Pixels:
    """:func:`open_upload` as a run sees it: uint8 ``[size, size, 3]``, cropped to the middle."""
    return to_pixels(to_square(open_upload(path, max(KEPT_SIDE, size), limits), size))


def read_photograph(data: bytes, most: int) -> tuple[Pixels, tuple[int, int]]:
    """A stranger's photograph at its own size, reduced to ``most`` pixels where it has more.

    Returns uint8 ``[H, W, 3]``, and the width and height that it came with, upright.
    """
    check_length(data)
    image = open_picture(data)
    width, height = image.size
    picture = to_picture(image, KEPT_SIDE if width * height > most else None)
    is_turned = (picture.width - picture.height) * (width - height) < 0
    shrink = (most / (picture.width * picture.height)) ** 0.5
    if shrink < 1:
        size = max(1, int(picture.width * shrink)), max(1, int(picture.height * shrink))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    return to_pixels(picture), (height, width) if is_turned else (width, height)
