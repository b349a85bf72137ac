"""One process at a time in a folder of results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold ``folder``, made if need be; a killed process no longer holds it.

    Two that write lines there would count pictures twice. Raises ``ValueError`` if another
    process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise ValueError(
            f"Another process writes to {folder}: wait until it is done, or choose another folder."
        ) from None
