"""A folder of photographs: each is repaired once."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dga.data.picture_files import StoredPicture, write
from dga.data.uploads import ALLOWED, UploadError, is_picture
from dga.folders.records import Line, append_lines, open_folder, reopen_lines
from dga.io.files import LINES, to_plain
from dga.networks.models import Models
from dga.photograph import choose_repair, repair_stored
from dga.record import RECORD, read_versions

LONGEST_NAME = 255
"""Bytes of a file's name that usual disks take."""


@dataclass
class FolderResult:
    """``lines``: one a repaired picture; of these this run made ``new``.

    Pictures left out, with reasons: ``unreadable`` ones, and those that ``failed`` later.
    """

    lines: list[Line]
    new: list[Line]
    unreadable: dict[str, str]
    failed: dict[str, str]

    def summary(self) -> str:
        """What became of the pictures, in a sentence."""
        repaired = sum(not line["unchanged"] for line in self.new)
        unreadable = sum(map(is_picture, self.unreadable))  # without folders
        count = len(self.lines) + unreadable + len(self.failed)
        return (
            f"{count} pictures: {repaired} repaired, {len(self.new) - repaired} left as they were, "
            f"{len(self.lines) - len(self.new)} there already."
        )

    def list_losses(self) -> list[str]:
        """What of this run's pictures is not kept, a sentence part for each."""
        return [f"{line['path']}: {', '.join(line['lost'])}" for line in self.new if line["lost"]]


def repair_folder(models: Models, folder: Path, out: Path) -> FolderResult:
    """Repair every photograph of a folder at its own size; killed, the same call goes on.

    Repaired ones lie at ``out/PATH.png``, of several pages or frames with the ending of a format
    that holds them, and ``out/lines.jsonl`` has what was done. Raises
    ``ValueError`` for an ``out`` with other files, of another folder or other settings, or in use
    by another process, and if no picture can be read; ``OSError`` where nothing can be written.
    """
    folder, out = folder.resolve(), out.resolve()
    if folder == out:
        raise ValueError(f"{folder} holds the pictures themselves: name another folder with --out.")
    paths, unreadable = find_pictures(folder, out)
    config = {"data": str(folder), **describe_repair(models), "versions": read_versions()}
    with open_folder(out, config):
        pictures = set(paths)
        lines = reopen_lines(out / LINES, ("path", "repaired"))
        latest = {line["path"]: line for line in lines}
        there = {
            line["path"]: line
            for line in latest.values()
            if line["path"] in pictures
            and (out / line["repaired"]).is_file()
            and line.get("modified") == (folder / line["path"]).stat().st_mtime_ns
        }
        result = FolderResult(list(there.values()), [], unreadable, {})
        for path in tqdm([p for p in paths if p not in there], unit="image", mininterval=1.0):
            try:
                modified = (folder / path).stat().st_mtime_ns
                picture = StoredPicture.read(folder / path)
                target, facts = write_repaired(models, picture, out / path)
            except UploadError as error:
                unreadable[path] = f"{path}: {error}"
            except (ValueError, FloatingPointError, MemoryError) as error:
                result.failed[path] = f"{path}: {error}"
            else:
                name = str(target.relative_to(out))
                line = {"path": path, **facts, "repaired": name, "modified": modified}
                append_lines(out / LINES, [line])
                result.new.append(line)
    result.lines += result.new
    if not result.lines:
        reasons = [*unreadable.values(), *result.failed.values()]
        raise ValueError(
            f"None of the {len(reasons)} pictures in {folder} can be read or repaired. "
            f"The first: {reasons[0]}"
        )
    return result


def describe_repair(models: Models) -> dict[str, Any]:
    """What repaired pictures depend on, as JSON types."""
    return {
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": models.weights,
        "methods": {"repair": to_plain(choose_repair(models))},
    }


def write_repaired(
    models: Models, picture: StoredPicture, target: Path
) -> tuple[Path, dict[str, Any]]:
    """Repair a picture; it is written at ``target`` with an ending added, whole or not at all.

    Returns that path and what was done. Raises ``UploadError`` for a name that is too long, what
    :func:`~dga.photograph.repair_stored` does, and ``OSError``.
    """
    target = target.with_name(target.name + picture.usual_suffix)
    if len(os.fsencode(target.name)) > LONGEST_NAME:
        raise UploadError("its name is too long for a result's to fit.")
    content, facts = repair_stored(models, picture, picture.usual_suffix)
    write(target, content)
    return target, facts


def find_pictures(folder: Path, out: Path) -> tuple[list[str], dict[str, str]]:
    """Paths of pictures at any depth below ``folder``, and folders that cannot be read, with why.

    Neither ``out`` nor other folders of results are looked into. Raises ``ValueError`` where there
    is nothing at all.
    """
    paths, unreadable = list[str](), dict[str, str]()

    def note(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        unreadable[name] = f"{name}: {error.strerror}"

    for base, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not _holds_results(Path(base, name), out)]
        files = (Path(base, name) for name in names if is_picture(name))
        paths += [str(path.relative_to(folder)) for path in files if path.is_file()]
    if not paths and not unreadable:
        raise ValueError(f"{folder} holds no pictures ({ALLOWED}).")
    return sorted(paths), unreadable


def _holds_results(folder: Path, out: Path) -> bool:
    with suppress(OSError):  # what cannot be looked into is told where that is tried
        return folder == out or any((folder / name).is_file() for name in (LINES, RECORD))
    return False
