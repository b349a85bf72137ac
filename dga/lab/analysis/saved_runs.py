"""A folder of runs as typed records: the lines of methods and of discriminators."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dga.folders.records import read_lines, read_run_config
from dga.io.files import CONFIG, LINES

COLUMNS = (
    "path", "class", "corruption", "severity", "seed", "method", "depth", "crossed",
    "prediction", "correct", "probability", "seconds",
)  # fmt: skip
KEY = ["path", "corruption", "method"]
"""The columns that say which reading a line is about."""
JUDGED = ("path", "corruption", "logits")
"""The columns of a judged discriminator."""
JUDGE = "judge"
"""The kind of a run that ``python -m dga judge`` made."""


@dataclass(frozen=True, eq=False)
class Run:
    """A folder of results, and what they depend on."""

    name: str
    config: dict[str, Any]
    lines: pd.DataFrame
    """Of ``evaluate`` a row for each image and method, with the columns of :data:`COLUMNS`:
    ``depth`` is a whole number from 0 to T, ``probability`` that of the predicted class,
    ``seconds`` the time for one image. Further columns are ``unchanged``, whether the image was
    returned bit for bit, and ``psnr``, that of the repaired image in dB where it was measured.

    Of ``judge`` a row for each image under each corruption (clean is one of them), with the columns
    of :data:`JUDGED`; ``logits`` has one for each of the configuration's ``depths``, and a positive
    one means corrupted."""

    @property
    def command(self) -> str:
        """The command that made it, "" where it is not known."""
        return str(self.config.get("command", ""))

    @property
    def severity(self) -> int:
        """The severity of its corruptions, 1 to 5; 0 for a mixed stream, which has all of them."""
        return int(self.config.get("severity", 0))

    @property
    def stream(self) -> str:
        """``wild``, ``sorted`` or ``single``; "" for a run of one corruption after the other."""
        return str(self.config.get("stream") or "")


@dataclass(frozen=True)
class SavedRuns:
    """Every run below one folder, in the order of their names."""

    evaluations: tuple[Run, ...]
    judges: tuple[Run, ...]


def read_runs(folder: Path) -> SavedRuns:
    """Every run in ``folder`` (or the one that ``folder`` is), found by its files.

    Left out are runs that hold no line yet, those of pictures without labels, and folders of
    repaired or diagnosed photographs. Raises ``OSError`` for a folder that is not there and
    ``ValueError`` for one that holds no runs or damaged ones.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    evaluations, judges = list[Run](), list[Run]()
    for path in sorted(config.parent for config in folder.rglob(CONFIG)):
        if not (path / LINES).exists():
            continue
        name = str(path.relative_to(folder)) if path != folder else folder.resolve().name
        config = read_run_config(path / CONFIG)
        if config.get("kind") == JUDGE:
            lines = pd.DataFrame(read_lines(path / LINES, JUDGED), columns=JUDGED)
            judges.append(Run(name, config, lines))
        elif "split" in config and config.get("labelled", True):
            evaluations.append(Run(name, config, _read_lines(path / LINES)))
    evaluations, judges = (
        [run for run in runs if len(run.lines)] for runs in (evaluations, judges)
    )
    if not evaluations and not judges:
        raise ValueError(
            f"{folder} holds no runs: one of evaluate or judge is a folder with {CONFIG} and "
            f"{LINES}."
        )
    return SavedRuns(tuple(evaluations), tuple(judges))


def _read_lines(path: Path) -> pd.DataFrame:
    """The lines of an evaluation; lines without ``unchanged`` get it from a depth of 0."""
    entries = [{"unchanged": line["depth"] == 0} | line for line in read_lines(path, COLUMNS)]
    return pd.DataFrame(entries, columns=[*COLUMNS, "unchanged", "psnr"])
