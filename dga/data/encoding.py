"""Values as files: one picture, pages of a TIFF, frames that follow each other in time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, TiffImagePlugin

from dga.data.formats import FORMATS, Format
from dga.data.stored_values import Values
from dga.tiff import DIRECTORIES

_RESTORED = 2  # a GIF's frame is cleared before the next, which may be transparent


@dataclass(frozen=True)
class Frame:
    """A picture to be written, or one frame or page of several."""

    values: Values
    """uint8 ``[H, W, 3 or 4]``, or uint16 ``[H, W]``."""
    info: dict[str, Any]
    """Profile, EXIF and resolution, by Pillow's names."""
    duration: float = 0.0
    """Milliseconds for which it is shown."""

    def to_image(self) -> Image.Image:
        """A PIL image."""
        image = Image.fromarray(self.values)
        image.info.update(self.info)
        return image


def encode_frame(frame: Frame, kind: Format) -> bytes:
    """The bytes of a file with one picture."""
    return encode_picture(frame.to_image(), kind.name, **kind.options, **frame.info)


def encode_picture(image: Image.Image, kind: str, **options: Any) -> bytes:
    """The bytes of a file with this picture; EXIF that a format cannot hold is left out.

    ``kind``: Pillow's name of the format.
    """
    stream = io.BytesIO()
    try:
        image.save(stream, kind, **options)
    except ValueError:
        if not options.pop("exif", None):
            raise
        return encode_picture(image, kind, **options)
    return stream.getvalue()


def encode_pages(frames: Sequence[Frame]) -> bytes:
    """The bytes of a TIFF with these pages, each with its own size and resolution."""
    if len(frames) == 1:
        return encode_frame(frames[0], FORMATS["TIFF"])
    stream = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(stream) as pages:
        for number, frame in enumerate(frames):
            info = dict(frame.info)
            if number and "exif" in info:  # whose directories would point to the first page
                exif = Image.Exif()
                exif.load(info.pop("exif"))
                for tag in DIRECTORIES:
                    exif.pop(tag, None)
                info |= {"exif": exif.tobytes()} if exif else {}
            pages.write(encode_frame(Frame(frame.values, info), FORMATS["TIFF"]))
            pages.newFrame()
    return stream.getvalue()


def encode_moving(frames: Sequence[Frame], kind: Format, loop: int | None, is_apart: bool) -> bytes:
    """The bytes of an animated PNG, WebP or GIF; all frames have one size.

    ``loop``: how often they are shown, 0 for ever, None for the format's default; ``is_apart``:
    whether the first is a PNG's still picture, which is no part of the animation.
    """
    images = [frame.to_image() for frame in frames]
    has_opacity = any(image.mode == "RGBA" for image in images)
    options = {**kind.options, **frames[0].info}
    name, is_png = kind.name, kind.name == "PNG"
    durations = [frame.duration if is_png else round(frame.duration) for frame in frames]
    if is_png:
        is_apart = is_apart and len(frames) > 1
        options |= {"default_image": is_apart, "blend": 0, "disposal": 0}
        if is_apart:  # the first picture has no time
            durations = durations[1:]
        images = [image.convert("RGBA") if has_opacity else image for image in images]
    elif name == "GIF":
        options |= {"disposal": _RESTORED if has_opacity else 0}
    elif has_opacity:
        options["kmax"] = 1  # each frame by itself: else libwebp loses the opacity of lossy ones
    if loop is not None:
        options["loop"] = loop
    elif name != "GIF":
        options["loop"] = 1  # which a GIF means by silence
    return encode_picture(
        images[0], name, save_all=True, append_images=images[1:], duration=durations, **options
    )
