"""One file over HTTP: resumed after a break, checked, and whole or not there at all."""

import shutil
from pathlib import Path

from filelock import FileLock, Timeout
from huggingface_hub.file_download import http_get

from dga.io.files import sha256
from dga.profiles import PublicFile
from dga.weights.checkpoints import WeightsError

SPARE = 64 * 2**20
"""Bytes that stay free on the disk."""


class DownloadError(WeightsError):
    """A download that did not succeed. The message is one sentence, with what is left of it."""


def gigabytes(size: int) -> str:
    """``2.2 GB`` or ``113 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def download(file: PublicFile, folder: Path) -> Path:
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
            for _ in range(2):  # pieces of a file that has changed meanwhile: from its start
                _receive(file, part)
                if sha256(part) == file.sha256:
                    return part.replace(target)
                part.unlink()
    except Timeout:
        raise DownloadError(
            f"Another process is fetching {file.name} into {folder}; wait until it is done."
        ) from None
    raise DownloadError(
        f"{file.url} is not the file that was expected (its SHA-256 is not {file.sha256}); it was "
        "removed."
    )


def _receive(file: PublicFile, part: Path) -> None:
    """Bring ``part`` to its full size, or beyond where it is another file."""
    arrived = part.stat().st_size if part.exists() else 0
    free, needed = shutil.disk_usage(part.parent).free, file.size - arrived + SPARE
    if free < needed:
        raise DownloadError(
            f"{file.name} needs {gigabytes(needed)} and {part.parent} has {gigabytes(free)} left: "
            "free some space, or name another folder with DGA_HOME."
        )
    if arrived >= file.size:
        return
    try:
        with part.open("ab") as out:
            http_get(
                file.url,
                out,
                resume_size=arrived,
                expected_size=file.size,
                displayed_filename=file.name,
            )
    except Exception as error:  # its errors have no common base besides this
        arrived = part.stat().st_size if part.exists() else 0
        if arrived >= file.size:
            return
        kept = "Nothing was kept; the same command tries again."
        if arrived:
            kept = f"{gigabytes(arrived)} of {gigabytes(file.size)} are kept in {part}; the "
            kept += "same command goes on from there."
        else:
            part.unlink(missing_ok=True)
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DownloadError(f"{file.url} could not be fetched: {reason}. {kept}") from error
