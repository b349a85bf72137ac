"""Picture files, and the files that are made of them.

In one's own file every frame is repaired (:meth:`StoredPicture.remake`). In a stranger's upload
only the first frame is, perhaps reduced (:func:`encode_result`). In both cases the caller learns
what the result lacks of the file.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path, PurePath
from typing import Self

import numpy as np
from PIL import Image
from PIL.ExifTags import Base

from dga.data.encoding import Frame, encode_animation, encode_frame, encode_pages
from dga.data.formats import FORMATS, WRITTEN, Format
from dga.data.stored_values import StoredValues, is_high_bit, is_transparent
from dga.data.uploads import (
    OWNER_LIMITS,
    UploadError,
    decode_picture,
    has_further_frames,
    open_picture,
    read_bytes,
    refuse_unreadable,
    seek_frame,
)
from dga.images import Pixels, is_high_bit_grey, is_number, to_pixels
from dga.io.files import explain_writing, write_atomically
from dga.tiff import read_directory

MOST_FRAMES = 1_000
MOST_FRAME_PIXELS = 10**9
"""Most pixels of all frames together."""
_MORE_BITS = "more than 8 bits a channel"
_LAYERS = 37_724
"""The tag of a TIFF under which programs keep layers."""
_PICTURES_OF_MPF = 0xB001
"""The tag that lists the pictures of a JPEG with several (multi-picture format)."""
_EXTRA_CONTENT = {
    "its gain map (HDR)": re.compile(
        rb"hdr-gain-map|hdrgainmap|iso:ts:21496|infe[\s\S]{8}tmap", re.IGNORECASE
    ),
    "its video": re.compile(rb"MotionPhoto=|MicroVideo="),
}
"""What a file may hold beside its picture, in words, and how it is recognised in its bytes."""
_RARE_COLOURS = {"CMYK": "its printer's colours (CMYK)", "LAB": "its LAB values"}


@dataclass(frozen=True)
class RemadeFile:
    """A file that was made of another one."""

    content: bytes
    losses: list[str]
    """What the other one has and this one lacks, such as "its transparency"."""


@dataclass(frozen=True)
class StoredPicture:
    """A picture file: its bytes, and the picture as it was opened."""

    data: bytes
    image: Image.Image

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and decode one's own file. Raises :class:`~dga.data.uploads.UploadError`."""
        return cls.decode(read_bytes(path, OWNER_LIMITS))

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decode one's own file. Raises :class:`~dga.data.uploads.UploadError`."""
        picture = cls(data, open_picture(data, OWNER_LIMITS))
        _ = picture.pixels  # decoded at once, so that a damaged file is refused here
        return picture

    @cached_property
    def pixels(self) -> Pixels:
        """The first frame in 8 bits of sRGB on white, uint8 ``[H, W, 3]``."""
        return to_pixels(decode_picture(self.image))

    @property
    def format(self) -> Format:
        """The format of the file."""
        return FORMATS[str(self.image.format)]

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """The numbers of the frames or pages, from 0, without thumbnails.

        Raises :class:`~dga.data.uploads.UploadError` where there are too many.
        """
        if not (self.format.is_animated or self.format.has_pages):
            return (0,)
        numbers, pixels = [0], self.image.width * self.image.height
        image = open_picture(self.data, OWNER_LIMITS)
        for number in count(1):
            try:
                if not seek_frame(image, self.data, number):
                    break
            except UploadError:
                numbers.append(number)  # it is reported as lost when it is read
                break
            pixels += image.width * image.height
            if number >= MOST_FRAMES or pixels > MOST_FRAME_PIXELS:
                raise UploadError(
                    f"The file holds too many frames: at most {MOST_FRAMES:,} of them, and "
                    f"{MOST_FRAME_PIXELS // 10**6:,} megapixels in all, are repaired."
                )
            is_thumbnail = getattr(image, "tag_v2", {}).get(Base.NewSubfileType, 0) & 1
            if not is_thumbnail:
                numbers.append(number)
        return tuple(numbers)

    @property
    def default_suffix(self) -> str:
        """The suffix of a repaired file that no name was given for: its format holds all frames."""
        if len(self.frames) == 1:
            return ".png"
        return ".tif" if self.format.has_pages else self.format.endings[0]

    def list_writable_frames(self, suffix: str) -> tuple[int, ...]:
        """The numbers of those frames that a file with this suffix can hold."""
        target_format = WRITTEN[suffix.lower()]
        has_room = target_format.has_pages or (
            target_format.is_animated and self.format.is_animated
        )
        return self.frames if has_room else (0,)

    def remake(self, suffix: str, change: Callable[[Pixels], Pixels]) -> RemadeFile:
        """Make a file in which each frame, uint8 ``[H, W, 3]``, is what ``change`` makes of it.

        If no frame was changed, and ``suffix`` is of the file's own format, the result has the
        file's own bytes. Opacity, 16 bits of grey, profile, EXIF, resolution and times are kept
        where the format has them. Raises :class:`~dga.data.uploads.UploadError` where the first
        frame cannot be read.
        """
        target_format, numbers = WRITTEN[suffix.lower()], self.list_writable_frames(suffix)
        is_same, losses = target_format == self.format, dict[str, None]()
        written, unread = list[Frame](), 0
        is_animated = len(numbers) > 1 and target_format.is_animated
        for stored in self._read_frames(numbers):
            if stored is None:
                unread += 1
                continue
            pixels = change(stored.pixels)
            is_same &= np.array_equal(pixels, stored.pixels)
            if is_same and len(self.frames) == 1:
                break  # its own bytes are the result
            frame, lacking = _remake_frame(stored, pixels, target_format, is_animated)
            losses |= dict.fromkeys(lacking)
            written.append(frame)
        if is_same and numbers == self.frames and not unread:
            return RemadeFile(self.data, [])
        file_losses = self._list_file_losses(target_format, len(numbers) - unread, unread)
        loop = self.image.info.get("loop")
        if is_animated:
            has_still_picture = bool(getattr(self.image, "default_image", False))
            loop = int(loop) if is_number(loop) else None
            content = encode_animation(written, target_format, loop, has_still_picture)
        elif target_format.has_pages:
            content = encode_pages(written)
        else:
            content = encode_frame(written[0], target_format)
        return RemadeFile(content, [*file_losses, *losses])

    def _read_frames(self, numbers: Sequence[int]) -> Iterator[StoredValues | None]:
        """Each frame, None where it cannot be read; it may be used until the next is asked for.

        Raises :class:`~dga.data.uploads.UploadError` where the first frame cannot be read.
        """
        image = open_picture(self.data, OWNER_LIMITS)
        for number in numbers:
            try:
                seek_frame(image, self.data, number)
                with refuse_unreadable(self.format.name):
                    stored = StoredValues.read(image, self.data)
            except UploadError:
                if not number:
                    raise
                yield None
            else:
                yield stored

    def _list_file_losses(self, target_format: Format, written: int, unread: int) -> list[str]:
        """What a file of this format lacks of this one, but for the values of its frames.

        ``written``: how many frames that file has; ``unread``: how many could not be read.
        """
        total, losses = len(self.frames), list[str]()
        word = "pages" if self.format.has_pages else "frames"
        if total > written + unread:
            losses.append(f"{total - written - unread} of its {total} {word}")
        if unread:
            losses.append(f"{unread} of its {total} {word}, which cannot be read")
        if written > 1 and self.format.is_animated and not target_format.is_animated:
            losses.append("the times of its frames")
        return losses + _list_extra_content(self.data, self.image)


def _remake_frame(
    stored: StoredValues, pixels: Pixels, target_format: Format, is_animated: bool = False
) -> tuple[Frame, list[str]]:
    """A repaired frame, uint8 ``[H, W, 3]``, with as much of its file as a format can hold.

    Also returns what it lacks of the stored values and of what they mean.
    """
    may_have_16_bits = target_format.is_high_bit and not is_animated
    values, info = stored.restore_values(pixels, not target_format.is_opaque, may_have_16_bits)
    image, opacity, losses = stored.image, stored.opacity, list[str]()
    has_transparent_grey = is_high_bit_grey(image) and "transparency" in image.info
    if has_transparent_grey or (opacity is not None and target_format.is_opaque):
        losses.append("its transparency")
    elif opacity is not None and target_format.name == "GIF" and np.unique(opacity).size > 2:
        losses.append("its half transparency")
    if values.dtype == np.uint8 and stored.is_high_bit:
        losses.append(_MORE_BITS)
    elif image.mode in ("I", "F") and image.format != "PPM":  # which has 16 at most
        losses.append("more than 16 bits a channel")
    if target_format.name == "GIF":
        losses.append("more than 256 colours a frame")
    if image.mode in _RARE_COLOURS:
        losses.append(_RARE_COLOURS[image.mode])
    if "icc_profile" in image.info and "icc_profile" not in info:
        losses.append("its colour profile")
    duration = image.info.get("duration")
    return Frame(values, info, float(duration) if is_number(duration) else 0.0), losses


def _list_extra_content(data: bytes, image: Image.Image) -> list[str]:
    """What a file holds beside its frames; no file that is made of it holds that."""
    losses = [name for name, pattern in _EXTRA_CONTENT.items() if pattern.search(data)]
    entries = read_directory(image.info.get("mp", b"")) or {}
    pictures = entries.get(_PICTURES_OF_MPF, (0, 0, 1))[2]
    if pictures > 1 and not losses:
        losses.append(f"{pictures - 1} further picture{'s' * (pictures > 2)}")
    if _LAYERS in getattr(image, "tag_v2", {}):
        losses.append("its layers")
    if "xmp" in image.info:
        losses.append("its XMP notes")
    return losses


def list_losses(data: bytes, suffix: str, is_plain: bool) -> list[str]:
    """What the repaired first frame of a stranger's file will lack of that file.

    ``is_plain``: whether the result has 8 bits and no opacity, because it was reduced.
    """
    image = open_picture(data)
    word = "page" if FORMATS[str(image.format)].has_pages else "frame"
    losses = list[str]()
    if has_further_frames(image, data):
        losses.append(f"all but its first {word}")
    losses += _list_extra_content(data, image)
    if is_plain:
        if is_transparent(image):
            losses.append("its transparency")
        if is_high_bit(image, data):
            losses.append(_MORE_BITS)
        return losses
    stored = StoredValues.read(open_picture(data), data)
    return losses + _remake_frame(stored, stored.pixels, WRITTEN[suffix])[1]


def choose_suffix(format_name: str | None, name: str = "") -> str:
    """Choose the suffix of a stranger's repaired file. ``format_name``: that of the file itself.

    It is that of the same format, spelt as in the file's ``name``, where this format can be written
    and keeps the colours (a GIF does not); else ``.png``.
    """
    is_kept = format_name in FORMATS and FORMATS[format_name].is_written and format_name != "GIF"
    endings = FORMATS[format_name].endings if format_name and is_kept else (".png",)
    suffix = PurePath(name).suffix.lower()
    return suffix if suffix in endings else endings[0]


def encode_result(data: bytes, pixels: Pixels, suffix: str) -> bytes:
    """Make a file of a stranger's repaired first frame, uint8 ``[H, W, 3]``, perhaps reduced.

    If nothing was changed, and ``suffix`` is of the file's own format, the result is the file's own
    bytes. Profile, EXIF and resolution are kept where the format can hold them, opacity and 16 bits
    of grey where the frame was not reduced.
    """
    target_format, image = WRITTEN[suffix.lower()], open_picture(data)
    is_reduced = pixels.shape[0] * pixels.shape[1] != image.width * image.height
    with refuse_unreadable(str(image.format)):
        if is_reduced:
            stored = StoredValues.reduce(image, pixels)
        else:
            stored = StoredValues.read(image, data)
    is_same_format = target_format.name == image.format
    if not is_reduced and is_same_format and np.array_equal(pixels, stored.pixels):
        return data
    return encode_frame(_remake_frame(stored, pixels, target_format)[0], target_format)


def write_picture_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; its folder is made if need be. Raises ``OSError``."""
    with explain_writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as part:
            part.write_bytes(content)
