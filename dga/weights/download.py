"""One file over HTTP: resumed after a break, checked, and whole or not there at all.

Weights on disk are verified in :mod:`dga.weights.store`.
"""

import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

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


class DownloadError(WeightsError):
    """A download that did not succeed. The message is one sentence, with what is left of it."""


def gigabytes(size: int) -> str:
    """``2.2 GB`` or ``113 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def download(file: PublicFile, folder: Path, wait: Callable[[float], None] = time.sleep) -> Path:
    """Fetch ``file`` into ``folder`` and return its path; nothing is done if it is there.

    What has arrived is kept as ``NAME.part`` and goes on from there, in this call after a
    broken connection and in the next one after a killed process. Under its own name there
    is only ever the whole file with the right SHA-256. Progress is shown on stderr. Raises
    :class:`DownloadError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target, part = folder / file.name, folder / f"{file.name}.part"
    try:  # two processes that write to one part would spoil it
        with FileLock(folder / f".{file.name}.lock", timeout=0):
            if target.exists() and sha256(target) == file.sha256:
                return target
            target.unlink(missing_ok=True)  # an altered file is no file
            pieced_together = _fetch(file, part, wait)
            if pieced_together and not _is_right(file, part):
                part.unlink()  # the file there may have changed meanwhile: again, from its start
                _fetch(file, part, wait)
            if not _is_right(file, part):
                part.unlink()
                raise DownloadError(
                    f"{file.url} is not the file that was expected (its SHA-256 is not "
                    f"{file.sha256}); it was removed."
                )
            part.replace(target)
    except Timeout:
        raise DownloadError(
            f"Another process is fetching {file.name} into {folder}; wait until it is done."
        ) from None
    return target


def _is_right(file: PublicFile, part: Path) -> bool:
    return _size(part) == file.size and sha256(part) == file.sha256


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _kept(file: PublicFile, part: Path) -> str:
    """The end of a sentence on why a download stopped."""
    if not _size(part):
        return "Nothing was kept; the same command tries again."
    return (
        f"{gigabytes(_size(part))} of {gigabytes(file.size)} are kept in {part}; the "
        "same command goes on from there."
    )


def _fetch(file: PublicFile, part: Path, wait: Callable[[float], None]) -> bool:
    """Bring ``part`` to its full size, however often the connection breaks.

    Returns whether it came in more than one piece.
    """
    failures, pieced = 0, _size(part) > 0
    bar = tqdm(
        total=file.size, initial=_size(part), unit="B", unit_scale=True, desc=file.name,
        mininterval=0.5,
    )  # fmt: skip
    with bar, httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client:
        while (before := _size(part)) < file.size:
            pieced = pieced or before > 0
            try:
                _receive(client, file, part, bar)
                problem = "the connection ended early"
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise DownloadError(f"{file.url} cannot be fetched: {error}") from error
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            failures = 0 if _size(part) > before else failures + 1
            if failures > RETRIES:
                raise DownloadError(
                    f"{file.url} could not be fetched: {problem}. {_kept(file, part)}"
                )
            if _size(part) < file.size:
                pause = min(2.0**failures, 30.0)
                _log.warning("%s: %s; trying again in %.0f s.", file.name, problem, pause)
                wait(pause)
    return pieced


def _receive(client: httpx.Client, file: PublicFile, part: Path, bar: tqdm) -> None:
    """One request: append what a 206 brings, start over with a 200."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.stream("GET", file.url, headers=headers) as answer:
        shorter = answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE
        partial = answer.status_code == httpx.codes.PARTIAL_CONTENT
        begins = answer.headers.get("content-range", "")
        if shorter or (partial and not begins.startswith(f"bytes {start}-")):
            part.unlink(missing_ok=True)  # what is kept of it does not fit what is there now
            return
        if not partial and answer.status_code != httpx.codes.OK:
            raise DownloadError(
                f"{answer.url.host} answered {answer.status_code} {answer.reason_phrase} "
                f"to {file.url}."
            )
        start = start if partial else 0
        _check_room(file, part, answer.headers.get("content-length", ""), start)
        bar.n = start
        try:
            with part.open("ab" if start else "wb") as out:
                for chunk in answer.iter_raw():
                    bar.update(out.write(chunk))
                    if bar.n > file.size:
                        break  # another file, of which no more is needed to know that
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise DownloadError(
                f"{part} could not be written: {error.strerror or error}. {_kept(file, part)}"
            ) from error


def _check_room(file: PublicFile, part: Path, length: str, start: int) -> None:
    """Whether the rest is as long as it should be and fits; ``start``: bytes that stay."""
    if length.isdigit() and start + int(length) != file.size:
        raise DownloadError(
            f"{file.url} has {start + int(length):,} bytes and not {file.size:,}: it is not the "
            "file that was expected, and was not fetched."
        )
    free = shutil.disk_usage(part.parent).free + _size(part) - start
    needed = file.size - start + SPARE
    if free < needed:
        raise DownloadError(
            f"{file.name} needs {gigabytes(needed)} and {part.parent} has "
            f"{gigabytes(max(free, 0))} left: free some space, or name another folder with "
            "DGA_HOME."
        )
