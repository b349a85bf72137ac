"""Pictures on their way in and out of the browser."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Mapping
from typing import Any

import gradio as gr
from PIL import Image

from dga.images import Pixels


def picture_input(**options: Any) -> gr.Image:
    """``gr.Image`` for the path of an upload; ``StrictBlocks`` keeps it from opening the file."""
    return gr.Image(type="filepath", image_mode=None, **options)


def data_uri(pixels: Pixels, format: str = "WEBP") -> str:
    """uint8 ``[H, W, 3]`` as a ``data:`` address for an ``img`` tag; WebP keeps every bit."""
    how = {"lossless": True, "method": 0} if format == "WEBP" else {"quality": 85}
    return uri(encoded(pixels, format, **how), format.lower())


def encoded(pixels: Pixels, format: str, **how: Any) -> bytes:
    """uint8 ``[H, W, 3]`` as a file of a format; ``how``: options of Pillow's."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format, **how)
    return stream.getvalue()


def uri(content: bytes, kind: str) -> str:
    """A file's bytes as a ``data:`` address; ``kind``: jpeg or webp."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A ZIP file of these, by name, without the clock: the same run gives the same one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the earliest that there is
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return stream.getvalue()
