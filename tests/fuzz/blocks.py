"""Pieces that hostile pictures are put together from."""

import io
import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

PNG = b"\x89PNG\r\n\x1a\n"


def saved(kind: str, picture: Image.Image | np.ndarray | None = None, **options: Any) -> bytes:
    """A picture as a file; by default 40 by 32 pixels of noise."""
    stream = io.BytesIO()
    image = Image.fromarray(picture) if isinstance(picture, np.ndarray) else picture or noise()
    image.save(stream, kind, **options)
    return stream.getvalue()


def noise(mode: str = "RGB", size: tuple[int, int] = (40, 32)) -> Image.Image:
    """The same random pixels every time."""
    shape = (size[1], size[0], 3)
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    return Image.fromarray(pixels).convert(mode)


def chunk(kind: bytes, body: bytes) -> bytes:
    """One PNG chunk with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def ihdr(width: int, height: int, depth: int = 8, colour: int = 2) -> bytes:
    """A PNG's header chunk."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


def png(width: int, height: int, depth: int, colour: int) -> bytes:
    """A PNG of zeros, which is small however many pixels it has."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    packer, row = zlib.compressobj(1), bytes(1 + (width * samples * depth + 7) // 8)
    rows = [packer.compress(row) for _ in range(height)]
    palette = chunk(b"PLTE", bytes(768)) if colour == 3 else b""
    data = chunk(b"IDAT", b"".join([*rows, packer.flush()]))
    return PNG + ihdr(width, height, depth, colour) + palette + data + chunk(b"IEND", b"")


def png_with(*extra: bytes) -> bytes:
    """A good PNG with chunks put in after its header."""
    good = saved("PNG")
    return good[:33] + b"".join(extra) + good[33:]


@lru_cache
def zeros(megabytes: int) -> bytes:
    """So many megabytes of zeros, deflated: less than a hundredth of that."""
    packer, block = zlib.compressobj(1), bytes(2**20)
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def segment(marker: int, body: bytes) -> bytes:
    """One JPEG segment."""
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg_with(*segments: bytes, **options: Any) -> bytes:
    """A good JPEG with segments put in front."""
    good = saved("JPEG", **options)
    return good[:2] + b"".join(segments) + good[2:]


def lossless(width: int, height: int, bands: int) -> bytes:
    """A lossless JPEG of one grey: each sample is one bit that says "as predicted"."""
    numbers = range(1, bands + 1)
    parts = b"".join(bytes((number, 0x11, 0)) for number in numbers)
    frame = segment(0xC3, struct.pack(">BHHB", 8, height, width, bands) + parts)
    table = segment(0xC4, bytes(1) + bytes((1, *[0] * 15)) + bytes(1))
    tables = b"".join(bytes((number, 0)) for number in numbers)
    scan = segment(0xDA, bytes((bands,)) + tables + bytes((1, 0, 0)))
    return b"\xff\xd8" + frame + table + scan + bytes(width * height * bands // 8) + b"\xff\xd9"


def directory(entries: Sequence[tuple[int, int, int, int]]) -> bytes:
    """A TIFF with one directory of (tag, type, count, value) entries and nothing else."""
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + body + bytes(4)


def tiff(changes: dict[int, tuple[int, int, int]], data: bytes = bytes(40 * 32 * 3)) -> bytes:
    """A small raw TIFF of 40 by 32 pixels whose tags are changed; its strip is ``data``."""
    usual = {
        256: (4, 1, 40), 257: (4, 1, 32), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 2),
        273: (4, 1, 4096), 277: (3, 1, 3), 278: (4, 1, 32), 279: (4, 1, len(data)),
    }  # fmt: skip
    entries = [(tag, *values) for tag, values in sorted((usual | changes).items())]
    return directory(entries).ljust(4096, b"\0") + data


def overlapping(length: int, entries: int = 65_000) -> bytes:
    """An EXIF block in which every entry claims the whole block as its value."""
    made = directory([(400 + number, 7, length - 8, 8) for number in range(entries)])
    return made[:length].ljust(length, b"\0")


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    """A WebP file of the given chunks."""
    body = b"".join(
        kind + struct.pack("<I", len(part)) + part + bytes(len(part) % 2) for kind, part in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def bmp(width: int, height: int, bits: int, compression: int, data: bytes) -> bytes:
    """A BMP with a palette of 256 greys and any header."""
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, 256, 0)
    palette = b"".join(bytes((n, n, n, 0)) for n in range(256))
    start = 14 + len(info) + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start)
    return head + info + palette + data


def gif(width: int, height: int, *blocks: bytes) -> bytes:
    """A GIF's header and the given blocks."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    return head + b"".join(blocks) + b";"


def gif_image(width: int, height: int, data: bytes) -> bytes:
    """An image block of a GIF with LZW codes of 2 bits in ``data``."""
    return b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\2" + sub_blocks(data)


def sub_blocks(data: bytes) -> bytes:
    """A chain of length-prefixed blocks."""
    parts = (data[i : i + 255] for i in range(0, len(data), 255))
    return b"".join(bytes((len(part),)) + part for part in parts) + b"\0"
