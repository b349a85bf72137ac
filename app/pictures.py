"""Pictures on their way in and out of the browser."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import ImageData
from gradio.utils import get_upload_folder
from PIL import Image

from dga.images import Pixels


def picture_input(**options: Any) -> gr.Image:
    """``gr.Image`` that hands over the path of the upload, without opening the file."""
    image = gr.Image(type="filepath", image_mode=None, **options)
    # Not a subclass: Gradio would write a stub file beside this one.
    image.preprocess = _uploaded_path
    return image


def _uploaded_path(payload: ImageData | None) -> str | None:
    """Path of the upload; None for anything that was not uploaded here."""
    if payload is None or not payload.path:
        return None
    path = Path(payload.path).resolve()
    return str(path) if path.is_relative_to(Path(get_upload_folder()).resolve()) else None


def data_uri(pixels: Pixels, format: str = "PNG") -> str:
    """uint8 ``[H, W, 3]`` as a ``data:`` address for an ``img`` tag."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format, quality=85)
    text = base64.b64encode(stream.getvalue()).decode()
    return f"data:image/{format.lower()};base64,{text}"
