"""What a picture file is, told by its bytes, and whether it is safe to open.

Pillow reads pixels when they are asked for; formats and sizes are known before. What it reads at
once, without a limit, is looked at here first: small files may hide much memory and work.
"""

import struct

from dga.images import EXIF, directory

_PNG_TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_MOST_CHUNKS = 65_536
# Before the first scan of a JPEG there is one frame: baseline, extended or progressive. Lossless,
# hierarchical and arithmetic ones have broken decoders.
_JPEG_FRAMES = frozenset((0xC0, 0xC1, 0xC2))
_JPEG_TABLES = frozenset((0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)))
# None, LZW, Deflate, PackBits: decoders that say so when a strip is too short. JPEG and fax in a
# TIFF do not, and then show whatever was in memory before.
_TIFF_COMPRESSIONS = (1, 5, 8, 32773, 32946)
_TIFF_COLOURS = (0, 1, 2, 3, 5)  # grey, RGB, palette, CMYK
_TIFF_TILES = frozenset((322, 323, 324, 325))  # read beyond their ends where sizes do not agree
_TIFF_RAW = frozenset((50706, 33421))  # a camera's own values, beside a thumbnail
_TIFF_KINDS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_TIFF_BELOW = (34665, 34853, 40965)  # directories within one: the camera's settings, the place


class ContainerError(ValueError):
    """A file that is not built as its format says, or that no honest program would write."""


class RareError(ContainerError):
    """A way to store a picture that is not read: its decoders are not trusted."""


def format_of(data: bytes) -> str | None:
    """Pillow's name of the format that the first bytes announce; None for any other."""
    for name, magic in (
        ("PNG", b"\x89PNG\r\n\x1a\n"),
        ("JPEG", b"\xff\xd8\xff"),
        ("GIF", b"GIF87a"),
        ("GIF", b"GIF89a"),
        ("TIFF", b"II*\0"),
        ("TIFF", b"MM\0*"),
        ("BMP", b"BM"),
    ):
        if data.startswith(magic):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    brands = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
    return "HEIF" if data[4:8] == b"ftyp" and data[8:12] in brands else None


def checked(kind: str, data: bytes) -> bytes:
    """The file, safe to be opened, perhaps without metadata that is not.

    Raises :class:`ContainerError`; :class:`RareError` for what is fine but not read.
    """
    try:
        if kind == "PNG":
            return _png(data)
        if kind == "JPEG":
            return _jpeg(data)
        if kind == "TIFF":
            _check_tiff(data)
    except (struct.error, IndexError):
        raise ContainerError("the file ends too early") from None
    return data


def _png(data: bytes) -> bytes:
    """Without texts, which may unfold without end; of each chunk Pillow makes an object."""
    kept, at = [data[:8]], 8
    while at < len(data) and data[at + 4 : at + 8] != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"cICP":
            raise RareError("colours beyond sRGB, or brighter than white")
        if kind not in _PNG_TEXTS:
            kept.append(data[at : at + 12 + length])
        if len(kept) > _MOST_CHUNKS:
            raise ContainerError("too many chunks")
        at += 12 + length
    return b"".join((*kept, data[at : at + 12]))


def _jpeg(data: bytes) -> bytes:
    """Without other pictures' directories, and without EXIF that does not add up."""
    kept, at, frames = [data[:2]], 2, 0
    while data[at + 1] != 0xDA:
        if data[at] != 0xFF:
            raise ContainerError("no marker where one belongs")
        marker = data[at + 1]
        if marker == 0xFF and data[at + 2] != 0xFF:  # fill; more of it is nobody's habit
            at += 1
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        segment = data[at : at + 2 + length]
        if length < 2 or len(segment) < 2 + length:
            raise ContainerError("a segment that does not add up")
        if marker not in _JPEG_FRAMES and marker not in _JPEG_TABLES:
            raise RareError("a frame or a marker that is not read")
        frames += marker in _JPEG_FRAMES
        is_exif = marker == 0xE1 and segment[4:10] == EXIF
        if not (is_exif and not adds_up(segment[10:])) and segment[4:8] != b"MPF\0":
            kept.append(segment)
        at += 2 + length
    if frames != 1:
        raise ContainerError("no frame, or several")
    return b"".join((*kept, data[at:]))


def _check_tiff(data: bytes) -> None:
    """Refuse rare ways to store pixels, and directories that no honest program would write."""
    entries = directory(data)
    if entries is None or not adds_up(data):
        raise ContainerError("a directory that does not add up")
    if entries.keys() & (_TIFF_TILES | _TIFF_RAW) or entries.get(254, (0, 1, 0))[2] & 1:
        raise RareError("tiles, a camera's own values or a thumbnail")
    for tag, allowed in ((259, _TIFF_COMPRESSIONS), (262, _TIFF_COLOURS)):
        kind, count, value = entries.get(tag, (3, 1, 1))
        if kind != 3 or count != 1 or value not in allowed:
            raise RareError("a compression or colours that are not read")


def adds_up(block: bytes) -> bool:
    """Whether a TIFF's or EXIF's directories name no more than there is: each byte about once."""
    first = directory(block) or {}
    total, starts = 0, [None, *(first[tag][2] for tag in _TIFF_BELOW if tag in first)]
    for start in starts:
        entries = directory(block, start)
        if entries is None:
            return False
        for kind, values, _ in entries.values():
            total += _TIFF_KINDS.get(kind, 1) * values
    return total <= 2 * len(block) + 64
