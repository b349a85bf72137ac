"""Hostile pictures, made here: by name, each with a function that returns its bytes."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
from PIL import Image

from tests.fuzz import blocks
from tests.fuzz.blocks import saved

Files = dict[str, Callable[[], bytes]]
MB = 2**20
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><script>1</script></svg>'


def seeds() -> Files:
    """One good file a format and way of storing: what the others are made from."""
    wide = Image.fromarray(np.arange(40 * 32, dtype=np.uint16).reshape(32, 40) * 50)
    return {
        "png": lambda: saved("PNG"),
        "png-16": lambda: saved("PNG", wide),
        "png-palette": lambda: saved("PNG", blocks.noise("P"), transparency=3),
        "jpeg": lambda: saved("JPEG"),
        "jpeg-progressive": lambda: saved("JPEG", progressive=True),
        "jpeg-cmyk": lambda: saved("JPEG", blocks.noise("CMYK")),
        "webp": lambda: saved("WEBP"),
        "webp-lossless": lambda: saved("WEBP", blocks.noise("RGBA"), lossless=True),
        "gif": lambda: saved("GIF", blocks.noise("P")),
        "tiff": lambda: saved("TIFF"),
        "tiff-lzw": lambda: saved("TIFF", compression="tiff_lzw"),
        "tiff-fax": lambda: saved("TIFF", blocks.noise("1"), compression="group4"),
        "tiff-jpeg": lambda: saved("TIFF", compression="jpeg"),
        "tiff-lab": lambda: saved("TIFF", blocks.noise("LAB")),
        "tiff-deflate": lambda: saved("TIFF", compression="tiff_adobe_deflate"),
        "tiff-16": lambda: saved("TIFF", wide),
        "bmp": lambda: saved("BMP"),
        "ppm": lambda: saved("PPM"),
        "avif": lambda: saved("AVIF"),
    }


def corpus() -> Files:
    """Everything that is tried."""
    parts = truncated, absurd_sizes, bombs, metadata, tiffs, rare, others
    return {name: make for part in parts for name, make in part().items()}


def truncated() -> Files:
    """Eight formats, cut at every tenth."""
    made = seeds()
    return {
        f"cut-{kind}-{tenth}0": lambda k=kind, t=tenth: made[k]()[: len(made[k]()) * t // 10]
        for kind in ("png", "jpeg-progressive", "webp", "gif", "tiff-lzw", "bmp", "ppm", "avif")
        for tenth in range(1, 10)
    }


def absurd_sizes() -> Files:
    """Headers that promise more pixels than there is memory in the world, or none."""
    most, jpeg = 2**31 - 1, saved("JPEG")
    frame = jpeg.index(b"\xff\xc0") + 5
    vp8x = bytes(4) + b"\xff" * 6
    data = chunk_of_idat()
    return {
        "size-png": lambda: blocks.PNG + blocks.ihdr(most, most) + data,
        "size-png-0": lambda: blocks.PNG + blocks.ihdr(0, 0) + data,
        "size-jpeg": lambda: jpeg[:frame] + b"\xff\xff\xff\xff" + jpeg[frame + 4 :],
        "size-gif": lambda: blocks.gif(65535, 65535, blocks.gif_image(65535, 65535, b"\4\1")),
        "size-gif-frame": lambda: blocks.gif(40, 32, blocks.gif_image(65535, 65535, b"\4\1")),
        "size-webp": lambda: blocks.riff((b"VP8X", vp8x), (b"VP8L", b"/" + b"\xff" * 4)),
        "size-bmp": lambda: blocks.bmp(most, most, 24, 0, bytes(99)),
        "size-tiff": lambda: blocks.tiff({256: (4, 1, 2**32 - 1), 257: (4, 1, 2**32 - 1)}),
    }


def chunk_of_idat() -> bytes:
    """Pixel data of a PNG that ends at once."""
    return blocks.chunk(b"IDAT", zlib.compress(bytes(99))) + blocks.chunk(b"IEND", b"")


def bombs() -> Files:
    """Small files of as many pixels as are allowed, or a few more."""
    return {
        "bomb-png-heavy": png_heavy,
        "bomb-png-palette": lambda: blocks.png(10_000, 5_000, 8, 3),
        "bomb-png-16": lambda: blocks.png(10_000, 5_000, 16, 0),
        "bomb-png-1": lambda: blocks.png(12_000, 12_000, 1, 0),
        "bomb-jpeg": lambda: saved("JPEG", Image.new("L", (10_000, 5_000))),
        "bomb-jpeg-progressive": lambda: saved(
            "JPEG", Image.new("RGB", (7_000, 5_000)), progressive=True, subsampling=0
        ),
        "bomb-webp-large": lambda: saved("WEBP", Image.new("RGB", (9_000, 2_000)), method=0),
        "bomb-gif": lambda: saved("GIF", Image.new("P", (10_000, 5_000))),
        "bomb-tiff": tiff_bomb,
        "bomb-bmp-rle": lambda: blocks.bmp(10_000, 5_000, 8, 1, b"\xff\x07" * (MB // 2)),
    }


def png_heavy() -> bytes:
    """As many pixels as a file of nearly 20 MB may have: noise that no packing makes smaller."""
    rows = np.zeros((4_600, 1 + 4 * 10_000), np.uint8)
    rows[:480, 1:] = np.random.default_rng(2).integers(0, 256, (480, 40_000), dtype=np.uint8)
    data = blocks.chunk(b"IDAT", zlib.compress(rows, 1))
    return blocks.PNG + blocks.ihdr(10_000, 4_600, 8, 6) + data + blocks.chunk(b"IEND", b"")


def tiff_bomb() -> bytes:
    """One deflated strip that is the whole picture."""
    side = 5_700
    sizes = {256: (4, 1, side), 257: (4, 1, side), 278: (4, 1, side)}
    return blocks.tiff(sizes | {259: (3, 1, 8)}, blocks.zeros(side * side * 3 // MB + 1))


def metadata() -> Files:
    """Good pictures with descriptions that are not."""
    big = blocks.overlapping(60_000, 4_900)
    icc = b"".join(blocks.segment(0xE2, b"ICC_PROFILE\0\1\xff" + bytes(65_000)) for _ in range(250))
    return {
        "meta-jpeg-icc": lambda: blocks.jpeg_with(icc),
        "meta-jpeg-exif": lambda: blocks.jpeg_with(blocks.segment(0xE1, b"Exif\0\0" + big)),
        "meta-jpeg-exif-long": exif_in_many_segments,
        "meta-png-exif": lambda: blocks.png_with(
            blocks.chunk(b"eXIf", blocks.overlapping(19 * MB))
        ),
        "meta-png-iccp": lambda: blocks.png_with(
            blocks.chunk(b"iCCP", b"a\0\0" + blocks.zeros(500))
        ),
        "meta-png-chunks": lambda: blocks.png_with(blocks.chunk(b"prVt", b"") * 1_000_000),
        "meta-jpeg-fill": lambda: blocks.jpeg_with(b"\xff" * 19 * MB),
        "meta-jpeg-fill-ends": lambda: saved("JPEG")[:2] + b"\xff" * 19 * MB,
        "meta-webp-exif": lambda: webp_with_exif(blocks.overlapping(19 * MB)),
    }


def exif_in_many_segments() -> bytes:
    """Pillow joins them; a directory in the first then points into all of them."""
    block = blocks.overlapping(19 * MB)
    parts = [block[i : i + 65_000] for i in range(0, len(block), 65_000)]
    return blocks.jpeg_with(*(blocks.segment(0xE1, b"Exif\0\0" + part) for part in parts))


def webp_with_exif(body: bytes) -> bytes:
    """A lossless WebP in the extended layout."""
    good = saved("WEBP", lossless=True)[12:]
    vp8x = bytes((8, 0, 0, 0, 39, 0, 0, 31, 0, 0))
    (length,) = struct.unpack_from("<I", good, 4)
    return blocks.riff((b"VP8X", vp8x), (b"EXIF", body), (b"VP8L", good[8 : 8 + length]))


def looped(data: bytes) -> bytes:
    """A TIFF whose first page says that it is followed by itself."""
    (start,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, start)
    at = start + 2 + 12 * count
    return data[:at] + data[4:8] + data[at + 4 :]


def tiffs() -> Files:
    """Directories that do not add up."""
    huge = 2**32 - 1
    tags: dict[str, dict[int, tuple[int, int, int]]] = {
        "strips-many": {273: (4, huge, 8), 279: (4, huge, 8)},
        "strips-of-0-rows": {278: (4, 1, 0)},
        "tile-huge": {322: (4, 1, huge), 323: (4, 1, huge), 324: (4, 1, 8), 325: (4, 1, huge)},
        "bits-many": {258: (3, 5_000_000, 8)},
        "samples-65535": {277: (3, 1, 65_535)},
        "compression-lzma": {259: (3, 1, 34_925)},
        "type-unknown": {257: (99, 1, 32)},
        "subsampling-0": {262: (3, 1, 6), 259: (3, 1, 7), 530: (3, 2, 0)},
    }
    made: Files = {
        f"tiff-{name}": lambda c=changes: blocks.tiff(c) for name, changes in tags.items()
    }
    infinite = np.full((32, 40), np.nan, np.float32)
    infinite[4:9] = np.inf
    return made | {
        "tiff-directory-bomb": lambda: blocks.overlapping(19 * MB),
        "tiff-directory-turns": lambda: blocks.directory([(0x0112, 4, 1, 6)] * 65_535),
        "tiff-loop": lambda: looped(saved("TIFF")),
        "tiff-big": lambda: b"II+\0\x08\0\0\0" + bytes(64),
        "tiff-not-numbers": lambda: saved("TIFF", Image.fromarray(infinite)),
    }


def rare() -> Files:
    """Ways to store a picture whose decoders have written or read beyond their memory."""
    usual, wide = saved("JPEG"), saved("JPEG", Image.new("RGB", (4_000, 32)))
    frame = usual[usual.index(b"\xff\xc0") :][:19]
    scan = wide.index(b"\xff\xda")
    grey = {258: (3, 1, 8), 262: (3, 1, 1), 277: (3, 1, 1)}
    tiles = {322: (3, 1, 16), 323: (3, 1, 16), 324: (4, 1, 4096), 325: (4, 1, 768)}
    return {
        "rare-jpeg-lossless": lambda: blocks.lossless(4_096, 4_096, 1),
        "rare-jpeg-lossless-rgb": lambda: blocks.lossless(8_000, 4_000, 3),
        "rare-jpeg-arithmetic": lambda: usual.replace(b"\xff\xc0", b"\xff\xc9", 1),
        "rare-jpeg-two-frames": lambda: wide[:scan] + frame + wide[scan:],
        "rare-jpeg-arithmetic-table": lambda: wide[:scan] + b"\xff\xcc\0\x15" + frame + wide[scan:],
        "rare-jpeg-length-0": lambda: wide[:scan] + b"\xff\xfe\0\0" + frame + wide[scan:],
        "rare-jpeg-no-frame": lambda: usual[:2] + usual[usual.index(b"\xff\xc4") :],
        "rare-jpeg-passes": jpeg_passes,
        "rare-jpeg-lossless-in-tiff": lambda: blocks.tiff(
            grey | {256: (4, 1, 4_096), 257: (4, 1, 4_096), 278: (4, 1, 4_096), 259: (3, 1, 7)},
            blocks.lossless(4_096, 4_096, 1),
        ),
        "rare-gif-notes": lambda: gif_with((b"!\xfe" + blocks.sub_blocks(b"x" * 9)) * MB),
        "cut-tiff-jpeg": lambda: saved("TIFF", compression="jpeg")[:-700],
        "cut-tiff-fax": lambda: saved("TIFF", blocks.noise("1"), compression="group4")[:-150],
        "rare-tiff-tiles": lambda: blocks.tiff(tiles),
        "rare-tiff-ycbcr": lambda: blocks.tiff({262: (3, 1, 6)}),
        "rare-tiff-lab": lambda: blocks.tiff({262: (3, 1, 8)}),
        "rare-tiff-compression-list": lambda: blocks.tiff({259: (3, 3, 65_536 + 1)}),
    }


def jpeg_passes() -> bytes:
    """A progressive picture of 9 megapixels whose last pass comes thousands of times."""
    good = saved("JPEG", Image.new("L", (3_000, 3_000)), progressive=True)
    last = good.rindex(b"\xff\xda")
    return good[:last] + good[last:-2] * 5_000 + b"\xff\xd9"


def gif_with(extra: bytes) -> bytes:
    """A good GIF with an extension in front of its picture."""
    good = saved("GIF", blocks.noise("P"))
    at = 13 + (3 << (good[10] & 7) + 1)
    return good[:at] + extra + good[at:]


def others() -> Files:
    """What is no picture of ours, and what is two things at once."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.txt", "a")
    return {
        "both-png-zip": lambda: saved("PNG") + archive.getvalue(),
        "both-jpeg-php": lambda: blocks.jpeg_with(blocks.segment(0xFE, b"<?php system($_GET[0]);")),
        "other-svg": lambda: SVG,
        "other-heif": lambda: bytes((0, 0, 0, 24)) + b"ftypheic" + bytes(4) + b"mif1heic" * 9,
        "other-words": lambda: b"no picture at all, only words" * 9,
        "other-zeros": lambda: bytes(MB),
        "other-random": lambda: np.random.default_rng(1).bytes(MB),
        "other-too-long": lambda: saved("PNG") + bytes(20 * MB),
    }
