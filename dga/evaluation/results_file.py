"""Result lines on disk: one JSON object a picture and method; of two, the latest counts.

And a short table of them, for the terminal.
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dga.analysis.saved_runs import read_config, read_lines
from dga.analysis.tables.table import to_markdown
from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.io.files import CONFIG, LINES, write_json
from dga.io.parsing import shorten
from dga.record import read_versions

ResultLine = dict[str, Any]


class ResultsFile:
    """The lines of one run folder.

    A folder belongs to one configuration. Methods may be added to it as long as the
    settings of those already there stay the same.
    """

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        """Claim a folder and read what it holds; a half-written last line is dropped.

        ``config["methods"]`` maps each method to its settings. Raises ``ValueError`` for results
        of another configuration, naming the difference, and for a damaged file.
        """
        self.path = folder / LINES
        folder.mkdir(parents=True, exist_ok=True)
        old = check_config(folder, config)
        config = {**config, "methods": {**old.get("methods", {}), **config["methods"]}}
        self.lines = _read_complete_lines(self.path)
        self._keys = set(map(_make_key, self.lines))
        write_json(folder / CONFIG, {**config, "versions": read_versions()})

    def has(self, corruption: str, path: str, method: str) -> bool:
        """Whether this picture's line is there already."""
        return (corruption, path, method) in self._keys

    def append_new(self, lines: Iterable[ResultLine]) -> None:
        """Append the lines of pictures and methods that have none yet."""
        self.append([line for line in lines if _make_key(line) not in self._keys])

    def append(self, lines: Sequence[ResultLine]) -> None:
        """Write lines; all of them are on disk when this returns. Raises ``OSError``."""
        try:
            with self.path.open("a") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as error:
            raise OSError(
                f"{self.path} could not be written ({error.strerror}). Results of earlier batches "
                "are kept: mend that, then run the same command again."
            ) from error
        self.lines += lines
        self._keys |= set(map(_make_key, lines))


def _make_key(line: ResultLine) -> tuple[str, str, str]:
    """What a line is about: corruption, picture, method."""
    return line["corruption"], line["path"], line["method"]


def check_config(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of the run that began in this folder; empty without one.

    Raises ``ValueError`` if it is damaged or another than ``config``, naming three differences.
    """
    old = read_config(folder / CONFIG) if (folder / CONFIG).exists() else {}
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
    """What counts of a configuration, by names such as ``weights.diffusion``."""
    rest = {name: config[name] for name in config.keys() - {"command", "versions", "methods"}}
    settings = {name: config["methods"][name] for name in methods}
    flat: dict[str, Any] = pd.json_normalize({**rest, "methods": settings}).to_dict("records")[0]
    return flat


def _read_complete_lines(path: Path) -> list[ResultLine]:
    """Complete lines; the file is cut after the last of them."""
    if not path.exists():
        return []
    if (content := path.read_bytes()) and not content.endswith(b"\n"):
        os.truncate(path, content.rfind(b"\n") + 1)  # in place: a kill here loses no line
    return list(read_lines(path, ("corruption", "path", "method")))


def summarise(lines: Sequence[ResultLine], is_stream: bool = False) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method.

    Families and the mean of 15 stand there once all of theirs are measured; of a mixed stream
    also the accuracy on all of it.
    """
    frame = pd.DataFrame(lines)
    table = frame.pivot_table("correct", "corruption", "method", sort=False)
    groups = {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    means = {title: table.reindex(group).mean(skipna=False) for title, group in groups.items()}
    if is_stream:
        means["**all**"] = frame.groupby("method")["correct"].mean()
    measured = pd.DataFrame(means).T.dropna(how="all")
    shares = pd.concat([table, measured])[frame["method"].unique()]
    texts = (100 * shares.astype(float)).map("{:.1f}".format).replace("nan", "")
    return to_markdown(texts.rename_axis("corruption").reset_index())
