"""A folder of unlabelled pictures: each repaired once, and one table of what was found and read."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from dga.adapted import BATCH, build_predictor, content_seeds
from dga.data.results import StoredPicture, write
from dga.data.uploads import OWNER, Limits, UploadError, is_picture
from dga.evaluation.results_file import ResultRow, ResultsFile, check_config, read_config
from dga.evaluation.run import answer_facts, list_settings
from dga.images import Pixels, from_tensor, to_pixels, to_square, to_tensor
from dga.io.files import LINES, atomic, numbered, sha256, to_plain
from dga.networks.models import Models
from dga.photograph import choose_repair, repair_photograph
from dga.readers import answer
from dga.record import MADE_OF

TABLE = "results.csv"
COLUMNS = (
    "path", "method", "prediction", "probability", "depth", "crossed", "unchanged", "degradation",
    "seconds", "repaired",
)  # fmt: skip
SOURCE = "source"
"""Always read too: what the classifier says of the picture as it is."""
REPAIR = "repair"
LONGEST_NAME = 255
"""Bytes, of a file's name on usual disks."""
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM}
"""Errors of writing that are not one picture's own: the next would fail, too."""

Result = tuple[str, str, ResultRow, Pixels | None]
"""A picture's path, a method, what a row says, and the repaired picture, uint8 ``[H, W, 3]``."""
Work = Callable[[Mapping[str, StoredPicture]], Iterable[Result]]
"""Results for some pictures, which come by path."""


@dataclass
class FolderResult:
    """``table``: the CSV; ``lines``: its rows; ``new``: those that this run made.

    Pictures left out, with reasons: ``unreadable`` ones, and those that ``failed`` later.
    ``on_white``: pictures of this run that are white in a result where they are transparent.
    """

    table: Path
    lines: list[ResultRow] = field(default_factory=list)
    new: list[ResultRow] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    on_white: set[str] = field(default_factory=set)

    def summary(self) -> str:
        """What became of the pictures, in a sentence."""
        new = {line["path"] for line in self.new}
        changed = {line["path"] for line in self.new if not line.get("unchanged", True)}
        there = {line["path"] for line in self.lines} - new
        count = len(new | there) + len(self.unreadable) + len(self.failed)
        return (
            f"{count} pictures: {len(changed)} repaired, {len(new - changed)} left as they were, "
            f"{len(there)} there already. {self.table}"
        )


def find_pictures(folder: Path, out: Path) -> tuple[list[Path], dict[str, str]]:
    """Picture files at any depth, relative to ``folder``, sorted; and what cannot be looked at.

    Neither ``out`` nor other folders of results are looked into. Both paths are resolved. Raises
    ``ValueError`` where there is nothing at all.
    """
    pictures, unreadable = list[Path](), dict[str, str]()

    def note(error: OSError) -> None:
        place = Path(error.filename)
        if place == folder:
            raise ValueError(f"{folder} holds no pictures: {error.strerror}.")
        name = str(place.relative_to(folder))
        unreadable[name] = f"{name}: {error.strerror}"

    for base, folders, files in os.walk(folder, onerror=note):
        here = Path(base)
        folders[:] = [name for name in folders if not _holds_results(here / name, out)]
        for path in map(here.joinpath, files):
            try:
                # One of another format is taken, too: its reader then says so.
                if is_picture(path) is not False and out not in path.resolve().parents:
                    pictures.append(path.relative_to(folder))
            except OSError as error:
                note(error)
    if not pictures and not unreadable:
        raise ValueError(f"{folder} holds no pictures (PNG, JPEG, WebP, GIF, TIFF or BMP).")
    return sorted(pictures), unreadable


def _holds_results(folder: Path, out: Path) -> bool:
    with suppress(OSError):  # what cannot be looked into is told where that is tried
        return folder == out or any((folder / name).is_file() for name in (LINES, MADE_OF))
    return False


def process_folder(
    models: Models,
    folder: Path,
    out: Path,
    methods: Mapping[str, Any],
    work: Work,
    at_once: int = 1,
    limits: Limits = OWNER,
) -> FolderResult:
    """Have every picture worked on once; killed at any moment, the same call goes on.

    ``methods``: their settings by name. Repaired pictures lie at ``out/METHOD/PATH.png``, of one
    method alone at ``out/PATH.png``. What was done is done again where a picture was replaced or
    its result is gone, and forgotten where the picture is gone. Raises ``ValueError`` for an
    ``out`` that holds results of another folder or of other settings, and if no picture can be
    read; ``OSError`` where nothing can be written.
    """
    folder, out = folder.resolve(), out.resolve()
    if folder == out:
        raise ValueError(f"{folder} holds the pictures themselves: name another folder with --out.")
    pictures, unreadable = find_pictures(folder, out)
    contents = dict.fromkeys(map(str, pictures), "")
    for path in contents:
        with suppress(OSError):  # its reader then says so
            contents[path] = sha256(folder / path)
    config = {
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": models.weights,
        "methods": methods,
    }
    results = _claim(folder, out, config, contents)
    stale = results.drop(lambda line: _is_stale(line, contents, unreadable, out))
    replaceable = {line["repaired"] for line in stale if line["path"] in contents}
    result = FolderResult(out / TABLE, results.lines, unreadable=unreadable)
    names = list(methods)
    waiting = [path for path in contents if not all(results.has("", path, n) for n in names)]
    try:
        with tqdm(total=len(waiting), unit="image", mininterval=1.0) as bar:
            for start in range(0, len(waiting), at_once):
                part, opened = waiting[start : start + at_once], dict[str, StoredPicture]()
                for path in part:
                    try:
                        opened[path] = StoredPicture.read(folder / path, limits)
                    except UploadError as error:
                        unreadable[path] = f"{path}: {error}"
                for path, name, facts, pixels in _do_work(opened, work, result.failed):
                    line = {"corruption": "", "path": path, "method": name, **facts}
                    line |= {"content": contents[path], "repaired": ""}
                    if results.has("", path, name):
                        continue
                    if pixels is not None:
                        target = out / ("" if len(names) == 1 else name.replace(":", ",")) / path
                        target = target.with_name(_name_result(target.name))
                        content = opened[path].result(pixels, ".png")
                        if opened[path].is_laid_on_white(content):
                            result.on_white.add(path)
                        if str(target.relative_to(out)) not in replaceable:
                            target = _find_free(target, content)
                        if not _write(target, content, result.failed, path):
                            continue
                        line["repaired"] = str(target.relative_to(out))
                    results.append([line])
                    result.new.append(line)
                bar.update(len(part))
    finally:
        with suppress(OSError):  # what stops the loop is told, not what follows from it
            _write_table(out / TABLE, results.lines)
    if not results.lines:
        reasons = [*unreadable.values(), *result.failed.values()]
        raise ValueError(
            f"None of the {len(contents) or len(reasons)} pictures in {folder} can be read or "
            f"repaired. The first: {reasons[0]}"
        )
    return result


def _claim(
    folder: Path, out: Path, config: Mapping[str, Any], contents: Mapping[str, str]
) -> ResultsFile:
    """The results of a folder, which may have been moved with pictures that have results."""
    here = {"data": str(folder), **config}
    begun = str(read_config(out).get("data", folder))
    if Path(begun).is_dir():
        return ResultsFile(out, here, resume=True)
    results = ResultsFile(out, {**here, "data": begun}, resume=True)
    if results.lines and set(contents.values()).isdisjoint(
        line["content"] for line in results.lines
    ):
        check_config(out, here)
    return results


def _is_stale(
    line: ResultRow, contents: Mapping[str, str], unreadable: Mapping[str, str], out: Path
) -> bool:
    """Whether the picture was replaced or removed, or its result was.

    What cannot be looked at now is not gone.
    """
    path = Path(line["path"])
    is_hidden = any(str(place) in unreadable for place in (path, *path.parents))
    if not is_hidden and contents.get(line["path"]) != line["content"]:
        return True
    return bool(line["repaired"]) and not (out / line["repaired"]).is_file()


def _do_work(
    opened: Mapping[str, StoredPicture], work: Work, failed: dict[str, str]
) -> list[Result]:
    """Results of pictures together; where that fails, one by one."""
    try:
        return list(work(opened)) if opened else []
    except (ValueError, FloatingPointError, MemoryError) as error:
        if len(opened) > 1:
            single = ({path: picture} for path, picture in opened.items())
            return [row for one in single for row in _do_work(one, work, failed)]
        failed |= {path: f"{path}: {error}" for path in opened}
        return []


def _write(target: Path, content: bytes, failed: dict[str, str], path: str) -> bool:
    """Whether a result was written; raises ``OSError`` where no other could be, either."""
    try:
        write(target, content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in DISK_ERRORS:
            raise OSError(
                f"{target} could not be written ({reason}): what is done is kept. Mend that, then "
                "run the same command again."
            ) from error
        failed[path] = f"{path}: its result could not be written ({reason})"
        return False
    return True


def _name_result(name: str) -> str:
    """``NAME.png``; where disks do not take that, its beginning and a sum of all of it."""
    encoded = os.fsencode(f"{name}.png")
    if len(encoded) <= LONGEST_NAME:
        return f"{name}.png"
    start = encoded[: LONGEST_NAME - 40].decode(errors="ignore")
    return f"{start}-{hashlib.sha256(encoded).hexdigest()[:16]}.png"


def _find_free(target: Path, content: bytes) -> Path:
    """``target``, or a numbered one where another's file has that name already."""
    with suppress(OSError):
        if target.read_bytes() == content:
            return target
    return numbered(target)


def adapt_folder(
    models: Models, folder: Path, out: Path, methods: Sequence[str], limits: Limits = OWNER
) -> FolderResult:
    """Repair every picture of a folder by every method, and have it read: :func:`process_folder`.

    ``methods``: as ``evaluate --methods`` names them, none that learns from the pictures around.
    Repaired pictures have the profile's size. Each picture's seed comes from its content.
    """
    predictors = {name: build_predictor(models, name) for name in dict.fromkeys((SOURCE, *methods))}
    side = models.profile.image_size

    def work(opened: Mapping[str, StoredPicture]) -> Iterator[Result]:
        pixels = np.stack([to_pixels(to_square(one.image, side)) for one in opened.values()])
        x = to_tensor(pixels).to(models.device)
        for name, outcome in answer(predictors, x, content_seeds(pixels)).items():
            repaired = None if name == SOURCE else outcome.pictures
            for i, path in enumerate(opened):
                facts = answer_facts(outcome, i, models.profile)[1]
                facts = {"degradation": "", "unchanged": facts["depth"] == 0, **facts}
                yield path, name, facts, None if repaired is None else from_tensor(repaired[i])

    settings = {name: list_settings(one.system) for name, one in predictors.items()}
    return process_folder(models, folder, out, settings, work, BATCH, limits)


def repair_folder(models: Models, folder: Path, out: Path, limits: Limits = OWNER) -> FolderResult:
    """Repair every photograph of a folder at its own size, see :func:`process_folder`."""

    def work(opened: Mapping[str, StoredPicture]) -> Iterator[Result]:
        for path, one in opened.items():
            photograph = repair_photograph(models, one.pixels)
            facts = {
                "unchanged": photograph.unchanged,
                "degradation": str(photograph.explanation.degradation),
                "depth": int(photograph.depths.max()),
                "seconds": photograph.seconds,
            }
            yield path, REPAIR, facts, photograph.image

    settings = {REPAIR: to_plain(choose_repair(models))}
    return process_folder(models, folder, out, settings, work, limits=limits)


def _write_table(path: Path, lines: Sequence[ResultRow]) -> None:
    rows = sorted(lines, key=lambda line: (line["path"], line["method"] != SOURCE))
    with atomic(path) as part:  # names may have bytes that are no text
        table = pd.DataFrame(rows, columns=COLUMNS, dtype=object)
        table.to_csv(part, index=False, errors="backslashreplace")
