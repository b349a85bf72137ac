"""The page's scripts, which lie in ``app/static``."""

from __future__ import annotations

from pathlib import Path

from dga.shipped import shipped


def static() -> Path:
    """Where the page's scripts and style sheets lie."""
    return shipped("app/static")


def script(*names: str) -> str:
    """One script for ``js_on_load``, put together from files without their ending."""
    return "\n".join((static() / f"{name}.js").read_text("utf-8") for name in names)
