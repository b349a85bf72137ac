"""The folder that uploads and results lie in while they are used: private and short-lived."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from filelock import FileLock, Timeout

from app.server.limits import FOLDER_BYTES, KEPT_MINUTES, UPLOADED_PER_HOUR

VARIABLE = "GRADIO_TEMP_DIR"
PREFIX = "dga-uploads-"
LOCK = ".lock"
KEPT_SECONDS = 3000.0  # 50 minutes
LOOK_SECONDS = 600.0
MEASURE_SECONDS = 20.0
CLOSE_SECONDS = 0.6


class Quota:
    """Bytes of every address in the last hour, by the minute. ``clock`` gives seconds."""

    def __init__(
        self, most: int = UPLOADED_PER_HOUR, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self._clock = most, clock
        self._minutes: dict[str, Counter[int]] = {}
        self._lock, self._tidied = threading.Lock(), 0

    def add(self, address: str, length: int) -> bool:
        """Count ``length`` bytes; False, and nothing counted, if they are too many for an hour."""
        minute = int(self._clock() // 60)
        with self._lock:
            if minute != self._tidied:
                self._tidied = minute
                self._forget(minute - KEPT_MINUTES)
            taken = self._minutes.setdefault(address, Counter())
            if taken.total() + length > self.most:
                return False
            taken[minute] += length
            return True

    def _forget(self, oldest: int) -> None:
        for address, taken in list(self._minutes.items()):
            kept = Counter({minute: n for minute, n in taken.items() if minute > oldest})
            if kept:
                self._minutes[address] = kept
            else:
                del self._minutes[address]


class UploadFolder:
    """A folder that only this process's user can read, and what each address may add to it."""

    _present: ClassVar[UploadFolder | None] = None

    def __init__(self, folder: Path, most: int = FOLDER_BYTES, quota: Quota | None = None) -> None:
        self.folder, self.most, self.quota = folder, most, quota or Quota()
        self._used = 0

    @classmethod
    def open(cls) -> UploadFolder:
        """A new one, in the folder that the operator named, that goes when the process does.

        What a killed server left behind is removed first.
        """
        named = os.environ.get(VARIABLE)
        if cls._present and named == str(cls._present.folder):  # of another page of this process
            return cls._present
        parent = Path(named or tempfile.gettempdir())
        parent.mkdir(parents=True, exist_ok=True)
        remove_left_behind(parent)
        uploads = cls(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))  # its owner's alone
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

    def measure(self) -> int:
        """Bytes in it. Raises ``OSError`` where something is removed meanwhile."""
        self._used = sum(path.lstat().st_size for path in self.folder.rglob("*"))
        return self._used

    def has_room(self) -> bool:
        """Whether another upload can be kept, as last measured and with what came since."""
        return self._used < self.most

    def count(self, address: str, length: int) -> bool:
        """Whether an address may keep so many bytes more; if so they are counted."""
        if not (self.has_room() and self.quota.add(address, length)):
            return False
        self._used += length
        return True

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
        """Measure often and sweep every ten minutes, as long as the process lives."""

        def tidy() -> None:
            swept = time.monotonic()
            while True:
                time.sleep(MEASURE_SECONDS)
                with suppress(OSError):  # a folder went meanwhile; the next look comes soon
                    self.measure()
                    if time.monotonic() - swept >= LOOK_SECONDS:
                        self.sweep(keep())
                        swept = time.monotonic()
                        self.measure()

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
