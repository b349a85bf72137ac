"""Result lines on disk: one JSON object a picture and method; of two, the latest counts."""

import os
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

from dga.folders.records import append_lines, check_config, read_lines
from dga.io.files import CONFIG, LINES, write_json
from dga.io.versions import read_versions

ResultLine = dict[str, Any]
KEY = ("corruption", "path", "method")
get_key = itemgetter(*KEY)
"""What a line is about."""


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
        self.path, self.lines = folder / LINES, list[ResultLine]()
        folder.mkdir(parents=True, exist_ok=True)
        methods = check_config(folder, config).get("methods", {}) | config["methods"]
        if self.path.exists():
            content = self.path.read_bytes()
            if not content.endswith(b"\n"):
                os.truncate(self.path, content.rfind(b"\n") + 1)  # in place: a kill loses no line
            self.lines = list(read_lines(self.path, KEY))
        self._keys = set(map(get_key, self.lines))
        write_json(folder / CONFIG, {**config, "methods": methods, "versions": read_versions()})

    def has(self, corruption: str, path: str, method: str) -> bool:
        """Whether this picture's line is there already."""
        return (corruption, path, method) in self._keys

    def append(self, lines: Iterable[ResultLine]) -> None:
        """Write the lines of pictures and methods that have none yet.

        All of them are on disk when this returns. Raises ``OSError``.
        """
        new = [line for line in lines if get_key(line) not in self._keys]
        append_lines(self.path, new)
        self.lines += new
        self._keys.update(map(get_key, new))
