"""What a caller's JSON may name: uploads only, and sessions by names that are names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradio.utils import get_upload_folder

_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)


def parsed(body: bytes) -> dict[str, Any]:
    """A request's values. Raises ``ValueError`` or ``RecursionError`` for what is none."""
    values = json.loads(body)
    if not isinstance(values, dict) or not is_name(values.get("session_hash", "none")):
        raise ValueError("no request of a session")
    return values


def is_name(session: object) -> bool:
    """Whether a client may call its session so.

    Gradio's queue ends for everybody over an empty name, and its cancelling over "<gradio-sep>".
    """
    return session is None or (isinstance(session, str) and _NAME.fullmatch(session) is not None)


def named_files(value: Any) -> Iterator[str]:
    """Every path in a caller's values, however deep."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(part.get("path"), str):
                yield part["path"]
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part


def is_upload(path: str) -> bool:
    """Whether a path lies in the folder of uploads, with links and dots resolved.

    Only whole paths do: dots also lead there from an address that Gradio would fetch.
    """
    named, folder = Path(path), Path(get_upload_folder())
    try:
        return named.is_absolute() and named.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False
