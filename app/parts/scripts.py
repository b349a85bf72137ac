"""The page's scripts, which lie in ``app/static``."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).resolve().parents[1] / "static"


def script(*names: str) -> str:
    """One script for ``js_on_load``, put together from files without their ending."""
    return "\n".join((STATIC / f"{name}.js").read_text("utf-8") for name in names)
