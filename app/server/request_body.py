"""What a caller's JSON may be: shallow, of small numbers, of uploads and sessions with names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from app.server.limits import MAX_DEPTH, MAX_DIGITS, MAX_VALUES
from app.server.upload_folder import present

# A session is whoever knows its name: browsers draw about 11 letters, clients 32.
_NAME = re.compile(r"[\w-]{8,64}", re.ASCII)


def parsed(body: bytes) -> dict[str, Any]:
    """A request's values. Raises ``ValueError`` or ``RecursionError`` for what is none."""
    if sum(body.count(mark) for mark in b"[{,") > MAX_VALUES:
        raise ValueError("too many values")
    whole, real = partial(_number, int), partial(_number, float)
    values = json.loads(body, parse_int=whole, parse_float=real, parse_constant=real)
    if not isinstance(values, dict) or not is_name(values.get("session_hash", "a-session")):
        raise ValueError("no request of a session")
    for text in (part for part in _parts(values) if isinstance(part, str)):
        text.encode()  # half a character can be neither kept nor sent
    return values


def _number(kind: type[float], text: str) -> float:
    if len(text) > MAX_DIGITS or not math.isfinite(number := kind(text)):
        raise ValueError("no number, or of too many digits")
    return number


def is_name(session: object) -> bool:
    """Whether a client may call its session so; none is for calls that keep nothing.

    Gradio's queue ends for everybody over an empty name, and its cancelling over "<gradio-sep>".
    """
    return session is None or (isinstance(session, str) and _NAME.fullmatch(session) is not None)


def _parts(value: Any) -> Iterator[Any]:
    """Every value within another. Raises ``ValueError`` for what is too deep."""
    left = [(value, 0)]
    while left:
        part, depth = left.pop()
        yield part
        inner = [*part, *part.values()] if isinstance(part, dict) else part
        if isinstance(inner, list | tuple):
            if depth >= MAX_DEPTH:
                raise ValueError("too deep")
            left += [(value, depth + 1) for value in inner]


def named_files(value: Any) -> Iterator[str]:
    """Every path in a caller's values, however deep."""
    for part in _parts(value):
        if isinstance(part, dict) and isinstance(part.get("path"), str):
            yield part["path"]


def is_upload(path: str) -> bool:
    """Whether a path lies in the folder of uploads, with links and dots resolved.

    Only whole paths do: dots also lead there from an address that Gradio would fetch.
    """
    named, folder = Path(path), present()
    try:
        return named.is_absolute() and named.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False
