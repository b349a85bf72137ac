"""Files that are whole or not there: atomic writing, sums, one process at a time."""

import dataclasses
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

# Names by which one part finds what another wrote.
CONFIG = "config.json"  # of weights, and of a folder of results
CHECKPOINT = "checkpoint.pt"  # a trainer's own, beside the weights that it will write
LINES, CURVES, FEATURES = "lines.jsonl", "curves.npz", "features.npz"  # results
INDEX = "index.json"  # of tables and figures
LOCK = ".lock"  # of a folder that a process writes to


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic(path: Path, suffix: str = ".part") -> Iterator[Path]:
    """Write to the given path instead: ``path`` is the old file or the whole new one.

    It lies beside ``path``, under a name that nobody has, which ends in ``suffix``.
    """
    part = path.with_name(f".{secrets.token_hex(8)}{suffix}")
    part.touch(exist_ok=False)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def numbered(path: Path) -> Path:
    """``path``, or where there is something already ``NAME-2.png``, ``NAME-3.png`` ..."""
    names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write indented JSON: the old file or the whole new one, never half of it."""
    with atomic(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n")


def to_plain(config: object) -> dict[str, Any]:
    """A (nested) dataclass as JSON types, by field.

    Metadata of a field: ``key``, what files have always called it, where that is another word.
    """
    plain: dict[str, Any] = json.loads(json.dumps(config, default=_named_values))
    return plain


def _named_values(data: Any) -> dict[str, Any]:
    return {f.metadata.get("key", f.name): getattr(data, f.name) for f in dataclasses.fields(data)}


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold ``folder``, made if need be; a killed process no longer holds it.

    Two that write lines there would count pictures twice. Raises ``ValueError`` if another
    process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0):
            yield
    except Timeout:
        raise ValueError(
            f"Another process writes to {folder}: wait until it is done, or choose another folder."
        ) from None
