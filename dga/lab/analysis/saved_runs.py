"""A folder of runs as typed records: a method's lines and the discriminator's curves."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.folders.records import make_damage_error, read_lines, read_run_config
from dga.io.files import CONFIG, CURVES, LINES

COLUMNS = (
    "path", "class", "corruption", "severity", "seed", "method", "depth", "crossed",
    "prediction", "correct", "probability", "seconds",
)  # fmt: skip
KEY = ["path", "corruption", "method"]
"""The columns that say which reading a line is about."""


class MissingRun(ValueError):  # noqa: N818  (a missing run is no fault of the reader)
    """A table or figure needs a run that the folder does not hold; says which."""


@dataclass(frozen=True, eq=False)
class Run:
    """A folder of results and what they depend on."""

    name: str
    config: dict[str, Any]

    @property
    def command(self) -> str:
        return str(self.config.get("command", ""))


@dataclass(frozen=True, eq=False)
class EvaluationRun(Run):
    """What ``python -m dga evaluate`` wrote."""

    lines: pd.DataFrame
    """A row for each image and method, with the columns of :data:`COLUMNS`: ``depth`` is a whole
    number from 0 to T, ``probability`` that of the predicted class, ``seconds`` the time for one
    image. Further columns are ``unchanged``, whether the image was returned bit for bit, and
    ``psnr``, that of the repaired image in dB where it was measured."""

    @property
    def severity(self) -> int:
        """The severity of its corruptions, 1 to 5; 0 for a mixed stream, which has all of them."""
        return int(self.config.get("severity", 0))

    @property
    def stream(self) -> str:
        """``wild``, ``sorted`` or ``single``; "" for a run of one corruption after the other."""
        return str(self.config.get("stream") or "")


@dataclass(frozen=True, eq=False)
class JudgeRun(Run):
    """What ``python -m dga judge`` wrote."""

    paths: tuple[str, ...]
    corruptions: tuple[str, ...]
    """The first is clean."""
    depths: tuple[int, ...]
    logits: NDArray[np.float32]
    """``[corruptions, paths, depths]``; positive means corrupted."""


@dataclass(frozen=True)
class SavedRuns:
    """Every run below one folder, in the order of their names."""

    evaluations: tuple[EvaluationRun, ...]
    judges: tuple[JudgeRun, ...]


def read_runs(folder: Path) -> SavedRuns:
    """Every run in ``folder`` (or the one that ``folder`` is), found by its files.

    Left out are runs that hold no line yet, those of pictures without labels, and folders of
    repaired or diagnosed photographs. Raises ``OSError`` for a folder that is not there and
    ``ValueError`` for one that holds no runs or damaged ones.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    evaluations, judges = [], []
    for run in sorted(path.parent for path in folder.rglob(CONFIG)):
        name = str(run.relative_to(folder)) if run != folder else folder.resolve().name
        has_lines, has_curves = (run / LINES).exists(), (run / CURVES).exists()
        config = read_run_config(run / CONFIG) if has_lines or has_curves else {}
        if has_lines and "split" in config and config.get("labelled", True):
            evaluations.append(EvaluationRun(name, config, _read_lines(run / LINES)))
        elif has_curves:
            judges.append(_read_judge(run, name, config))
    evaluations = [run for run in evaluations if len(run.lines)]
    if not evaluations and not judges:
        raise ValueError(
            f"{folder} holds no runs: one of evaluate or judge is a folder with {CONFIG} and "
            f"{LINES} or {CURVES}."
        )
    return SavedRuns(tuple(evaluations), tuple(judges))


def _read_lines(path: Path) -> pd.DataFrame:
    """The lines of an evaluation; lines without ``unchanged`` get it from a depth of 0."""
    entries = [{"unchanged": line["depth"] == 0} | line for line in read_lines(path, COLUMNS)]
    return pd.DataFrame(entries, columns=[*COLUMNS, "unchanged", "psnr"])


def _read_judge(folder: Path, name: str, config: dict[str, Any]) -> JudgeRun:
    arrays = read_arrays(folder / CURVES, "paths", "corruptions", "depths", "logits")
    paths, corruptions = (tuple(map(str, arrays[key])) for key in ("paths", "corruptions"))
    depths, logits = tuple(map(int, arrays["depths"])), arrays["logits"].astype(np.float32)
    return JudgeRun(name, config, paths, corruptions, depths, logits)


def read_arrays(path: Path, *names: str) -> dict[str, NDArray[Any]]:
    """The named arrays of an ``.npz`` file, or all. Raises ``ValueError`` for a damaged one."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in names or file.files}
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise make_damage_error(path, error) from error
