"""HTML components with scripts from ``app/static``, and events that are the page's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dga.io.shipped import shipped

# Of events that no program may call; the light ones do not wait for the models.
PRIVATE: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
LIGHT: dict[str, Any] = PRIVATE | {"queue": False}

# The browser saves the file of a hidden ``gr.File`` as soon as the server has made it.
SAVE = """(file) => {
  if (!file) return;
  const anchor = document.createElement("a");
  anchor.href = file.url;
  anchor.download = file.orig_name || file.path.split("/").pop();
  anchor.click();
}"""
Answer = TypeVar("Answer")


def static() -> Path:
    """Where the page's scripts and style sheets lie."""
    return shipped("app/static")


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(static()), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def rendered(name: str, **known: Any) -> str:
    """A template of ``app/static``, in which all that is ``known`` is escaped."""
    return _templates().get_template(f"{name}.html").render(known)


def html(value: Any = None, scripts: Sequence[str] = (), **props: Any) -> gr.HTML:
    """``gr.HTML`` in our own styles, with ``scripts`` named as in :func:`script`."""
    if scripts:
        props["js_on_load"] = script(*scripts)
    return gr.HTML(value, apply_default_css=False, **props)


def script(*names: str) -> str:
    """One script for ``js_on_load``: ``shared/base``, then these files without their ending."""
    files = (static() / f"{name}.js" for name in ("shared/base", *names))
    return "\n".join(file.read_text("utf-8") for file in files)


def for_visitor(handler: Callable[..., Answer]) -> Callable[..., Answer]:
    """``handler``, which is given the name of a visitor's session, as Gradio calls it."""

    def handle(request: gr.Request, *asked: Any) -> Answer:
        return handler(str(request.session_hash), *asked)

    handle.__name__ = handler.__name__
    return handle


def for_event(handler: Callable[..., Answer], *parts: str) -> Callable[..., Answer]:
    """As :func:`for_visitor`; what is asked are ``parts`` of an event of the page's script."""

    def handle(event: gr.EventData, request: gr.Request) -> Answer:
        return handler(str(request.session_hash), *(event_field(event, part) for part in parts))

    handle.__name__ = handler.__name__
    return handle


def event_field(event: gr.EventData, part: str) -> Any:
    """A part of an event; None where a stranger's has none."""
    try:
        return getattr(event, part, None)
    except (TypeError, IndexError):  # what came is no object
        return None
