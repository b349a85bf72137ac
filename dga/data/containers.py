"""Picture files cut down to what a decoder needs, before any decoder sees them.

Metadata is where small files hide large amounts of memory and work: an EXIF block may name
the same megabytes thousands of times, a text chunk may unfold without end. It is not needed.
"""

import struct
from dataclasses import dataclass

UPRIGHT = 1
_ORIENTATION = 0x0112
_EXIF = b"Exif\0\0"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_MAX_PNG_CHUNKS = 65_536

# Before the first scan a JPEG's decoder needs its tables, restarts and one frame: baseline,
# extended or progressive. Lossless and arithmetic ones have broken decoders.
_JPEG_FRAMES = frozenset((0xC0, 0xC1, 0xC2))
_JPEG_KEPT = _JPEG_FRAMES | frozenset((0xC4, 0xDB, 0xDD))
_JPEG_SCAN = 0xDA
_MAX_JPEG_FILL = 1000  # bytes between segments

# Without these a TIFF cannot be decoded; everything else describes it.
_TIFF_KEPT = frozenset(
    (*range(256, 260), 262, 266, 273, *range(277, 280), 284, 317, 320, 332, 334, 338, 339)
)
# None and LZW, Deflate, PackBits: decoders that say so when a strip is too short. JPEG and fax
# in a TIFF do not, and then show whatever was in memory before.
_TIFF_COMPRESSIONS = (1, 5, 8, 32773, 32946)
_TIFF_PHOTOMETRICS = (0, 1, 2, 3, 5)  # grey, RGB, palette, CMYK
_TIFF_TILES = frozenset((322, 323, 324, 325))  # read beyond their ends where sizes do not agree
_TIFF_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_MAX_TIFF_ENTRIES = 512
_MAX_TIFF_VALUES = 200_000  # strips of the largest picture, with room to spare


class ContainerError(ValueError):
    """A file that is not built as its format says, or that no honest program would write."""


class RareError(ContainerError):
    """A way to store a picture that is not read: its decoders are not trusted."""


@dataclass(frozen=True)
class Container:
    """A file without metadata. ``orientation``: EXIF's, 1 to 8; ``scans``: passes of a JPEG."""

    data: bytes
    orientation: int = UPRIGHT
    scans: int = 1


def format_of(data: bytes) -> str | None:
    """Pillow's name of the format that the first bytes announce; None for any other."""
    for name, magic in (
        ("PNG", _PNG_SIGNATURE),
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


def strip(name: str, data: bytes) -> Container:
    """The file of format ``name`` without metadata. Raises :class:`ContainerError`."""
    strippers = {"PNG": _png, "JPEG": _jpeg, "GIF": _gif, "TIFF": _tiff}
    try:
        return strippers[name](data) if name in strippers else Container(data)
    except (struct.error, IndexError):
        raise ContainerError("the file ends too early") from None


def orientation_of(exif: bytes) -> int:
    """Orientation, 1 to 8, from an EXIF block; 1 where there is none that can be read."""
    block = exif.removeprefix(_EXIF)
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(block[:4])
    if order is None:
        return UPRIGHT
    try:
        (start,) = struct.unpack_from(f"{order}I", block, 4)
        (count,) = struct.unpack_from(f"{order}H", block, start)
        for number in range(min(count, _MAX_TIFF_ENTRIES)):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", block, start + 2 + 12 * number)
            if tag == _ORIENTATION and kind == 3:
                return value if 1 <= value <= 8 else UPRIGHT
    except struct.error:
        pass
    return UPRIGHT


def webp_size(data: bytes) -> tuple[int, int]:
    """Width and height of a WebP's canvas. Raises :class:`ContainerError`."""
    kind, body = data[12:16], data[20:30]
    if len(body) < 10:
        raise ContainerError("the file ends too early")
    if kind == b"VP8X":
        width, height = (int.from_bytes(body[i : i + 3], "little") + 1 for i in (4, 7))
    elif kind == b"VP8 ":
        width, height = (int.from_bytes(body[i : i + 2], "little") & 0x3FFF for i in (6, 8))
    elif kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        raise ContainerError("no WebP picture")
    return width, height


def _png(data: bytes) -> Container:
    """Chunks of the first picture; an animation's other frames are in chunks of their own."""
    kept, at, orientation = [_PNG_SIGNATURE], len(_PNG_SIGNATURE), UPRIGHT
    for _ in range(_MAX_PNG_CHUNKS):
        if at >= len(data):
            return Container(b"".join(kept), orientation)
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + length]
        if kind in _PNG_KEPT:
            kept.append(chunk)
        elif kind == b"eXIf":
            orientation = orientation_of(chunk[8:-4])
        if kind == b"IEND":
            return Container(b"".join(kept), orientation)
        at += len(chunk)
    raise ContainerError("too many chunks")


def _jpeg(data: bytes) -> Container:
    """Tables, one frame and its scans, with Adobe's note on colours; ends where they do.

    Nothing else may stand before the scans: Pillow and libjpeg must read the same sizes.
    """
    kept, at, orientation, frames, fill = [data[:2]], 2, UPRIGHT, 0, 0
    while True:
        if data[at] != 0xFF:
            raise ContainerError("no marker where one belongs")
        marker = data[at + 1]
        if marker == 0xFF:
            at, fill = at + 1, fill + 1
            if fill > _MAX_JPEG_FILL:
                raise ContainerError("nothing but fill")
            continue
        if marker == _JPEG_SCAN:
            break
        (length,) = struct.unpack_from(">H", data, at + 2)
        segment = data[at : at + 2 + length]
        if length < 2 or len(segment) < 2 + length:
            raise ContainerError("a segment that does not add up")
        if marker == 0xE1 and segment[4:10] == _EXIF:
            orientation = orientation_of(segment[4:])
        adobe = marker == 0xEE and segment[4:9] == b"Adobe"
        if marker in _JPEG_KEPT or adobe:
            kept.append(segment)
            frames += marker in _JPEG_FRAMES
        elif not (0xE0 <= marker <= 0xEF or marker == 0xFE):
            raise RareError("a frame or a marker that is not read")
        at += 2 + length
    if frames != 1:
        raise ContainerError("no frame, or several")
    end = data.find(b"\xff\xd9", at)
    scans = data[at : end + 2 if end >= 0 else len(data)]
    return Container(b"".join([*kept, scans]), orientation, scans.count(b"\xff\xda"))


def _gif(data: bytes) -> Container:
    """The first picture with the extension that says what is transparent."""
    at = 13 + _palette_bytes(data[10])
    kept, control = data[:at], b""
    while True:
        start, kind = at, data[at]
        if kind == 0x2C:
            at = _after_blocks(data, at + 11 + _palette_bytes(data[at + 9]))
            return Container(kept + control + data[start:at] + b";")
        if kind == 0x21:
            at = _after_blocks(data, at + 2)
            control = data[start:at] if data[start + 1] == 0xF9 else control
        elif kind == 0:
            at += 1
        else:
            raise ContainerError("no picture in it")


def _palette_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, at: int) -> int:
    """Where a chain of length-prefixed blocks ends; the end of the file if it never does."""
    while at < len(data) and data[at]:
        at += data[at] + 1
    return at + 1


def _tiff(data: bytes) -> Container:
    """The same file with a new first directory of the tags that decoding needs, and no other."""
    order = "<" if data[:2] == b"II" else ">"
    (start,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, start)
    if count > _MAX_TIFF_ENTRIES:
        raise ContainerError("a directory beyond reason")
    entries: dict[int, bytes] = {}
    for number in range(count):
        entry = data[start + 2 + 12 * number : start + 14 + 12 * number]
        tag, kind, values = struct.unpack_from(f"{order}HHI", entry)
        if tag in _TIFF_TILES:
            raise RareError("tiles")
        if tag in _TIFF_KEPT and tag not in entries:
            _check_tiff_entry(order, entry, kind, values, len(data))
            entries[tag] = entry
    directory = struct.pack(f"{order}H", len(entries)) + b"".join(
        entry for _, entry in sorted(entries.items())
    )
    body = data + bytes(len(data) % 2)
    head = body[:4] + struct.pack(f"{order}I", len(body))
    return Container(head + body[8:] + directory + bytes(4), orientation_of(data))


def _check_tiff_entry(order: str, entry: bytes, kind: int, values: int, length: int) -> None:
    """Refuse lists that no picture of ours has, and rare ways to store pixels."""
    (tag,) = struct.unpack_from(f"{order}H", entry)
    size = _TIFF_TYPE_SIZES.get(kind)
    if size is None or values > _MAX_TIFF_VALUES or values * size > length:
        raise ContainerError("a directory that does not add up")
    allowed = {259: _TIFF_COMPRESSIONS, 262: _TIFF_PHOTOMETRICS}.get(tag)
    if allowed is None:
        return
    if kind != 3 or values != 1:  # where else the value lies is for the decoder to misread
        raise ContainerError("a list where one number belongs")
    if struct.unpack_from(f"{order}H", entry, 8)[0] not in allowed:
        raise RareError("a compression or colours that are not read")
