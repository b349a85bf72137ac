"""What pages' scripts ask for by name: JSON and pictures, kept in memory."""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.responses import JSONResponse

MADE = "made"  # the folder of their names


def add_json(opens: dict[str, bytes], value: Any) -> str:
    """As :func:`add_file`. Raises ``ValueError`` where a number is none that JSON knows."""
    return add_file(opens, "json", bytes(JSONResponse(value).body))


def add_file(opens: dict[str, bytes], kind: str, content: bytes) -> str:
    """The name under which it now is in ``opens``, made of its content: browsers may keep it."""
    name = f"{MADE}/{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
    opens[name] = content
    return name
