"""Directories of a TIFF or of EXIF, read byte by byte.

Pillow reads all values that a directory names, whatever memory they take; so these are looked
through before.
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
_MOST_ENTRIES = 512  # in a directory
_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
"""The order of its bytes, as :mod:`struct` names it, by how a TIFF begins."""


def find_directories(block: bytes) -> Iterator[int]:
    """Where the directories of a TIFF begin, one a page, each once."""
    order, at, found = _ORDERS.get(block[:4]), 4, set[int]()
    while order is not None:
        try:
            (start,) = struct.unpack_from(f"{order}I", block, at)
            (count,) = struct.unpack_from(f"{order}H", block, start)
        except struct.error:
            return
        if not start or start in found:
            return
        found.add(start)
        yield start
        at = start + 2 + 12 * count


def read_directory(
    block: bytes, start: int | None = None
) -> dict[int, tuple[int, int, int]] | None:
    """Entries of a TIFF or of EXIF by tag: type, number of values, and the first one or its offset.

    None where ``block`` is neither, or has too many entries or a tag twice, with which a hostile
    file may name the same megabytes many times. ``start``: of the directory, by default the first.
    """
    order = _ORDERS.get(block[:4])
    if order is None:
        return None
    entries: dict[int, tuple[int, int, int]] = {}
    try:
        if start is None:
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


def read_orientation(exif: bytes) -> int:
    """Orientation, 1 to 8, from an EXIF block; 1 where there is none that can be read."""
    kind, _, value = (read_directory(exif.removeprefix(EXIF)) or {}).get(
        Base.Orientation, (0, 0, 0)
    )
    return value if kind == 3 and 1 <= value <= 8 else 1
