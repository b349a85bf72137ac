"""A folder of photographs: each is repaired once, and a table says what is read in it."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from dga.adapted import at_size
from dga.data.results import StoredPicture, write
from dga.data.uploads import UploadError, is_picture
from dga.evaluation.results_file import ResultRow, ResultsFile
from dga.images import Pixels, to_tensor
from dga.io.files import CONFIG, LINES, LOCK, atomic, sha256, to_plain
from dga.networks.models import Models
from dga.one_picture import classify
from dga.photograph import choose_repair, repair_photograph
from dga.record import MADE_OF

TABLE = "results.csv"
COLUMNS = (
    "path", "prediction", "probability", "repaired_prediction", "repaired_probability",
    "degradation", "depth", "unchanged", "seconds", "repaired",
)  # fmt: skip
METHOD = "repair"
LONGEST_NAME = 251
"""Bytes of a picture's name: usual disks take 255, and its result's name has ``.png`` more."""


@dataclass
class FolderResult:
    """``table``: the CSV; ``lines``: its rows; ``new``: those that this run made.

    Pictures left out, with reasons: ``unreadable`` ones, and those that ``failed`` later.
    """

    table: Path
    lines: list[ResultRow] = field(default_factory=list)
    new: list[ResultRow] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """What became of the pictures, in a sentence."""
        repaired = sum(not line["unchanged"] for line in self.new)
        count = len(self.lines) + len(self.unreadable) + len(self.failed)
        return (
            f"{count} pictures: {repaired} repaired, {len(self.new) - repaired} left as they were, "
            f"{len(self.lines) - len(self.new)} there already. {self.table}"
        )


def repair_folder(models: Models, folder: Path, out: Path) -> FolderResult:
    """Repair every photograph of a folder at its own size; killed, the same call goes on.

    Repaired ones lie at ``out/PATH.png``. A picture is done where its latest line holds the
    SHA-256 of its content, and its result is on the disk. Raises ``ValueError`` for an ``out``
    that holds other files, results of another folder or of other settings, and if no picture can
    be read; ``OSError`` where nothing can be written.
    """
    folder, out = folder.resolve(), out.resolve()
    _check_out(folder, out)
    contents, unreadable = find_pictures(folder, out)
    config = {
        "data": str(folder),
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": models.weights,
        "methods": {METHOD: to_plain(choose_repair(models))},
    }
    results = ResultsFile(out, config, resume=True)
    latest = {line["path"]: line for line in results.lines}
    rows = {
        path: line
        for path, line in latest.items()
        if line["content"] == contents.get(path) and (out / line["repaired"]).is_file()
    }
    result = FolderResult(out / TABLE, unreadable=unreadable)
    try:
        for path in tqdm([p for p in contents if p not in rows], unit="image", mininterval=1.0):
            try:
                picture = StoredPicture.read(folder / path)
                facts, repaired = _repair(models, picture.pixels)
            except UploadError as error:
                unreadable[path] = f"{path}: {error}"
            except (ValueError, FloatingPointError, MemoryError) as error:
                result.failed[path] = f"{path}: {error}"
            else:
                name = f"{path}.png"
                write(out / name, picture.result(repaired, ".png"))
                line = {"corruption": "", "path": path, "method": METHOD, **facts}
                line |= {"content": contents[path], "repaired": name}
                results.append([line])
                result.new.append(line)
    finally:
        result.lines = [*rows.values(), *result.new]
        with suppress(OSError):  # what stops the loop is told, not what follows from it
            _write_table(result.table, result.lines)
    if not result.lines:
        reasons = [*unreadable.values(), *result.failed.values()]
        raise ValueError(
            f"None of the {len(reasons)} pictures in {folder} can be read or repaired. "
            f"The first: {reasons[0]}"
        )
    return result


def _repair(models: Models, pixels: Pixels) -> tuple[ResultRow, Pixels]:
    """What a row says of a picture, uint8 ``[H, W, 3]``, and the repaired one."""
    photograph = repair_photograph(models, pixels)
    size = models.profile.image_size
    squares = np.concatenate([at_size(p[None], size) for p in (pixels, photograph.image)])
    before, after = classify(models, to_tensor(squares).to(models.device))
    facts = {
        "prediction": before.label,
        "probability": round(before.probability, 5),
        "repaired_prediction": after.label,
        "repaired_probability": round(after.probability, 5),
        "degradation": str(photograph.explanation.degradation),
        "depth": int(photograph.depths.max()),
        "unchanged": photograph.unchanged,
        "seconds": photograph.seconds,
    }
    return facts, photograph.image


def _check_out(folder: Path, out: Path) -> None:
    """Raise ``ValueError`` for a folder of results that holds anything else."""
    if folder == out:
        raise ValueError(f"{folder} holds the pictures themselves: name another folder with --out.")
    if out.is_dir() and not (out / CONFIG).exists() and any(p.name != LOCK for p in out.iterdir()):
        raise ValueError(f"{out} holds other files: name another folder with --out.")


def find_pictures(folder: Path, out: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Pictures at any depth below ``folder`` with the SHA-256 of each, by path, sorted.

    And what cannot be read, with reasons. Neither ``out`` nor other folders of results are looked
    into. Both paths are resolved. Raises ``ValueError`` where there is nothing at all.
    """
    contents, unreadable = dict[str, str](), dict[str, str]()

    def note(error: OSError) -> None:
        place = Path(error.filename)
        if place == folder:
            raise ValueError(f"{folder} holds no pictures: {error.strerror}.")
        name = str(place.relative_to(folder))
        unreadable[name] = f"{name}: {error.strerror}"

    for base, folders, names in os.walk(folder, onerror=note):
        here = Path(base)
        folders[:] = [name for name in folders if not _holds_results(here / name, out)]
        for path in map(here.joinpath, filter(is_picture, names)):
            name = str(path.relative_to(folder))
            try:
                if len(os.fsencode(path.name)) > LONGEST_NAME:
                    unreadable[name] = f"{name}: its name is too long for a result's to fit."
                elif path.is_file():
                    contents[name] = sha256(path)
            except OSError as error:
                note(error)
    if not contents and not unreadable:
        raise ValueError(f"{folder} holds no pictures (PNG, JPEG, WebP, GIF, TIFF or BMP).")
    return dict(sorted(contents.items())), unreadable


def _holds_results(folder: Path, out: Path) -> bool:
    with suppress(OSError):  # what cannot be looked into is told where that is tried
        return folder == out or any((folder / name).is_file() for name in (LINES, MADE_OF))
    return False


def _write_table(path: Path, lines: Sequence[ResultRow]) -> None:
    rows = sorted(lines, key=lambda line: line["path"])
    with atomic(path) as part:  # names may have bytes that are no text
        table = pd.DataFrame(rows, columns=COLUMNS, dtype=object)
        table.to_csv(part, index=False, errors="backslashreplace")
