"""Directories of a TIFF or of EXIF, read byte by byte.

Pillow reads all values that a directory names, whatever memory they take. So a directory is checked
here before Pillow reads it.
"""

import struct
from collections.abc import Iterator

from PIL.ExifTags import IFD, Base

EXIF = b"Exif\0\0"
"""How a block of EXIF begins in a JPEG."""
DIRECTORIES = {IFD.Exif, IFD.GPSInfo}
"""Tags of EXIF whose values are directories: the camera's settings, and the position."""
TEXTS = {
    Base.ImageDescription, Base.Make, Base.Model, Base.Software, Base.DateTime, Base.Artist,
    Base.Copyright,
}  # fmt: skip
"""Tags of EXIF that say in words where a picture comes from."""
_MOST_ENTRIES = 512
"""Most entries of a directory."""
_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
"""The order of bytes, as :mod:`struct` names it, by the first bytes of a TIFF."""


def find_directories(block: bytes) -> Iterator[int]:
    """The offsets, in bytes, at which the directories of a TIFF begin: one a page, each once."""
    order, position, starts = _BYTE_ORDERS.get(block[:4]), 4, set[int]()
    while order is not None:
        try:
            (start,) = struct.unpack_from(f"{order}I", block, position)
            (count,) = struct.unpack_from(f"{order}H", block, start)
        except struct.error:
            return
        if not start or start in starts:
            return
        starts.add(start)
        yield start
        position = start + 2 + 12 * count


def read_directory(
    block: bytes, start: int | None = None
) -> dict[int, tuple[int, int, int]] | None:
    """The entries of a directory of a TIFF or of EXIF, by tag.

    An entry is its type, its number of values, and the first value or the offset of it. ``start``:
    the directory's offset in bytes, by default that of the first. None where ``block`` is neither
    TIFF nor EXIF, has too many entries, or has a tag twice: in that way a hostile file can name the
    same megabytes many times.
    """
    order = _BYTE_ORDERS.get(block[:4])
    if order is None:
        return None
    entries: dict[int, tuple[int, int, int]] = {}
    try:
        if start is None:
            (start,) = struct.unpack_from(f"{order}I", block, 4)
        (count,) = struct.unpack_from(f"{order}H", block, start)
        for position in range(start + 2, start + 2 + 12 * count, 12):
            tag, value_type, values = struct.unpack_from(f"{order}HHI", block, position)
            is_short = value_type == 3 and values <= 2
            form = f"{order}{'H' if is_short else 'I'}"
            (value,) = struct.unpack_from(form, block, position + 8)
            if tag in entries or count > _MOST_ENTRIES:
                return None
            entries[tag] = value_type, values, value
    except struct.error:
        return None
    return entries


def read_orientation(exif: bytes) -> int:
    """The orientation, 1 to 8, of an EXIF block; 1 where there is none that can be read."""
    entries = read_directory(exif.removeprefix(EXIF)) or {}
    value_type, _, value = entries.get(Base.Orientation, (0, 0, 0))
    return value if value_type == 3 and 1 <= value <= 8 else 1
