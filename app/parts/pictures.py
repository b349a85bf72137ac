"""Pictures on their way in and out of the browser."""

from __future__ import annotations

import base64
import io
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
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format, **how)
    text = base64.b64encode(stream.getvalue()).decode()
    return f"data:image/{format.lower()};base64,{text}"
