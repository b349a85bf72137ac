"""The tables and figures that ``python -m dga figures`` wrote, read for the page.

Only files that the index names and that lie inside its folder are opened. What cannot be
read becomes a sentence in place of the exhibit.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from dga.io.files import INDEX

ENDINGS = {"table": ("md", "csv"), "figure": ("png", "json")}  # the first is what is shown
MAX_BYTES = 8 * 2**20
BASE_SEVERITY = 5  # of exhibits whose name does not end in one

_NAME = re.compile(r"[a-z0-9-]{1,80}")
_SEVERITY = re.compile(r"-severity-([1-5])$")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class TableContent:
    """Strings as the Markdown file has them; every row is as long as ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure.

    ``content`` of a table is None if its file could not be read; ``problems`` then says why.
    A figure is shown as its picture, one of the ``downloads``: existing files by ending.
    ``missing``: what its runs lack.
    """

    kind: str
    name: str
    title: str
    caption: str
    commands: tuple[str, ...]
    content: TableContent | None
    downloads: Mapping[str, Path] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

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
    """All that a folder holds, variants of an exhibit side by side.

    ``missing``: (name, reason) of what was not made. ``problem``: why there is nothing or
    less than the index should have; empty where all is well or nothing was made yet.
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
    try:
        text = (folder / INDEX).read_text("utf-8")
    except FileNotFoundError:
        return Exhibits(folder)
    except (OSError, ValueError):
        return Exhibits(folder, problem=f"{INDEX} could not be read.")
    try:
        index = _parse(text)
        entries, missing = index["exhibits"], _missing(index.get("missing"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return Exhibits(folder, problem=f"{INDEX} is damaged.")
    return _collect(folder, entries if isinstance(entries, list) else [], missing)


def _collect(folder: Path, entries: list[Any], missing: tuple[tuple[str, str], ...]) -> Exhibits:
    found: dict[str, Exhibit] = {}
    lost = 0
    for entry in entries:
        exhibit = _exhibit(folder, entry, missing)
        if exhibit is None or exhibit.key in found:
            lost += 1
        else:
            found[exhibit.key] = exhibit
    first = {e.base: i for i, e in reversed(list(enumerate(found.values())))}
    ordered = sorted(found.values(), key=lambda e: (first[e.base], -e.severity))
    names = {exhibit.name for exhibit in ordered}
    others = tuple((name, reason) for name, reason in missing if name not in names)
    problem = f"{lost} of the {len(entries)} entries of {INDEX} could not be read." if lost else ""
    return Exhibits(folder, tuple(ordered), others, problem)


def _exhibit(folder: Path, entry: Any, missing: tuple[tuple[str, str], ...]) -> Exhibit | None:
    if not isinstance(entry, dict) or entry.get("kind") not in ENDINGS:
        return None
    kind, name = str(entry["kind"]), entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    files, commands = entry.get("files"), entry.get("commands")
    paths, problems = _files(folder, kind, files if isinstance(files, dict) else {})
    shown = paths.get(ENDINGS[kind][0])
    content: TableContent | None = None
    if shown is not None and kind == "table":
        try:
            content = read_table(shown)
        except (ValueError, OSError):
            problems.append(f"{shown.name} is damaged.")
    return Exhibit(
        kind=kind,
        name=name,
        title=_words(entry.get("title")) or name,
        caption=_words(entry.get("caption")),
        commands=tuple(filter(None, map(_words, commands if isinstance(commands, list) else []))),
        content=content,
        downloads=paths,
        problems=tuple(problems),
        missing=tuple(reason for about, reason in missing if about == name and kind == "table"),
    )


def _files(folder: Path, kind: str, files: dict[str, Any]) -> tuple[dict[str, Path], list[str]]:
    paths, problems = {}, []
    for ending in ENDINGS[kind]:
        try:
            paths[ending] = inside(folder, files.get(ending), ending)
        except (ValueError, OSError) as error:
            problems.append(str(error))
    return paths, problems


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


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line)[1:-1])


def _parse(text: str) -> Any:
    """JSON as browsers take it: NaN and Infinity are refused. Raises ``ValueError``."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _missing(entries: object) -> tuple[tuple[str, str], ...]:
    known = [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    pairs = ((_words(e.get("name")), _words(e.get("reason"))) for e in known)
    return tuple((name, reason) for name, reason in pairs if name and reason)


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""
