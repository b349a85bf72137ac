"""The folder that uploads and results lie in while they are used: private and short-lived."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, ClassVar

from filelock import FileLock

from app.server.limits import ADDRESS_BYTES, FOLDER_BYTES, KEPT_MINUTES
from app.server.turns import Debts

VARIABLE = "GRADIO_TEMP_DIR"
PREFIX = "dga-uploads-"
LOCK = ".lock"
KEPT_SECONDS = 3000.0  # 50 minutes
SWEEP_SECONDS = 20.0  # between two
CLOSE_SECONDS = 0.6
_KEY = secrets.token_bytes(32)
_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


def kept(content: BinaryIO, name: str) -> str:
    """Path of a file with this content, the same for the same: nobody else can guess it.

    Raises ``ValueError`` for a ``name`` that leads elsewhere.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError("This is no name of a file.")
    keyed = partial(hashlib.blake2b, key=_KEY, digest_size=20)
    digest = hashlib.file_digest(content, keyed)  # type: ignore[arg-type]
    path = present() / digest.hexdigest() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.utime(path)
    except FileNotFoundError:
        part = path.with_name(secrets.token_hex(8))
        content.seek(0)
        with part.open("wb") as file:
            shutil.copyfileobj(content, file)
        part.replace(path)
    return str(path)


def present() -> Path:
    """The folder that is in use."""
    return Path(os.environ.get(VARIABLE) or Path(tempfile.gettempdir()) / "gradio")


class UploadFolder:
    """A folder that only this process's user can read, and what each address may add to it."""

    _present: ClassVar[UploadFolder | None] = None

    def __init__(self, folder: Path, most: int = FOLDER_BYTES) -> None:
        self.folder, self.most, self._used = folder, most, 0
        self._taken = Debts(ADDRESS_BYTES / (60 * KEPT_MINUTES))

    @classmethod
    def open(cls) -> UploadFolder:
        """A new one, in the folder that the operator named, that goes when the process does.

        What a killed server left behind is removed first. Raises ``OSError`` with a sentence where
        nothing can be kept.
        """
        named = os.environ.get(VARIABLE)
        if cls._present and named == str(cls._present.folder):  # of another page of this process
            return cls._present
        try:
            parent = Path(named or tempfile.gettempdir())
            parent.mkdir(parents=True, exist_ok=True)
            remove_left_behind(parent)
            uploads = cls(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))  # its owner's alone
            (uploads.folder / LOCK).write_bytes(b"1")  # a full disk takes names, but no bytes
        except OSError as error:
            where = named or "the folder for temporary files"
            raise OSError(
                f"Uploads cannot be kept in {where} ({error.strerror}): "
                f"name another folder with {VARIABLE}."
            ) from error
        lock = FileLock(uploads.folder / LOCK)
        lock.acquire()
        atexit.register(uploads.close)
        atexit.register(lock.release)  # the lock lives as long as the process
        os.environ[VARIABLE], cls._present = str(uploads.folder), uploads
        return uploads

    def close(self) -> None:
        """Remove the folder, in a process of its own: a full one may take half a minute."""
        command = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
        arguments = [sys.executable, "-S", "-c", command, str(self.folder)]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.Popen(arguments, start_new_session=True).wait(CLOSE_SECONDS)

    def count(self, address: str, length: int) -> str:
        """Count so many bytes more for an address; a word of ``GATE_WORDS`` if it may not."""
        if self._used >= self.most:  # as last measured, and with what came since
            return "full"
        if self._taken.of(address) + length > ADDRESS_BYTES:
            return "quota"
        self._taken.add(address, length)
        self._used += length
        return ""

    def sweep(self, keep: Collection[str], age: float = KEPT_SECONDS) -> None:
        """Remove what nobody wrote or took for ``age`` seconds, and measure what is left."""
        used, lasting = 0, {str(self.folder / LOCK), *keep}
        for path in reversed([*self.folder.rglob("*")]):  # what is within comes first
            with suppress(OSError):  # not empty, or somebody else removed it
                told = path.lstat()
                used += told.st_size
                is_old = time.time() - max(told.st_mtime, told.st_ctime) > age
                if is_old and str(path) not in lasting:
                    (path.rmdir if path.is_dir() else path.unlink)()
                    used -= told.st_size
        self._used = used

    def keep_tidy(self, keep: Collection[str]) -> None:
        """Sweep and measure, for ever."""
        while True:
            time.sleep(SWEEP_SECONDS)
            with suppress(OSError):  # a folder went meanwhile; the next look comes soon
                self.sweep(keep)


def remove_left_behind(parent: Path) -> None:
    """Remove the folders of servers that no longer run, but none in use or somebody else's."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError), FileLock(folder / LOCK, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
