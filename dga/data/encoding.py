"""Encoding pixels as files: one picture, the pages of a TIFF, the frames of an animation."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, TiffImagePlugin

from dga.data.formats import FORMATS, Format
from dga.data.stored_values import Values
from dga.tiff import DIRECTORIES

_CLEARED = 2
"""A GIF's disposal: each frame is cleared before the next one, which may be transparent."""


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
        """Make a PIL image of it."""
        image = Image.fromarray(self.values)
        image.info.update(self.info)
        return image


def encode_frame(frame: Frame, file_format: Format) -> bytes:
    """Encode one frame as a file."""
    return encode_picture(frame.to_image(), file_format.name, **file_format.options, **frame.info)


def encode_picture(image: Image.Image, format_name: str, **options: Any) -> bytes:
    """Encode a picture as a file; EXIF that the format cannot hold is left out.

    ``format_name``: Pillow's name of the format; ``options``: for Pillow. Raises ``ValueError``
    where Pillow cannot write the picture.
    """
    stream = io.BytesIO()
    try:
        image.save(stream, format_name, **options)
    except ValueError:
        if not options.pop("exif", None):
            raise
        return encode_picture(image, format_name, **options)
    return stream.getvalue()


def encode_pages(frames: Sequence[Frame]) -> bytes:
    """Encode pages as a TIFF, each with its own size and resolution."""
    if len(frames) == 1:
        return encode_frame(frames[0], FORMATS["TIFF"])
    stream = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(stream) as pages:
        for number, frame in enumerate(frames):
            info = dict(frame.info)
            if number and "exif" in info:  # its directories would point into the first page
                exif = Image.Exif()
                exif.load(info.pop("exif"))
                for tag in DIRECTORIES:
                    exif.pop(tag, None)
                info |= {"exif": exif.tobytes()} if exif else {}
            pages.write(encode_frame(Frame(frame.values, info), FORMATS["TIFF"]))
            pages.newFrame()
    return stream.getvalue()


def encode_animation(
    frames: Sequence[Frame], file_format: Format, loop: int | None, has_still_picture: bool
) -> bytes:
    """Encode an animated PNG, WebP or GIF; frames that are smaller than others end in black.

    ``loop``: how often they are shown, 0 for ever, None for the format's default;
    ``has_still_picture``: whether the first frame is a PNG's still picture, which is no part of the
    animation.
    """
    images = [frame.to_image() for frame in frames]
    width, height = (max(image.size[side] for image in images) for side in (0, 1))
    images = [image.crop((0, 0, width, height)) for image in images]
    has_opacity = any(image.mode == "RGBA" for image in images)
    options = {**file_format.options, **frames[0].info}
    name, is_png = file_format.name, file_format.name == "PNG"
    durations = [frame.duration if is_png else round(frame.duration) for frame in frames]
    if is_png:
        has_still_picture = has_still_picture and len(frames) > 1
        options |= {"default_image": has_still_picture, "blend": 0, "disposal": 0}
        if has_still_picture:  # the first picture has no time
            durations = durations[1:]
        images = [image.convert("RGBA") if has_opacity else image for image in images]
    elif name == "GIF":
        options |= {"disposal": _CLEARED if has_opacity else 0}
    elif has_opacity:
        options["kmax"] = 1  # each frame by itself: else libwebp loses the opacity of lossy ones
    if loop is not None:
        options["loop"] = loop
    elif name != "GIF":
        options["loop"] = 1  # a GIF without this option is shown once, too
    return encode_picture(
        images[0], name, save_all=True, append_images=images[1:], duration=durations, **options
    )
