"""The folder that uploads and results lie in while they are used: private and short-lived."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from app.server.limits import FOLDER_BYTES

VARIABLE = "GRADIO_TEMP_DIR"
PREFIX = "dga-uploads-"
LOCK = ".lock"
KEPT_SECONDS = 3000.0  # 50 minutes
LOOK_SECONDS = 600.0
MEASURE_SECONDS = 5.0


@dataclass
class UploadFolder:
    """A folder that only this process's user can read; ``own``: made here, and goes again."""

    folder: Path
    most: int = FOLDER_BYTES
    own: bool = False
    _used: int = 0

    @classmethod
    def open(cls) -> UploadFolder:
        """The folder that the operator named, else a new one that goes when the process does.

        What a killed server left behind is removed first.
        """
        named = os.environ.get(VARIABLE)
        if named:
            return cls(Path(named))
        remove_left_behind(Path(tempfile.gettempdir()))
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # readable by its owner only
        lock = FileLock(folder / LOCK)
        lock.acquire()
        uploads = cls(folder, own=True)
        atexit.register(uploads.close)
        os.environ[VARIABLE] = str(folder)
        atexit.register(lock.release)  # the lock lives as long as the process
        return uploads

    def close(self) -> None:
        """Remove the folder, unless the operator named it."""
        if self.own:
            shutil.rmtree(self.folder, ignore_errors=True)

    def measure(self) -> int:
        """Bytes in it. Raises ``OSError`` where something is removed meanwhile."""
        self._used = sum(path.lstat().st_size for path in self.folder.rglob("*"))
        return self._used

    def has_room(self) -> bool:
        """Whether another upload can be kept, as last measured."""
        return self._used < self.most

    def sweep(self, keep: Collection[str], age: float = KEPT_SECONDS) -> int:
        """Remove files that nobody wrote or took for ``age`` seconds; returns how many.

        Gradio removes what it knows of, but not the folders; broken-off uploads it does not know.
        """
        removed = 0
        for path in sorted(self.folder.rglob("*"), reverse=True):  # what is within comes first
            if path == self.folder / LOCK or str(path) in keep:
                continue
            try:
                told = path.stat()
                if time.time() - max(told.st_mtime, told.st_ctime) <= age:
                    continue
                if path.is_dir():
                    path.rmdir()
                else:
                    path.unlink()
                    removed += 1
            except OSError:
                continue  # not empty, or somebody else removed it
        return removed

    def keep_tidy(self, keep: Callable[[], Collection[str]]) -> None:
        """Measure every few seconds and sweep every ten minutes, as long as the process lives."""

        def tidy() -> None:
            swept = time.monotonic()
            while True:
                time.sleep(MEASURE_SECONDS)
                with suppress(OSError):  # a folder went meanwhile; the next look comes soon
                    self.measure()
                    if time.monotonic() - swept >= LOOK_SECONDS:
                        self.sweep(keep())
                        swept = time.monotonic()

        threading.Thread(target=tidy, name="uploads", daemon=True).start()


def remove_left_behind(parent: Path) -> list[Path]:
    """Remove the folders of servers that no longer run; returns them."""
    removed = []
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            with FileLock(folder / LOCK, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
        except (Timeout, OSError):
            continue  # still in use, or somebody else's
        removed.append(folder)
    return removed
