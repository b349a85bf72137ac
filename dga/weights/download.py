"""One file over HTTP: resumed after a break, checked, and whole or not there at all.

Weights on disk are verified in :mod:`dga.weights.store`.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from filelock import FileLock, Timeout
from tqdm import tqdm

from dga.io.files import sha256
from dga.profiles import PublicFile
from dga.weights.checkpoints import WeightsError

_log = logging.getLogger(__name__)
TIMEOUT = httpx.Timeout(30.0)
SPARE = 64 * 2**20
"""Bytes that stay free on the disk."""
RETRIES = 5
"""Broken connections in a row, with nothing received in between."""

Progress = Callable[[int, int], None]
"""``progress(done, total)`` in bytes."""


class DownloadError(WeightsError):
    """A download that did not succeed. The message is one sentence, with what is left of it."""


def gigabytes(size: int) -> str:
    """``2.2 GB`` or ``113 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def download(
    file: PublicFile,
    folder: Path,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Path:
    """Fetch ``file`` into ``folder`` and return its path; nothing is done if it is there.

    What has arrived is kept as ``NAME.part`` and goes on from there, in this call after a
    broken connection and in the next one after a killed process. Under its own name there
    is only ever the whole file with the right SHA-256. Raises :class:`DownloadError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target, part = folder / file.name, _Part(file, folder)
    try:  # two processes that write to one part would spoil it
        with FileLock(folder / f".{file.name}.lock", timeout=0):
            if target.exists() and sha256(target) == file.sha256:
                return target
            target.unlink(missing_ok=True)  # an altered file is no file
            pieced_together = _fetch(part, progress, wait)
            if pieced_together and not part.is_right():
                part.remove()  # the file there may have changed meanwhile: again, from its start
                _fetch(part, progress, wait)
            if not part.is_right():
                part.remove()
                raise DownloadError(
                    f"{file.url} is not the file that was expected (its SHA-256 is not "
                    f"{file.sha256}); it was removed."
                )
            part.path.replace(target)
            part.remove()
    except Timeout:
        raise DownloadError(
            f"Another process is fetching {file.name} into {folder}; wait until it is done."
        ) from None
    return target


class _Part:
    """What has arrived of a file, and which version of it (``NAME.part.json``)."""

    def __init__(self, file: PublicFile, folder: Path) -> None:
        self.file, self.path = file, folder / f"{file.name}.part"
        self.notes = folder / f"{file.name}.part.json"

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def validator(self) -> str | None:
        """The version that has begun to arrive, as ``If-Range`` wants it."""
        try:
            notes = json.loads(self.notes.read_text())
            return notes["validator"] if notes["url"] == self.file.url else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def note(self, headers: httpx.Headers) -> None:
        """Keep what tells this version from another: a strong ETag, or else the date."""
        etag = headers.get("etag", "")
        strong = etag and not etag.startswith("W/")
        validator = etag if strong else headers.get("last-modified")
        self.notes.write_text(json.dumps({"url": self.file.url, "validator": validator}))

    def is_right(self) -> bool:
        return self.size == self.file.size and sha256(self.path) == self.file.sha256

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.notes.unlink(missing_ok=True)

    @property
    def kept(self) -> str:
        """The end of a sentence on why a download stopped."""
        if not self.size:
            return "Nothing was kept; the same command tries again."
        return (
            f"{gigabytes(self.size)} of {gigabytes(self.file.size)} are kept in {self.path}; the "
            "same command goes on from there."
        )


def _fetch(part: _Part, progress: Progress | None, wait: Callable[[float], None]) -> bool:
    """Bring ``part`` to its full size, however often the connection breaks.

    Returns whether it came in more than one piece.
    """
    failures, url, pieced = 0, part.file.url, part.size > 0
    with httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client:
        while part.size < part.file.size:
            before = part.size
            pieced = pieced or before > 0
            try:
                _receive(client, part, progress)
                problem = "the connection ended early"
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise DownloadError(f"{url} cannot be fetched: {error}") from error
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            failures = 0 if part.size > before else failures + 1
            if failures > RETRIES:
                raise DownloadError(f"{url} could not be fetched: {problem}. {part.kept}")
            if part.size < part.file.size:
                pause = min(2.0**failures, 30.0)
                _log.warning("%s: %s; trying again in %.0f s.", part.file.name, problem, pause)
                wait(pause)
    return pieced


def _receive(client: httpx.Client, part: _Part, progress: Progress | None) -> None:
    """One request: append what a 206 brings, start over with a 200."""
    start, validator = part.size, part.validator
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator
    with client.stream("GET", part.file.url, headers=headers) as answer:
        shorter = answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE
        partial = answer.status_code == httpx.codes.PARTIAL_CONTENT
        begins = answer.headers.get("content-range", "")
        if shorter or (partial and not begins.startswith(f"bytes {start}-")):
            part.remove()  # what we have of it does not fit what is there now
            return
        if not partial and answer.status_code != httpx.codes.OK:
            raise DownloadError(
                f"{answer.url.host} answered {answer.status_code} {answer.reason_phrase} "
                f"to {part.file.url}."
            )
        start = start if partial else 0
        _check_room(part, answer.headers.get("content-length", ""), start)
        if not start:
            part.note(answer.headers)
        _write(part, answer, start, progress)


def _check_room(part: _Part, length: str, start: int) -> None:
    """Whether the rest is as long as it should be and fits; ``start``: bytes that stay."""
    file, folder = part.file, part.path.parent
    if length.isdigit() and start + int(length) != file.size:
        raise DownloadError(
            f"{file.url} has {start + int(length):,} bytes and not {file.size:,}: it is not the "
            "file that was expected, and was not fetched."
        )
    free, needed = shutil.disk_usage(folder).free + part.size - start, file.size - start + SPARE
    if free < needed:
        raise DownloadError(
            f"{file.name} needs {gigabytes(needed)} and {folder} has {gigabytes(max(free, 0))} "
            "left: free some space, or name another folder with DGA_HOME."
        )


def _write(part: _Part, answer: httpx.Response, start: int, progress: Progress | None) -> None:
    try:
        with part.path.open("ab" if start else "wb") as out:
            for chunk in answer.iter_raw():
                out.write(chunk)
                start += len(chunk)
                if start > part.file.size:
                    break  # another file, of which no more is needed to know that
                if progress:
                    progress(start, part.file.size)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise DownloadError(
            f"{part.path} could not be written: {error.strerror or error}. {part.kept}"
        ) from error


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr with bytes, speed and the time that is left."""
    options: dict[str, Any] = {"unit": "B", "unit_scale": True, "desc": title, "mininterval": 0.5}
    with tqdm(**options) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            if done < bar.n or not bar.n:  # begun anew, or resumed: no speed for what was there
                bar.initial = bar.n = done
                bar.refresh()
            bar.update(done - bar.n)

        yield show
