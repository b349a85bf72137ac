"""Picture files and what is made of them.

Of one's own file every frame is repaired (:meth:`StoredPicture.remake`), of a stranger's the first,
perhaps reduced (:func:`encode_result`). What a result lacks of its file is said of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path, PurePath

import numpy as np
from PIL import Image
from PIL.ExifTags import Base

from dga.data.encoding import Frame, encode_frame, encode_moving, encode_pages
from dga.data.formats import FORMATS, WRITTEN, Format
from dga.data.stored_values import StoredValues, has_deep_values, is_transparent
from dga.data.uploads import (
    OWNER,
    UploadError,
    go_to_frame,
    has_further_frames,
    open_picture,
    read_bytes,
    refuse_unreadable,
    to_picture,
)
from dga.images import (
    Pixels,
    is_deep_grey,
    is_number,
    to_pixels,
)
from dga.io.files import explain_writing, write_atomically
from dga.tiff import read_directory

MOST_FRAMES, MOST_FRAME_PIXELS = 1_000, 10**9
_MORE_BITS = "more than 8 bits a channel"
_LAYERS, _PICTURES_OF_MPF = 37_724, 0xB001  # tags of a TIFF, and of a JPEG's list of pictures
_BESIDE = {
    "its gain map (HDR)": re.compile(rb"hdr-gain-map|hdrgainmap|iso:ts:21496", re.IGNORECASE),
    "its video": re.compile(rb"MotionPhoto=|MicroVideo="),
}
"""What a file may hold beside its picture, and what names it there."""
_RARE_COLOURS = {"CMYK": "its printer's colours (CMYK)", "LAB": "its LAB values"}


@dataclass(frozen=True)
class Remade:
    """A file that was made of another."""

    content: bytes
    losses: list[str]
    """What the other has and this one lacks, such as "its transparency"."""


@dataclass(frozen=True)
class StoredPicture:
    """A picture file: its bytes, and the picture as it was opened."""

    data: bytes
    image: Image.Image

    @classmethod
    def read(cls, path: Path) -> StoredPicture:
        """Read and decode one's own file. Raises :class:`~dga.data.uploads.UploadError`."""
        return cls.decode(read_bytes(path, OWNER))

    @classmethod
    def decode(cls, data: bytes) -> StoredPicture:
        """Decode one's own file. Raises :class:`~dga.data.uploads.UploadError`."""
        picture = cls(data, open_picture(data, OWNER))
        _ = picture.pixels  # what cannot be decoded is refused here
        return picture

    @cached_property
    def pixels(self) -> Pixels:
        """Its first frame in 8 bits of sRGB on white, uint8 ``[H, W, 3]``."""
        return to_pixels(to_picture(self.image))

    @property
    def kind(self) -> Format:
        """Its format."""
        return FORMATS[str(self.image.format)]

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """Places of its frames or pages, thumbnails left out.

        Raises :class:`~dga.data.uploads.UploadError` where there are too many.
        """
        places, pixels = [0], self.image.width * self.image.height
        if not (self.kind.is_moving or self.kind.is_paged):
            return (0,)
        image = open_picture(self.data, OWNER)
        for place in count(1):
            try:
                if not go_to_frame(image, self.data, place):
                    break
            except UploadError:
                places.append(place)  # told where it is read
                break
            if place >= MOST_FRAMES or (pixels := pixels + image.width * image.height) > (
                MOST_FRAME_PIXELS
            ):
                raise UploadError(
                    f"The file holds too many frames: at most {MOST_FRAMES:,} of them, and "
                    f"{MOST_FRAME_PIXELS // 10**6:,} megapixels in all, are repaired."
                )
            if not getattr(image, "tag_v2", {}).get(Base.NewSubfileType, 0) & 1:
                places.append(place)
        return tuple(places)

    @property
    def usual_suffix(self) -> str:
        """The ending of its repaired file: of a format that holds all frames, mostly ``.png``."""
        if len(self.frames) == 1:
            return ".png"
        return ".tif" if self.kind.is_paged else self.kind.endings[0]

    def list_written(self, suffix: str) -> tuple[int, ...]:
        """Places of those of its frames that a file with this suffix can hold."""
        kind = WRITTEN[suffix.lower()]
        is_held = kind.is_paged or (kind.is_moving and self.kind.is_moving)
        return self.frames if is_held else (0,)

    def remake(self, suffix: str, change: Callable[[Pixels], Pixels]) -> Remade:
        """Make a file of what ``change`` makes of each frame, uint8 ``[H, W, 3]``.

        If nothing was changed, and ``suffix`` asks for the format that it has, these are its own
        bytes. Opacity, 16 bits of grey, profile, EXIF, resolution and times are kept where the
        format has them. Raises :class:`~dga.data.uploads.UploadError` where the first frame cannot
        be read.
        """
        kind, places = WRITTEN[suffix.lower()], self.list_written(suffix)
        is_same, losses = kind == self.kind, dict[str, None]()
        written, unread = list[Frame](), 0
        is_moving = len(places) > 1 and kind.is_moving
        for stored in self._read_frames(places):
            if stored is None:
                unread += 1
                continue
            pixels = change(stored.pixels)
            is_same &= np.array_equal(pixels, stored.pixels)
            if is_same and len(self.frames) == 1:
                break  # nothing of it is needed
            frame, lacking = _remake_frame(stored, pixels, kind, is_moving)
            losses |= dict.fromkeys(lacking)
            written.append(frame)
        if is_same and places == self.frames and not unread:
            return Remade(self.data, [])
        rest = self._list_file_losses(kind, len(places) - unread, unread)
        loop = self.image.info.get("loop")
        if is_moving:
            is_apart = bool(getattr(self.image, "default_image", False))
            loop = int(loop) if is_number(loop) else None
            content = encode_moving(written, kind, loop, is_apart)
        elif kind.is_paged:
            content = encode_pages(written)
        else:
            content = encode_frame(written[0], kind)
        return Remade(content, [*rest, *losses])

    def _read_frames(self, places: Sequence[int]) -> Iterator[StoredValues | None]:
        """Each frame, None where it cannot be read; it may be used until the next is asked for."""
        image = open_picture(self.data, OWNER)
        for place in places:
            try:
                go_to_frame(image, self.data, place)
                with refuse_unreadable(self.kind.name):
                    stored = StoredValues.read(image, self.data)
            except UploadError:
                if not place:
                    raise
                yield None
            else:
                yield stored

    def _list_file_losses(self, kind: Format, written: int, unread: int) -> list[str]:
        """What a file of this format lacks of this one, but for the values of its frames.

        ``written``, ``unread``: how many frames it has, and how many could not be read.
        """
        total = len(self.frames)
        word = "pages" if self.kind.is_paged else "frames"
        losses = [f"{total - written - unread} of its {total} {word}"] * (total > written + unread)
        losses += [f"{unread} of its {total} {word}, which cannot be read"] * (unread > 0)
        if written > 1 and self.kind.is_moving and not kind.is_moving:
            losses.append("the times of its frames")
        return losses + _list_beside(self.data, self.image)


def _remake_frame(
    stored: StoredValues, pixels: Pixels, kind: Format, is_moving: bool = False
) -> tuple[Frame, list[str]]:
    """A repaired frame, uint8 ``[H, W, 3]``, with as much of its file as a format can hold; and
    what of its values, and of what they mean, it lacks."""
    values, info = stored.lay_back(pixels, not kind.is_opaque, kind.is_deep and not is_moving)
    image, opacity, losses = stored.image, stored.opacity, list[str]()
    is_hidden = is_deep_grey(image) and "transparency" in image.info
    if is_hidden or (opacity is not None and kind.is_opaque):
        losses.append("its transparency")
    elif opacity is not None and kind.name == "GIF" and np.unique(opacity).size > 2:
        losses.append("its half transparency")
    if values.dtype == np.uint8 and stored.is_deep:
        losses.append(_MORE_BITS)
    elif image.mode in ("I", "F"):
        losses.append("more than 16 bits a channel")
    if kind.name == "GIF":
        losses.append("more than 256 colours a frame")
    if image.mode in _RARE_COLOURS:
        losses.append(_RARE_COLOURS[image.mode])
    if "icc_profile" in image.info and "icc_profile" not in info:
        losses.append("its colour profile")
    duration = image.info.get("duration")
    return Frame(values, info, float(duration) if is_number(duration) else 0.0), losses


def _list_beside(data: bytes, image: Image.Image) -> list[str]:
    """What a file holds beside its pictures; no file that is made of it holds that."""
    losses = [name for name, pattern in _BESIDE.items() if pattern.search(data)]
    further = (read_directory(image.info.get("mp", b"")) or {}).get(_PICTURES_OF_MPF, (0, 0, 1))[2]
    if further > 1 and not losses:
        losses.append(f"{further - 1} further picture{'s' * (further > 2)}")
    losses += ["its layers"] * (_LAYERS in getattr(image, "tag_v2", {}))
    return losses + ["its XMP notes"] * ("xmp" in image.info)


def list_losses(data: bytes, suffix: str, is_plain: bool) -> list[str]:
    """What the repaired first frame of a stranger's file will lack of that file.

    ``is_plain``: whether it has 8 bits and no opacity, as one that is reduced.
    """
    image = open_picture(data)
    word = "page" if FORMATS[str(image.format)].is_paged else "frame"
    losses = [f"all but its first {word}"] * has_further_frames(image, data)
    losses += _list_beside(data, image)
    if is_plain:
        losses += ["its transparency"] * is_transparent(image)
        return losses + [_MORE_BITS] * has_deep_values(image, data)
    stored = StoredValues.read(open_picture(data), data)
    return losses + _remake_frame(stored, stored.pixels, WRITTEN[suffix])[1]


def choose_suffix(kind: str | None, name: str = "") -> str:
    """The suffix of a stranger's repaired file: of its own format, spelt as in its ``name``, where
    that is written and keeps the colours; else ``.png``."""
    is_kept = kind in FORMATS and FORMATS[kind].is_written and kind != "GIF"
    fitting = FORMATS[kind].endings if kind and is_kept else (".png",)
    suffix = PurePath(name).suffix.lower()
    return suffix if suffix in fitting else fitting[0]


def encode_result(data: bytes, pixels: Pixels, suffix: str) -> bytes:
    """Make a file of a stranger's repaired first frame, uint8 ``[H, W, 3]``, perhaps reduced.

    If nothing was changed, and ``suffix`` asks for the format that it has, these are its own bytes.
    Profile, EXIF and resolution are kept where the format can hold them, opacity and 16 bits of
    grey where it was not reduced.
    """
    kind, image = WRITTEN[suffix.lower()], open_picture(data)
    is_reduced = pixels.shape[0] * pixels.shape[1] != image.width * image.height
    with refuse_unreadable(str(image.format)):
        stored = (
            StoredValues.reduce(image, pixels) if is_reduced else StoredValues.read(image, data)
        )
    if not is_reduced and kind.name == image.format and np.array_equal(pixels, stored.pixels):
        return data
    return encode_frame(_remake_frame(stored, pixels, kind)[0], kind)


def write(path: Path, content: bytes) -> None:
    """Write a whole file or none, in a folder that is made if need be. Raises ``OSError``."""
    with explain_writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as part:
            part.write_bytes(content)
