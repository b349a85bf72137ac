"""What is done with each of many pictures, in any process, and the lines that tell of it.

A line is on disk before the next is waited for, so that killed at any moment the same call goes on.
"""

import functools
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, Self

from tqdm import tqdm

from dga.data.picture_files import StoredPicture, write_picture_file
from dga.data.uploads import UploadError
from dga.diagnosis import diagnose
from dga.folders.pictures import Picture, find_pictures
from dga.folders.records import Line, append_lines, open_folder, read_lines
from dga.folders.workers import TaskMap
from dga.io.files import LINES, explain_writing, to_plain, write_atomically
from dga.io.parsing import to_printable
from dga.io.versions import read_versions
from dga.networks.models import Models
from dga.photograph import repair_stored

LONGEST_NAME = 255
"""Most bytes of a file's name that usual disks take."""
ERRORS = ValueError, FloatingPointError, MemoryError
"""Errors of one picture, after which the others go on."""


class ModelSource(Protocol):
    """What loads models, such as options of a command; sources of the same models are equal."""

    def load(self) -> Models: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Worker:
    """How a process works: ``source`` loads the models, which ``is_fast`` asks only for repairs.

    It comes anew with every task, and the models are loaded once: equal sources are one.
    ``has_readings``: the classifier reads each picture as it came and repaired.
    """

    source: ModelSource
    is_fast: bool = False
    has_readings: bool = False

    @property
    def models(self) -> Models:
        """The models of this process."""
        return load_once(self.source)

    def describe_repair(self) -> dict[str, Any]:
        """What repaired pictures depend on, as JSON types."""
        models = self.models
        return {
            "profile": models.profile.name,
            "precision": models.compute.precision,
            "weights": models.weights,
            "methods": {"repair": to_plain(models.profile.plus)},
        }

    def diagnose(self, picture: Picture) -> Line:
        """Diagnose a picture and return its line; if that fails, its ``error`` says why."""

        def describe(stored: StoredPicture) -> Line:
            models = None if self.is_fast else self.models
            diagnosis = diagnose(stored.image, models, self.is_fast, self.has_readings)
            return {"class": PurePosixPath(picture.name).parent.name, **diagnosis.facts()}

        return self._make_line(picture, describe)

    def repair(self, out: Path, picture: Picture) -> Line:
        """Repair a picture, write it below ``out``, whole or not at all, and return its line.

        If it cannot be read or repaired, the line's ``error`` says why. Raises ``OSError`` where
        nothing can be written.
        """

        def write_repaired(stored: StoredPicture) -> Line:
            suffix = stored.default_suffix
            target = picture.safe_name.with_name(picture.safe_name.name + suffix)
            if len(os.fsencode(target.name)) > LONGEST_NAME:
                raise UploadError("its name is too long for a result's to fit.")
            content, facts = repair_stored(self.models, stored, suffix)
            write_picture_file(out / target, content)
            return {**facts, "repaired": str(target)}

        return self._make_line(picture, write_repaired)

    def _make_line(self, picture: Picture, work: Callable[[StoredPicture], Line]) -> Line:
        """Return a picture's line, with what ``work`` makes of its file, or why that failed."""
        line: Line = {"path": picture.name, "modified": picture.modified}
        is_read = False
        try:
            stored = picture.read()
            is_read = True
            return line | work(stored)
        except ERRORS as error:
            return line | {"error": f"{picture.name}: {error}", "read": is_read}


@functools.lru_cache(maxsize=1)
def load_once(source: ModelSource) -> Models:
    """Load a source's models; once a process, as long as all that are asked for are equal."""
    return source.load()


@dataclass(frozen=True)
class PictureFolder:
    """A folder of results on ``pictures``, with a line on each that is done.

    ``data``: where the pictures come from; ``denied``: what cannot be used of these, a sentence
    each.
    """

    out: Path
    data: tuple[str, ...]
    pictures: Mapping[str, Picture]
    denied: Sequence[str]

    @classmethod
    def of(cls, sources: Sequence[Path], out: Path) -> Self:
        """Results on all pictures of some sources. Raises what :func:`find_pictures` does."""
        data = tuple(str(source.absolute()) for source in sources)
        return cls(out, data, *find_pictures(sources, out))

    def open(self, settings: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Open the folder by :func:`open_folder`, for results that depend on ``settings``."""
        return open_folder(self.out, {"data": self.data, **settings, "versions": read_versions()})

    def read_lines(self) -> Iterator[Line]:
        """Lines on pictures that are as they were, and whose results are there.

        Raises ``ValueError`` naming a damaged one.
        """
        return filter(self._is_current, read_lines(self.out / LINES, ("path",)))

    def _is_current(self, line: Line) -> bool:
        picture = self.pictures.get(line["path"])
        if picture is None or picture.modified != line.get("modified"):
            return False
        return "repaired" not in line or (self.out / line["repaired"]).is_file()

    def work(
        self,
        function: Callable[[Picture], Line],
        run: TaskMap[Picture, Line],
        title: str,
        chosen: Collection[str] | None = None,
    ) -> Collection[str]:
        """Call ``function`` for pictures without a line, and add theirs; returns their names.

        ``chosen``: names of those that are wanted. Errors are tried again. Raises ``OSError`` where
        nothing can be written; if all are wanted, ``ValueError`` if each has an error.
        """
        names = self.pictures if chosen is None else chosen
        done = self._clean()
        left = {name: self.pictures[name] for name in names if name not in done}
        lines = run(function, left.values())
        errors = list(self.denied)
        for line in tqdm(lines, title, len(left), unit="image", mininterval=1.0, disable=not left):
            append_lines(self.out / LINES, [line])
            errors += [line["error"]] if "error" in line else []
        if chosen is None and not done and len(errors) == len(left) + len(self.denied):
            raise ValueError(
                f"None of the {len(errors)} pictures can be used. The first: "
                f"{to_printable(errors[0])}"
            )
        return left

    def _clean(self) -> set[str]:
        """Drop lines on errors and on pictures that are gone, and results of changed ones.

        Lines on unlisted pictures stay if a folder cannot be read: they may lie there. Returns the
        names of pictures that are done.
        """
        done = set[str]()
        path = self.out / LINES
        with explain_writing(path), write_atomically(path) as part, part.open("w") as file:
            for line in read_lines(path, ("path",)):
                is_listed, is_kept = line["path"] in self.pictures, "error" not in line
                if is_kept and self._is_current(line):
                    done.add(self.pictures[line["path"]].name)  # the same string, for memory
                elif is_listed and "repaired" in line:
                    (self.out / line["repaired"]).unlink(missing_ok=True)
                is_kept = line["path"] in done or (is_kept and not is_listed and bool(self.denied))
                file.write(json.dumps(line) + "\n" if is_kept else "")
        return done
