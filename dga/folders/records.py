"""What a folder of results holds beside its pictures: what they depend on, and a line on each.

Lines are JSON, one after the other; half a line at the end, of a run that was killed, is none.
"""

import itertools
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

from dga.io.files import (
    CONFIG,
    LINES,
    LOCK,
    explain_writing,
    find_partial_files,
    lock_folder,
    write_json,
)
from dga.io.parsing import shorten

Line = dict[str, Any]
"""What is recorded of one picture, in JSON types."""


@contextmanager
def open_folder(folder: Path, config: dict[str, Any]) -> Iterator[None]:
    """Hold a folder for this process alone, made if need be; its results depend on ``config``.

    Methods may be added to it; half a line at the end of its lines is dropped. Raises
    ``ValueError`` for a file, for a folder that holds other files or results of another
    configuration, naming the difference, and for one in use by another process; ``OSError`` where
    it cannot be made.
    """
    if folder.is_file():
        raise ValueError(f"{folder} is a file: name a folder with --out.")
    is_begun = (folder / CONFIG).exists()
    own = {folder / LOCK, *find_partial_files(folder)}
    if folder.is_dir() and not is_begun and {*folder.iterdir()} - own:
        raise ValueError(f"{folder} holds other files: name another folder with --out.")
    with explain_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        methods = check_config(folder, config).get("methods", {})
        for part in find_partial_files(folder):
            part.unlink()
        lines = folder / LINES
        if lines.exists() and not (content := lines.read_bytes()).endswith(b"\n"):
            os.truncate(lines, content.rfind(b"\n") + 1)  # in place: a kill loses no line
        if methods:
            config = {**config, "methods": methods | config["methods"]}
        write_json(folder / CONFIG, config)
        yield


def check_config(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the run that began in this folder; empty without one.

    Raises ``ValueError`` if it is damaged or another than ``config``, naming three differences.
    """
    old = read_run_config(folder / CONFIG) if (folder / CONFIG).exists() else {}
    config = json.loads(json.dumps(config))  # tuples become lists, as in the file
    if old and (changes := find_differences(old, config)):
        raise ValueError(
            f"{folder} holds results of another configuration ({'; '.join(changes[:3])}). "
            "Choose another folder."
        )
    return old


def find_differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """How two configurations differ, one phrase each; methods count where both have them."""
    shared = old.get("methods", {}).keys() & new.get("methods", {}).keys()
    there, here = (_flatten(config, shared) for config in (old, new))
    return [
        f"{name}: {shorten(str(there.get(name)), 60)} there, "
        f"{shorten(str(here.get(name)), 60)} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name) != here.get(name)
    ]


def _flatten(config: dict[str, Any], methods: Collection[str]) -> dict[str, Any]:
    """The part of a configuration that counts, by names such as ``weights.diffusion``."""
    rest = {name: config[name] for name in config.keys() - {"command", "versions", "methods"}}
    settings = {name: config["methods"][name] for name in methods}
    return dict(_name_values({**rest, "methods": settings}))


def _name_values(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _name_values(value, f"{before}{name}.")
        else:
            yield before + name, value


def read_run_config(path: Path) -> dict[str, Any]:
    """Read a folder's configuration. Raises ``ValueError`` for a damaged file."""
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise make_damage_error(path, f"{error}.") from error


def make_damage_error(path: Path, reason: object) -> ValueError:
    """The error that a file is damaged."""
    return ValueError(f"{path} is damaged: {reason}")


def read_lines(path: Path, columns: Sequence[str]) -> Iterator[Line]:
    """Complete lines, of a file that is not there none.

    Raises ``ValueError`` naming one that is damaged or lacks ``columns``.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        complete = itertools.takewhile(lambda line: line.endswith(b"\n"), file)
        for number, line in enumerate(complete, start=1):
            try:
                fields = json.loads(line)
                itemgetter(*columns)(fields)  # raises what is missing
                yield fields
            except UnicodeDecodeError as error:
                raise make_damage_error(path, f"{error}.") from error
            except (json.JSONDecodeError, TypeError):
                raise make_damage_error(path, f"line {number} is not a JSON object.") from None
            except KeyError as error:
                raise make_damage_error(path, f"line {number} has no {error}.") from None


def append_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write lines; all of them are on disk when this returns. Raises ``OSError``."""
    with explain_writing(path), path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
