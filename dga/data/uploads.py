"""From a file of unknown origin to a safe RGB picture, or one clear sentence."""

import importlib
import importlib.util
import io
import threading
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from dga.data.containers import (
    UPRIGHT,
    Container,
    RareError,
    format_of,
    orientation_of,
    strip,
    webp_size,
)
from dga.images import Pixels, to_pixels, to_square

MIN_SIDE = 16
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
MAX_BYTES = 20 * 2**20
KEPT_SIDE = 768  # the shorter side of a large picture, at least; runs see 256 pixels at most

_DECODED_BYTES = 235_000_000  # memory that decoding may take, with copies of the file
_SCANNED_PIXELS = 600_000_000  # of a JPEG, over all its passes
_RUN_LENGTH_BYTES = 2 * 2**20  # of a BMP that is unpacked run by run
_BAND_PIXELS = 1_000_000  # converted at once
_ALLOWED = "PNG, JPEG, WebP, GIF, TIFF or BMP"
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_one_at_a_time = threading.Lock()  # bounds the memory of many uploads at once


class UploadError(ValueError):
    """A file that cannot be used. The message is one sentence for its owner."""


def open_upload(path: str | Path | None, kept: int = KEPT_SIDE) -> Image.Image:
    """Read one uploaded picture: 8-bit RGB, upright, without metadata.

    The format is that of the bytes, whatever the name. Metadata is cut out and sizes are read
    from the header before anything is decoded. Of an animation the first frame is taken,
    transparency is laid over white, and a picture whose shorter side has at least twice ``kept``
    pixels is reduced by a whole factor, to no less than that. Raises :class:`UploadError`.
    """
    return _opened(path, kept)[0]


def _opened(path: str | Path | None, kept: int = KEPT_SIDE) -> tuple[Image.Image, int]:
    """:func:`open_upload`, and how many pixels the picture came with."""
    data = _read(path)
    kind = format_of(data)
    if kind is None or (kind == "HEIF" and not _reads_heif()):
        raise UploadError(f"This file is not a {_ALLOWED} picture.")
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # our own size limit is stricter than Pillow's warning
        try:
            return _picture(kind, strip(kind, data), kept)
        except UploadError:
            raise
        except RareError:
            raise UploadError(
                f"This {kind} is stored in a rare way that is not read; save the picture as PNG."
            ) from None
        except (Image.DecompressionBombError, MemoryError):
            raise UploadError(_too_large("The picture")) from None
        except Exception:  # decoders have many ways to say that a file is broken
            raise UploadError(
                "This picture is damaged or incomplete and cannot be read; try saving it again."
            ) from None


def _read(path: str | Path | None) -> bytes:
    """The file's bytes, once: what was checked is what is decoded."""
    if not path:
        raise UploadError("Choose a picture first: upload one, paste one or pick an example.")
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        raise UploadError(
            "There is no such file (any more); please choose the picture again."
        ) from None
    if not data:
        raise UploadError(f"The file is empty; choose a {_ALLOWED} picture.")
    if len(data) > MAX_BYTES:
        raise UploadError(f"The file is too large: at most {MAX_BYTES // 2**20} MB are read.")
    return data


@lru_cache(maxsize=1)
def _reads_heif() -> bool:
    """Whether the plugin for a phone's HEIC pictures is installed; it is then registered."""
    if importlib.util.find_spec("pillow_heif") is None:
        return False
    importlib.import_module("pillow_heif").register_heif_opener(thumbnails=False)
    return True


def check_size(width: int, height: int) -> None:
    """Raise :class:`UploadError` unless both sides and their product are within limits."""
    if min(width, height) < MIN_SIDE:
        raise UploadError(
            f"The picture is {width} by {height} pixels; "
            f"each side must have at least {MIN_SIDE} pixels."
        )
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise UploadError(_too_large(f"The picture is {width:,} by {height:,} pixels and"))


def _check_cost(kind: str, image: Image.Image, container: Container, kept: int) -> None:
    """Refuse what would take too much memory or time, although its size is allowed."""
    pixels = image.width * image.height
    memory = _DECODED_BYTES - 2 * len(container.data)
    most = int(memory / _bytes_per_pixel(kind, image, container.scans, kept))
    if kind == "JPEG":
        most = min(most, _SCANNED_PIXELS // max(container.scans, 1))
    if pixels > most:
        raise UploadError(
            f"The picture is {image.width:,} by {image.height:,} pixels and is too large: of a "
            f"{kind} stored like this one at most {most / 1e6:.0f} megapixels are read."
        )
    coder = getattr(image, "tile", None) or [("",)]
    if coder[0][0] == "bmp_rle" and len(container.data) > _RUN_LENGTH_BYTES:
        raise UploadError("The picture is too large for a run-length encoded BMP; save it as PNG.")


def _bytes_per_pixel(kind: str, image: Image.Image, scans: int, kept: int) -> float:
    """Upper bounds for what Pillow and the libraries below it hold at once."""
    if kind == "JPEG":
        parts = [(h, v) for _, h, v, _ in getattr(image, "layer", [])]
        areas = [max(h, 1) * max(v, 1) for h, v in parts] or [1]
        widest = max(h for h, _ in parts) * max(v for _, v in parts) if parts else 1
        whole = 2 * sum(areas) / max(widest, 1)  # 16-bit coefficients of all passes
        progressive = scans > 1 or bool(image.info.get("progressive"))
        return 4 / _factor(*image.size, kept) ** 2 + (whole if progressive else 0)
    if kind == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(258, (1,))
        samples = max(1, int(getattr(image, "tag_v2", {}).get(277, 1)))
        return 4 + max(bits) / 8 * max(samples, len(bits))  # one strip may be the whole picture
    return {"WEBP": 18, "HEIF": 14}.get(kind, 4)


def _factor(width: int, height: int, kept: int) -> int:
    return max(1, min(width, height) // kept)


def _picture(kind: str, container: Container, kept: int) -> tuple[Image.Image, int]:
    if kind == "WEBP":
        check_size(*webp_size(container.data))  # Pillow makes room for it on opening
    with Image.open(io.BytesIO(container.data), formats=(kind,)) as image:
        check_size(*image.size)
        _check_cost(kind, image, container, kept)
        came = image.width * image.height
        exif = image.info.get("exif") if kind == "WEBP" else None
        rgb = _decode(image, kept)
    orientation = orientation_of(exif) if exif else container.orientation
    if orientation != UPRIGHT:
        rgb = rgb.transpose(_TURNS[orientation])
    rgb.info = {}  # no EXIF, no colour profile, no text
    return rgb, came


def _decode(image: Image.Image, kept: int) -> Image.Image:
    factor = _factor(*image.size, kept)
    if factor > 1:  # a JPEG can be decoded at a half, a quarter or an eighth of its size
        width, height = (-(-side // factor) for side in image.size)
        image.draft(None, (width, height))
    image.seek(0)
    image.load()
    return _flatten(image, _factor(*image.size, kept))


def _flatten(image: Image.Image, factor: int) -> Image.Image:
    """A new RGB picture, ``factor`` times smaller, made band by band to spare memory."""
    width, height = image.size
    paper = Image.new("RGB", (-(-width // factor), -(-height // factor)), "white")
    rows = factor * max(1, _BAND_PIXELS // (width * factor))
    boxes = [(0, top, width, min(top + rows, height)) for top in range(0, height, rows)]
    full = _full_scale(image, boxes) if image.mode.startswith("I") or image.mode == "F" else None
    for box in boxes:
        band = image.crop(box)
        if full is not None:
            band = Image.fromarray(_to_8_bits(band, full))
        paper.paste(_opaque(band).reduce(factor), (0, box[1] // factor))
    return paper


def _opaque(image: Image.Image) -> Image.Image:
    """RGB, with transparency laid over white."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    image = image if image.mode == "RGBA" else image.convert("RGBA")
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image.getchannel("A"))
    return paper


def _full_scale(image: Image.Image, boxes: list[tuple[int, int, int, int]]) -> float:
    """The value that stands for white in a grey picture of 16 or 32 bits, or of floats."""
    bands = (np.asarray(image.crop(box)) for box in boxes)
    tops = [(float(np.nan_to_num(values).max()), values.dtype) for values in bands]
    top, dtype = max(top for top, _ in tops), tops[0][1]
    if dtype.kind == "f":
        return 1.0 if top <= 1 else 255.0 if top <= 255 else max(top, 65535.0)
    return 255.0 if top <= 255 and dtype != np.uint16 else max(top, 65535.0)


def _to_8_bits(image: Image.Image, full: float) -> np.ndarray:
    """Grey in 16 or 32 bits, or float, to uint8 ``[H, W]``; ``full`` becomes 255."""
    grey = np.nan_to_num(np.asarray(image).astype(np.float32))
    return (grey * (255 / full)).round().clip(0, 255).astype(np.uint8)


def _too_large(subject: str) -> str:
    return (
        f"{subject} is too large: at most {MAX_SIDE:,} pixels a side "
        f"and {MAX_PIXELS // 1_000_000} megapixels are read."
    )


def read_square(path: str | Path | None, size: int) -> Pixels:
    """:func:`open_upload` as a run sees it: uint8 ``[size, size, 3]``, cropped to the middle."""
    return to_pixels(to_square(open_upload(path), size))


def read_photograph(path: str | Path | None, most: int) -> tuple[Pixels, int]:
    """:func:`open_upload` at its own size, reduced to ``most`` pixels where it has more.

    Returns uint8 ``[H, W, 3]``, and how many pixels the picture came with.
    """
    image, came = _opened(path)
    shrink = (most / (image.width * image.height)) ** 0.5
    if shrink < 1:
        size = max(1, int(image.width * shrink)), max(1, int(image.height * shrink))
        image = image.resize(size, Image.Resampling.LANCZOS)
    return to_pixels(image), came
