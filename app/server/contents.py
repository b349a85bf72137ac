"""What callers may send as JSON, and what errors may say."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

DEPTH, DIGITS, BRACKETS = 32, 40, 20_000  # of JSON
FAILED = "The request failed unexpectedly; the server's log says why."
UNFIT = "An argument is not of the kind, or not within the bounds, that the tool's schema gives."
METHODS = {"initialize", "ping", "tools/list", "tools/call", "prompts/list", "resources/list"}
SESSION = re.compile(r"[\w-]{8,64}", re.ASCII)  # an empty name ends Gradio's queue for everybody
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_LIBRARY = re.compile(r"[/\\{}<>]|Traceback|Errno|Gradio|Exception|0x")


class ForeignFileError(ValueError):
    """A caller names a file that is no upload, or an address."""


def read_json(body: bytes) -> dict[str, Any]:
    """A caller's values: shallow, of short numbers, files only of uploads, sessions with names.

    Raises ``ValueError``.
    """
    brackets = body.translate(None, _OTHERS)
    depths = accumulate(1 if bracket in b"[{" else -1 for bracket in brackets[:BRACKETS])
    if (
        len(brackets) > BRACKETS
        or max(depths, default=0) > DEPTH
        or re.search(rb"\d{%d}" % (DIGITS + 1), body)
    ):
        raise ValueError("too deep, or numbers of too many digits")
    values = json.loads(body.decode(), object_hook=_check_file)
    if not isinstance(values, dict) or not SESSION.fullmatch(
        str(values.get("session_hash", "unnamed-session"))
    ):
        raise ValueError("no request of a session")
    json.dumps(values, ensure_ascii=False).encode()  # half a character is none
    return values


def _check_file(values: dict[str, Any]) -> dict[str, Any]:
    """Gradio would look for the file, or fetch it."""
    if isinstance(name := values.get("path"), str):
        folder = Path(os.environ.get("GRADIO_TEMP_DIR", "/nowhere")).resolve()
        if not (Path(name).is_absolute() and Path(name).resolve().is_relative_to(folder)):
            raise ForeignFileError
    return values


def check_message(values: dict[str, Any]) -> None:
    """An assistant's: methods that there are, arguments without files and addresses.

    Raises ``ValueError``, and ``LookupError`` for other methods.
    """
    method, parameters = str(values.get("method")), values.get("params") or {}
    if values.get("jsonrpc") != "2.0" or len(str(values.get("id"))) > 64:
        raise ValueError("no message")
    if method not in METHODS and not method.startswith("notifications/"):
        raise LookupError(method)
    for value in dict(parameters.get("arguments") or {}).values():
        is_name = isinstance(value, str) and re.match(r"\s*(\w+:/|[/\\.~])", value)
        if is_name or isinstance(value, dict | list):
            raise ForeignFileError


def is_sentence(text: object) -> bool:
    """Whether a visitor may read it: no path, no markup, no library's words."""
    return isinstance(text, str) and text.endswith(".") and not _LIBRARY.search(text)


def clean_events(body: bytes) -> bytes:
    """Server-sent events, in which every error is a sentence."""
    if b"rror" not in body:
        return body
    lines = body.split(b"\n")
    for number, line in enumerate(lines):
        with suppress(ValueError):
            if line.startswith((b"data: {", b'data: "')):
                values = json.loads(line[6:], object_hook=_clean)
                values = FAILED if isinstance(values, str) and not is_sentence(values) else values
                lines[number] = b"data: " + json.dumps(values).encode()
    return b"\n".join(lines)


def _clean(values: dict[str, Any]) -> dict[str, Any]:
    parts = [values] if isinstance(values.get("error"), str) else []
    parts += values.get("content", []) if values.get("isError") else []
    for part in parts:
        name = "text" if part is not values else "error"
        part[name] = str(part.get(name)).removeprefix("Error: ")
        if not is_sentence(part[name]):
            part[name] = UNFIT if part[name].startswith("Input validation error") else FAILED
    return values
