"""What callers may send as JSON, and what errors may say."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from app.server.visitors import REFUSALS, RefusedError

DEPTH, DIGITS, BRACKETS = 32, 40, 20_000  # of JSON
UNFIT = "An argument is not of the kind, or not within the bounds, that the tool's schema gives."
MCP_METHODS = {"initialize", "ping", "tools/list", "tools/call", "prompts/list", "resources/list"}
SESSION = re.compile(r"[\w-]{8,64}", re.ASCII)  # an empty name ends Gradio's queue for everybody
_LIBRARY = re.compile(r"[/\\{}<>]|Traceback|Errno|Gradio|Exception|0x")
_EVENT = re.compile(rb'^data: ([{"].*)$', re.MULTILINE)
_FOREIGN = re.compile(r"\s*(\w+:/|[/\\.~])")
_UPLOAD = {"path", "url", "orig_name"}  # of which path alone is opened


def check_json(body: bytes, is_message: bool = False) -> bytes:
    """A caller's values as they are understood here: shallow, of short numbers, files of uploads
    only, sessions with names. ``is_message``: an assistant's, of a known method.

    Raises ``ValueError``, and :class:`RefusedError` for files and methods.
    """
    if body.count(b"[") + body.count(b"{") > BRACKETS or re.search(rb"\d{%d}" % (DIGITS + 1), body):
        raise ValueError("too many values, or numbers of too many digits")
    values = json.loads(body.decode())
    is_greeting = is_message and isinstance(values, dict) and values.get("method") == "initialize"
    _check_value(values, has_values=not is_greeting)
    if not isinstance(values, dict) or not SESSION.fullmatch(
        str(values.get("session_hash", "unnamed-session"))
    ):
        raise ValueError("no values of a session with a name")
    clean_body = json.dumps(values, ensure_ascii=False).encode()  # half a character is none
    method = str(values.get("method"))
    if is_message and method not in MCP_METHODS and not method.startswith("notifications/"):
        raise RefusedError("closed")
    return clean_body


def _check_value(value: Any, has_values: bool = True, depth: int = 1) -> None:
    """Raise for what is too deep, and for files that are no uploads: Gradio would fetch them.

    A text that names a file or an address is one of these under any name. ``has_values``: else
    they are an assistant's words on itself, of which Gradio opens nothing.
    """
    if depth > DEPTH:
        raise ValueError("too deep")
    if has_values and isinstance(value, str) and _FOREIGN.match(value):
        raise RefusedError("file")
    if isinstance(value, dict):
        path = value.get("path")
        if isinstance(path, str):
            if not is_upload(path):
                raise RefusedError("file")
            value = {name: part for name, part in value.items() if name not in _UPLOAD}
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        _check_value(part, has_values, depth + 1)


def is_upload(path: str) -> bool:
    """Whether a file came here, and nothing leads from there to another."""
    folder = Path(os.environ.get("GRADIO_TEMP_DIR", "/nowhere")).resolve()
    return Path(path).is_absolute() and Path(path).resolve().is_relative_to(folder)


def is_sentence(text: object) -> bool:
    """Whether a visitor may read it: no path, no markup, no library's words."""
    return isinstance(text, str) and text.endswith(".") and not _LIBRARY.search(text)


def clean_events(body: bytes) -> bytes:
    """Server-sent events, in which every error is a sentence."""
    return _EVENT.sub(_clean_event, body) if b"rror" in body else body


def _clean_event(event: re.Match[bytes]) -> bytes:
    try:
        values = json.loads(event[1], object_hook=_clean_values)
    except ValueError:
        return event[0]
    return b"data: " + json.dumps(clean(values) if isinstance(values, str) else values).encode()


def _clean_values(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(values.get("error"), str):
        values["error"] = clean(values["error"])
    for part in values.get("content", []) if values.get("isError") else []:
        part["text"] = clean(str(part.get("text")))
    return values


def clean(error: str) -> str:
    """An error's own words where visitors may read them; else that there was one."""
    words = error.removeprefix("Error: ").strip("'\"")  # as Gradio's own are written for assistants
    if is_sentence(words):
        return words
    return UNFIT if words.startswith("Input validation error") else REFUSALS["failed"][1]
