"""Many pictures diagnosed: a line each, written as it comes, so that nothing is done twice.

Pictures are folders', zips' or single files; their lines are never all in memory. What is done in
other processes, or on other machines, is a function of this module and a task that can be pickled.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from tqdm import tqdm

from dga.data.picture_files import StoredPicture, encode_picture, write
from dga.data.uploads import (
    OWNER,
    Place,
    is_picture,
    list_pictures,
    open_picture,
    refuse_unreadable,
)
from dga.diagnosis import cut_measured, diagnose
from dga.folders.diagnosis_report import Counted, Summary, render_report
from dga.folders.engines import Run
from dga.folders.records import Line, append_lines, open_folder
from dga.folders.repairs import describe_repair, find_pictures, write_repaired
from dga.frame import find_inside
from dga.images import Pixels, from_tensor
from dga.io.files import LINES, write_atomically
from dga.networks.models import Models
from dga.photograph import repair_photograph
from dga.profiles.imagenet_labels import imagenet_labels
from dga.record import read_versions

TABLE, REPORT, REPAIRED = "diagnoses.csv", "report.html", "repaired"
"""Of a folder of diagnoses, beside its lines: names of files, and of a folder."""
SHOWN = "came", "repaired"
"""The thumbnails of a picture."""
SHOWN_SIDE = 240
"""Pixels a side of a thumbnail, at most."""
COLUMNS = (
    "path", "class", "width", "height", "format", "photograph", "damaged", "kind", "strength",
    "unit", "description", "sureness", "undoable", "label", "reading_came", "probability_came",
    "reading_repaired", "probability_repaired", "error",
)  # fmt: skip
"""Of the table; where a picture has several findings, their values are separated by ``; ``."""


# Which pictures


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to be diagnosed: its ``name`` in lines, where it is, and when it was written."""

    name: str
    place: Place
    modified: int

    @property
    def safe_name(self) -> Path:
        """A relative path for what is made of it, whatever its name leads to."""
        parts = (part for part in PurePosixPath(self.name).parts if part != "/")
        return Path(*("up" if part == ".." else part for part in parts))


def list_all(sources: Sequence[Path], out: Path) -> tuple[dict[str, Picture], list[str]]:
    """All pictures of some sources by name, and folders that cannot be read, with why.

    A source is a folder, at any depth of which they lie, a zip, a picture, or a ``.txt`` with a
    path a line. Raises ``ValueError`` for other sources and where there are no pictures.
    """
    pictures, unreadable = dict[str, Picture](), list[str]()
    for source in sources:
        root, paths = "", [str(source)]
        if source.is_dir():
            root = str(source.resolve())
            paths, denied = find_pictures(Path(root), out.resolve())
            unreadable += denied.values()
        elif zipfile.is_zipfile(source):
            root, paths = str(source.resolve()), list_pictures(source)
        elif source.suffix.lower() == ".txt" and source.is_file():
            paths = source.read_text("utf-8", "surrogateescape").splitlines()
        elif not (source.is_file() and is_picture(source.name)):
            raise ValueError(
                f"{source} is neither a folder, a zip, a picture nor a .txt with a path a line."
            )
        before = f"{source.as_posix()}/" if root and len(sources) > 1 else ""
        for path in filter(str.strip, paths):
            place = (root, path if root else str(Path(path).absolute()))
            file = root if root and not source.is_dir() else os.path.join(*place)  # noqa: PTH118
            modified = 0
            with suppress(OSError):  # told where it is read
                modified = Path(file).stat().st_mtime_ns
            pictures[before + path] = Picture(before + path, place, modified)
    if not pictures:
        raise ValueError(f"There are no pictures in {', '.join(map(str, sources))}.")
    return pictures, unreadable


@functools.lru_cache(maxsize=4)
def _open_zip(path: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def read(picture: Picture) -> StoredPicture:
    """A picture's file, decoded. Raises :class:`~dga.data.uploads.UploadError`."""
    source, member = picture.place
    if not Path(source).is_file():
        return StoredPicture.read(Path(source, member))
    with refuse_unreadable("zip"):
        data = _open_zip(source).read(member)
    stored = StoredPicture(data, open_picture(data, OWNER))
    _ = stored.pixels  # what cannot be decoded is refused here
    return stored


Job = tuple[Picture, Path]
"""A picture, and where its repaired one lies, or shall lie."""


# What is done with each, in any process


class ModelSource(Protocol):
    """What loads models, and equals another that loads the same, such as options of a command."""

    def load(self) -> Models: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Worker:
    """How a process works: ``source`` loads the models, which ``is_fast`` asks only for repairs.

    It comes anew with every task, and the models are loaded once: equal sources are one.
    ``threads``: of each process, 0 as they come; ``folder``: where paths of the command begin.
    """

    source: ModelSource
    is_fast: bool = False
    has_readings: bool = False
    threads: int = 0
    folder: str = field(default_factory=os.getcwd)

    def diagnose(self, picture: Picture) -> Line:
        """A picture's line; of one that cannot be read or judged, ``error`` says why."""
        _prepare(self)
        line: Line = {"path": picture.name, "modified": picture.modified}
        line["class"] = PurePosixPath(picture.name).parent.name
        try:
            image = read(picture).image
            models = None if self.is_fast else load_once(self)
            diagnosis = diagnose(image, models, self.is_fast, self.has_readings)
        except _ERRORS as error:
            return line | {"error": f"{picture.name}: {error}"}
        line |= diagnosis.facts()
        if models and diagnosis.readings:
            label = imagenet_labels().get(line["class"], line["class"].replace("_", " "))
            if label in models.profile.classifier.classes:
                line["label"] = label
        return line

    def repair(self, job: Job) -> tuple[str, str]:
        """Write a repaired picture, whole or not at all; why that failed, and what is not kept."""
        _prepare(self)
        picture, target = job
        try:
            _, facts = write_repaired(load_once(self), read(picture), target.with_suffix(""))
        except _ERRORS as error:
            return f"{picture.name}: {error}", ""
        return "", f"{picture.name}: {', '.join(facts['lost'])}" if facts["lost"] else ""

    def show(self, job: Job) -> tuple[str, bytes, bytes]:
        """Thumbnails of a picture as it came and repaired, by its name; empty where there is none.

        The middle at its own size, where noise and blur are seen. Without networks it is what the
        inverse of the measured damage leaves.
        """
        _prepare(self)
        picture, target = job
        try:
            pixels = read(picture).pixels
            if target.is_file():
                repaired = StoredPicture.read(target).pixels
            elif self.is_fast:
                inside = pixels[find_inside(pixels)]
                (height, width), x = inside.shape[:2], cut_measured(inside)
                inverse = diagnose(pixels, is_fast=True).degradation.inverse(x)
                pixels, repaired = (from_tensor(one)[:height, :width] for one in (x, inverse))
            else:
                repaired = repair_photograph(load_once(self), pixels).image
        except _ERRORS:
            return picture.name, b"", b""
        after = b"" if np.array_equal(repaired, pixels) else _make_thumbnail(repaired)
        return picture.name, _make_thumbnail(pixels), after


_ERRORS = ValueError, FloatingPointError, MemoryError


@functools.cache
def _prepare(worker: Worker) -> None:
    """What a process needs once, before its first picture."""
    os.chdir(worker.folder)
    if worker.threads:
        torch.set_num_threads(worker.threads)


@functools.cache
def load_once(worker: Worker) -> Models:
    """The models of this process."""
    return worker.source.load()


def _make_thumbnail(pixels: Pixels) -> bytes:
    """The middle of a picture, at most :data:`SHOWN_SIDE` pixels a side, as WebP."""
    height, width = pixels.shape[:2]
    top, left = (max(0, length - SHOWN_SIDE) // 2 for length in (height, width))
    middle = pixels[top : top + SHOWN_SIDE, left : left + SHOWN_SIDE]
    return encode_picture(Image.fromarray(middle), "WEBP", quality=85)


# All of them


@dataclass(frozen=True)
class DiagnosisFolder:
    """A folder of lines on ``pictures``."""

    out: Path
    pictures: Mapping[str, Picture]

    def read_lines(self) -> Iterator[Line]:
        """Complete lines, of whatever they are."""
        with suppress(FileNotFoundError), (self.out / LINES).open("rb") as file:
            for text in file:
                with suppress(ValueError, TypeError):  # a half-written one is made again
                    yield dict(json.loads(text))

    def clean(self) -> dict[str, Picture]:
        """Drop lines of pictures that are gone, have changed or could not be read.

        Returns the pictures that have no line.
        """
        left = dict(self.pictures)
        with write_atomically(self.out / LINES) as part, part.open("w") as file:
            for line in self.read_lines():
                picture = left.get(str(line.get("path")))
                if picture and picture.modified == line.get("modified") and "error" not in line:
                    file.write(json.dumps(line) + "\n")
                    del left[picture.name]
                elif picture:
                    self.find_target(picture).unlink(missing_ok=True)
        return left

    def find_target(self, picture: Picture) -> Path:
        """Where the repaired picture lies, or else shall lie if it has one frame."""
        path = self.out / REPAIRED / picture.safe_name
        paths = [path.with_name(path.name + suffix) for suffix in (".png", ".tif", ".webp", ".gif")]
        return next((one for one in paths if one.is_file()), paths[0])

    def diagnose(self, worker: Worker, run: Run[Picture, Line]) -> None:
        """Diagnose what has no line; each is on disk before the next is waited for.

        Raises ``OSError`` where nothing can be written.
        """
        left = self.clean()
        with _progress(len(left)) as bar:
            for line in run(worker.diagnose, left.values()):
                append_lines(self.out / LINES, [line])
                bar.update()

    def repair(
        self, worker: Worker, run: Run[Job, Any], counted: Counted, summary: Summary
    ) -> None:
        """Repair pictures with something that counts and may be undone, unless that is done.

        The summary is told what failed, and what is not kept.
        """

        def list_jobs() -> Iterator[Job]:
            for line in self.read_lines():
                if counted.has_repair(line):
                    picture = self.pictures[line["path"]]
                    target = self.find_target(picture)
                    if target.is_file():
                        bar.update()
                    else:
                        yield picture, target

        with _progress(summary.repairable, "Repair") as bar:
            for error, loss in run(worker.repair, list_jobs()):
                summary.failed += [error] * bool(error)
                summary.losses += [loss] * bool(loss)
                bar.update()

    def make_thumbnails(
        self, worker: Worker, run: Run[Job, tuple[str, bytes, bytes]], paths: Sequence[str]
    ) -> dict[str, tuple[bytes, bytes]]:
        """Pictures as they came and repaired, by path; they are kept, for repairs take long."""
        jobs, thumbnails = list[Job](), dict[str, tuple[bytes, bytes]]()
        for picture in map(self.pictures.__getitem__, paths):
            target = self.find_target(picture)
            kept = [self._find_thumbnail(picture, suffix) for suffix in SHOWN]
            if all(file.is_file() for file in kept) and not target.is_file():
                thumbnails[picture.name] = kept[0].read_bytes(), kept[1].read_bytes()
            else:
                jobs.append((picture, target))
        with _progress(len(jobs), "Report") as bar:
            for name, *contents in run(worker.show, jobs):
                thumbnails[name] = contents[0], contents[1]
                for suffix, content in zip(SHOWN, contents, strict=True):
                    write(self._find_thumbnail(self.pictures[name], suffix), content)
                bar.update()
        return thumbnails

    def _find_thumbnail(self, picture: Picture, suffix: str) -> Path:
        version = os.fsencode(f"{picture.name}\0{picture.modified}")
        digest = hashlib.blake2b(version, digest_size=12).hexdigest()
        return self.out / "thumbnails" / f"{digest}-{suffix}.webp"

    def write_table(self, counted: Counted) -> None:
        """A row a picture, in a table for spreadsheets; of findings those that count."""
        with (
            write_atomically(self.out / TABLE) as part,
            part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
        ):
            table = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            table.writeheader()
            for line in self.read_lines():
                findings = counted.of(line)
                joined = {
                    name: "; ".join(str(one[name]) for one in findings)
                    for name in (findings[0] if findings else ())
                }
                if "error" not in line:
                    joined["damaged"] = str(bool(findings))
                table.writerow({**line, **joined})


def _progress(total: int, title: str | None = None) -> Any:
    return tqdm(total=total, desc=title, unit="image", mininterval=1.0, disable=not total)


def diagnose_all(
    sources: Sequence[Path],
    out: Path,
    worker: Worker,
    run: Run[Any, Any],
    counted: Counted,
    is_repaired: bool = False,
    command: str = "",
) -> Summary:
    """Diagnose every picture of some sources (:func:`list_all`); killed, the same call goes on.

    ``out`` gets lines, a table, the report and, with ``is_repaired``, the repaired pictures.
    Raises ``ValueError`` for an ``out`` with other files, of other sources or settings, or in use
    by another process, and if no picture can be read; ``OSError`` where nothing can be written.
    """
    if out.resolve() in (source.resolve() for source in sources):
        raise ValueError(f"{out} holds the pictures themselves: name another folder with --out.")
    pictures, denied = list_all(sources, out)
    with open_folder(out, {**_describe(sources, worker), "versions": read_versions()}):
        folder = DiagnosisFolder(out, pictures)
        folder.diagnose(worker, run)
        summary = Summary.of(folder.read_lines(), counted)
        summary.errors += denied
        if not summary.read:
            raise ValueError(
                f"None of the {len(summary.errors)} pictures can be read. The first: "
                f"{summary.errors[0]}"
            )
        folder.write_table(counted)
        if is_repaired:
            folder.repair(worker, run, counted, summary)
        thumbnails = folder.make_thumbnails(worker, run, summary.worst_paths)
        page = render_report(summary, thumbnails, command, is_repaired, worker.is_fast)
        write(out / REPORT, page.encode("utf-8", "backslashreplace"))
    return summary


def _describe(sources: Sequence[Path], worker: Worker) -> dict[str, Any]:
    """What lines depend on."""
    data = [str(source.absolute()) for source in sources]
    if worker.is_fast:
        return {"data": data, "networks": False, "methods": {}}
    return {"data": data, "readings": worker.has_readings, **describe_repair(load_once(worker))}
