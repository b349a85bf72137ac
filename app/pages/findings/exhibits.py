"""The tables and figures that ``python -m dga figures`` wrote, read for the page.

Only files that the index names and that lie inside its folder are opened. What cannot be
read becomes a sentence in place of the exhibit.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dga.analysis.tables.table import DASH, MINUS, NOTHING
from dga.io.files import INDEX

ENDINGS = {"table": ("md", "csv"), "figure": ("png", "json")}
MAX_BYTES = 8 * 2**20
BASE_SEVERITY = 5  # of exhibits whose name does not end in one

_NAME = re.compile(r"[a-z0-9-]{1,80}")
_SEVERITY = re.compile(r"-severity-([1-5])$")
_CELL_END = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(rf"[+{MINUS}-]?\d")
_PERCENT = re.compile(r"\d+(\.\d+)?")
_INTERVAL = re.compile(rf"([+{MINUS}-]?\d\S*) (\(.+(?:{DASH}| to ).+\))$")
_EMPHASIS = re.compile(r"\*{1,2}(.+?)\*{1,2}$")


@dataclass(frozen=True)
class TableContent:
    """Strings as the Markdown file has them; every row is as long as ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def kinds(self) -> list[str]:
        """``n`` for each column whose cells are numbers or nothing."""
        columns = zip(*self.rows, strict=True)
        known = ([cell for cell in column if cell != NOTHING] for column in columns)
        return ["n" if cells and all(map(_NUMBER.match, cells)) else "" for cells in known]

    def drawn(self) -> Iterator[tuple[bool, list[tuple[str, str, str]]]]:
        """Rows: whether it is the paper's; of each cell the value, its interval and percentage."""
        for row in self.rows:
            cells = [_EMPHASIS.sub(r"\1", cell) for cell in row]
            yield cells[0] != row[0], [_parts(cell) for cell in cells]


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure.

    ``content`` of a table is None if its file could not be read; ``problems`` then says why.
    ``downloads``: existing files by ending. A figure is drawn from its JSON, ``height`` pixels
    high, or, where that is 0, shown as its picture.
    """

    kind: str
    name: str
    title: str
    caption: str
    commands: tuple[str, ...]
    content: TableContent | None
    downloads: Mapping[str, Path] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    height: int = 0

    @property
    def key(self) -> str:
        """Unique among exhibits: a table and a figure may share their name."""
        return f"{self.kind}-{self.name}"

    @property
    def base(self) -> str:
        """The key without a severity: the same for all variants of an exhibit."""
        return _SEVERITY.sub("", self.key)

    @property
    def severity(self) -> int:
        """1 to 5."""
        found = _SEVERITY.search(self.name)
        return int(found[1]) if found else BASE_SEVERITY


@dataclass(frozen=True)
class Exhibits:
    """All that a folder holds.

    ``missing``: (name, reason) of what was not made or lacks a part. ``problem``: why there is
    nothing; empty where all is well or nothing was made yet.
    """

    folder: Path
    exhibits: tuple[Exhibit, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    problem: str = ""

    def files(self) -> list[Path]:
        """What may be downloaded."""
        return [path for exhibit in self.exhibits for path in exhibit.downloads.values()]

    def variants(self, exhibit: Exhibit) -> tuple[int, ...]:
        """Severities at which this exhibit exists, rising."""
        return tuple(sorted({e.severity for e in self.exhibits if e.base == exhibit.base}))

    def listed(self, severity: int) -> list[Exhibit]:
        """What is shown at a severity: all but what was made at another one as well."""
        found = self.exhibits
        return [e for e in found if e.severity == severity or len(self.variants(e)) == 1]

    def severities(self) -> tuple[int, ...]:
        """Severities to choose from, rising; none where no exhibit has two."""
        found = (self.variants(exhibit) for exhibit in self.exhibits)
        return tuple(sorted({s for several in found if len(several) > 1 for s in several}))

    def table(self, name: str) -> Exhibit | None:
        """The table of this name, if it was made."""
        return next((e for e in self.exhibits if e.kind == "table" and e.name == name), None)

    def numbers(self, name: str) -> tuple[dict[str, str], ...]:
        """A table's rows as its CSV has them; none where that is missing or damaged."""
        exhibit = self.table(name)
        if exhibit is None or "csv" not in exhibit.downloads:
            return ()
        try:
            text = exhibit.downloads["csv"].read_text("utf-8")
            return tuple(csv.DictReader(text.splitlines()))
        except (OSError, ValueError, csv.Error):
            return ()


def read_exhibits(folder: Path) -> Exhibits:
    """Read ``folder``. Never raises for what the files hold or lack."""
    if not (folder / INDEX).exists():
        return Exhibits(folder)
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
        missing = tuple((str(m["name"]), str(m["reason"])) for m in index.get("missing", ()))
        found = tuple(_exhibit(folder, entry) for entry in index["exhibits"])
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Exhibits(folder, problem=f"{INDEX} is damaged.")
    return Exhibits(folder, found, missing)


def _exhibit(folder: Path, entry: Any) -> Exhibit:
    kind, name, files = entry["kind"], entry["name"], dict(entry["files"])
    title, caption = str(entry["title"]), str(entry["caption"])
    commands = tuple(map(str, entry["commands"]))
    if not _NAME.fullmatch(name):
        raise ValueError("no name of an exhibit")
    paths, problems, content, height = {}, [], None, 0
    for ending in ENDINGS[kind]:
        try:
            paths[ending] = path = inside(folder, files.get(ending), ending)
        except (ValueError, OSError) as error:
            problems.append(str(error))
            continue
        try:
            if ending == "md":
                content = read_table(path)
            elif ending == "json":
                height = int(json.loads(path.read_text("utf-8"))["layout"]["height"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            problems.append(f"{path.name} is damaged.")
    return Exhibit(kind, name, title, caption, commands, content, paths, tuple(problems), height)


def inside(folder: Path, name: object, ending: str) -> Path:
    """An existing file of ``folder``. Raises ``ValueError`` with a sentence, or ``OSError``."""
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"{INDEX} names no {ending.upper()} file.")
    path = (folder / name).resolve()  # follows links
    if not path.is_relative_to(folder.resolve()) or path.suffix != f".{ending}":
        raise ValueError(f"{name} is no {ending.upper()} file inside the results.")
    if not path.is_file():
        raise ValueError(f"{name} is missing.")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{name} is larger than {MAX_BYTES // 2**20} MB.")
    return path


def read_table(path: Path) -> TableContent:
    """The one Markdown table of a file. Raises ``ValueError`` if there is none."""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    rows = [_cells(line) for line in lines if line.startswith("|")]
    if len(rows) < 3 or len({len(row) for row in rows}) != 1:
        raise ValueError("no table, or rows of different lengths")
    if not all(cell and not cell.strip("-:") for cell in rows[1]):
        raise ValueError("no line under the header")
    return TableContent(rows[0], tuple(rows[2:]))


def _parts(cell: str) -> tuple[str, str, str]:
    found, percent = _INTERVAL.match(cell), _PERCENT.match(cell)
    value, interval = found.groups() if found else (cell, "")
    return value, interval, f"{float(percent[0]):.0f}" if percent else ""


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line)[1:-1])
