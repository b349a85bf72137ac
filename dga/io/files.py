"""Files that are whole or missing: atomic writing, checksums, one process at a time.

A command that was killed goes on when it is run again. That is safe because every file that it
finds is complete.
"""

import dataclasses
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

# Names of files that one part of the package writes and another reads.
CONFIG = "config.json"  # of weights, and of a folder of results
CHECKPOINT = "checkpoint.pt"  # a trainer's own, beside the weights that it will write
LINES = "lines.jsonl"  # results
RECORD = "adapted.json"  # of a run of one picture, beside its pictures
LOCK = ".lock"  # of a folder that a process writes to
PART = ".part"  # the end of what is being written


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to, which replaces ``path`` once everything is written.

    It is beside ``path`` and has an unused name. After an error ``path`` is as it was before. After
    a power cut it is as before, or has the new content.
    """
    part = path.with_name(f".{secrets.token_hex(8)}{PART}")
    part.touch(exist_ok=False)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
        _flush_names(path.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def explain_writing(path: Path) -> Iterator[None]:
    """Add advice to an ``OSError`` in writing ``path``, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OSError(
            f"{path} could not be written ({reason}): mend that, then run the same command again."
        ) from error


def find_partial_files(folder: Path) -> set[Path]:
    """Find the temporary files that killed processes left of :func:`write_atomically`."""
    return {path for path in folder.glob(f".*{PART}") if len(path.stem) == 1 + 16}


def _flush_names(folder: Path) -> None:
    """Write the names of a folder's files to the disk at once, where the system can do that."""
    with suppress(OSError):  # Windows cannot open folders, some network drives cannot flush them
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def find_unused_path(path: Path) -> Path:
    """Find an unused path: ``path``, else the first of ``NAME-2.png``, ``NAME-3.png``, ..."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return next(free for free in chain([path], numbered) if not os.path.lexists(free))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file, indented and atomically."""
    with write_atomically(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n")


def to_plain(config: Any) -> dict[str, Any]:
    """Convert a dataclass, with those inside of it, to JSON types."""
    return json.loads(json.dumps(dataclasses.asdict(config)))


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock ``folder``, which is made if need be, for this process; the lock ends with the process.

    Without it two processes that write lines there would count pictures twice. Raises
    ``ValueError`` while another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0):
            yield
    except Timeout:
        raise ValueError(
            f"Another process writes to {folder}: wait until it is done, or choose another folder."
        ) from None
