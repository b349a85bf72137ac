"""Result lines on disk: one JSON object a picture and method, never lost, never twice."""

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from dga.io.files import CONFIG, LINES, atomic, write_json
from dga.record import versions

SHARDS = "shards"
ResultRow = dict[str, Any]


class ResultsFile:
    """The lines of one run folder.

    A folder belongs to one configuration. Methods may be added to it as long as the
    settings of those already there stay the same. Lines that arrive in any order are kept
    as shards, a file each, until they are merged in the order of their numbers.
    """

    def __init__(
        self, folder: Path, config: dict[str, Any], resume: bool, moved: Collection[str] = ()
    ) -> None:
        """Claim a folder and read what it holds; a half-written last line is dropped.

        ``config["methods"]`` maps each method to its settings; what is ``moved`` may differ.
        Raises ``ValueError`` for results of another configuration, naming the difference, and
        for results where ``resume`` was not asked for.
        """
        self.path = folder / LINES
        self.shards = folder / SHARDS
        folder.mkdir(parents=True, exist_ok=True)
        old = earlier_config(folder, config, moved)
        config = {**config, "methods": {**old.get("methods", {}), **config["methods"]}}
        self.lines = _read(self.path)
        found = len(self.lines) + sum(len(_read(path)) for path in self._waiting())
        if found and not resume:
            raise ValueError(
                f"{folder} already holds {found} results. "
                "Add --resume to go on with them, or choose another folder."
            )
        self._done = {key(line) for line in self.lines}
        write_json(folder / CONFIG, {**config, "versions": versions()})
        self.merge()  # a run on many machines may have been killed before it did

    def has(self, corruption: str, path: str, method: str) -> bool:
        """Whether this picture's line is there already."""
        return (corruption, path, method) in self._done

    def append(self, lines: Iterable[ResultRow]) -> None:
        """Write the lines that are new; all of them are on disk when this returns."""
        new = [line for line in lines if key(line) not in self._done]
        try:
            with self.path.open("a") as file:
                file.writelines(json.dumps(line) + "\n" for line in new)
        except OSError as error:
            raise OSError(
                f"{self.path} could not be written ({error.strerror}). Results of earlier batches "
                "are kept: mend that, then run the same command again; evaluations go on with "
                "--resume."
            ) from error
        self.lines += new
        self._done |= {key(line) for line in new}

    def keep(self, stands: Callable[[ResultRow], bool]) -> list[ResultRow]:
        """Forget the lines that no longer stand; returns them."""
        gone = [line for line in self.lines if not stands(line)]
        if gone:
            self.lines[:] = [line for line in self.lines if stands(line)]
            self._done = {key(line) for line in self.lines}
            with atomic(self.path) as part:
                part.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return gone

    def add_shard(self, number: int, lines: Iterable[ResultRow]) -> None:
        """Keep the lines of one piece of work: the whole file or none of it."""
        self.shards.mkdir(exist_ok=True)
        path = self.shards / f"{number:09d}.jsonl"
        with atomic(path) as part:
            part.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def merge(self) -> None:
        """Append the shards to the lines in the order of their numbers, and remove them."""
        for path in self._waiting():
            self.append(_read(path))
            path.unlink()
        shutil.rmtree(self.shards, ignore_errors=True)

    def _waiting(self) -> list[Path]:
        return sorted(self.shards.glob("*.jsonl"))


def key(line: ResultRow) -> tuple[str, str, str]:
    """What a line is about: corruption, picture, method."""
    return line["corruption"], line["path"], line["method"]


def held_config(folder: Path) -> dict[str, Any]:
    """What a run that began in this folder depends on; empty without one.

    Raises ``ValueError`` where that cannot be read.
    """
    path = folder / CONFIG
    try:
        held = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read. Choose another folder.") from error
    if not isinstance(held, dict):
        raise ValueError(f"{path} cannot be read. Choose another folder.")
    return held


def earlier_config(
    folder: Path, config: dict[str, Any], moved: Collection[str] = ()
) -> dict[str, Any]:
    """What a run that began in this folder depends on; empty without one.

    Raises ``ValueError`` if that is not what this one does, naming up to three differences.
    """
    old = held_config(folder)
    if not old:
        return {}
    old |= {name: config[name] for name in moved}
    config = json.loads(json.dumps(config))  # tuples become lists, as in the file
    if changed := differences(old, config):
        raise ValueError(
            f"{folder} holds results of another configuration ({'; '.join(changed[:3])}). "
            "Choose another folder."
        )
    return old


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """How two configurations differ, one phrase each; methods count where both have them."""
    both = [config.get("methods", {}) for config in (old, new)]
    shared = both[0].keys() & both[1].keys()
    there, here = (
        _flat({**config, "methods": {name: methods[name] for name in shared}})
        for config, methods in zip((old, new), both, strict=True)
    )
    return [
        f"{name}: {_short(there.get(name))} there, {_short(here.get(name))} here"
        for name in sorted((there.keys() | here.keys()) - {"command"})
        if not name.startswith("versions.") and there.get(name) != here.get(name)
    ]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _flat(content: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(content, dict):
        return {prefix: content}
    found: dict[str, Any] = {}
    for name, value in content.items():
        found |= _flat(value, f"{prefix}.{name}" if prefix else name)
    return found


def _read(path: Path) -> list[ResultRow]:
    """Complete lines; the file is cut after the last of them."""
    if not path.exists():
        return []
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)  # in place: a kill or a full disk here loses no line
    return [json.loads(row) for row in content[:end].splitlines()]
