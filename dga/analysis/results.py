"""A folder of runs as typed records: a method's lines and the discriminator's curves."""

import gzip
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.corruptions import CLEAN
from dga.io.files import CONFIG, CURVES, FEATURES, LINES

COLUMNS = (
    "path", "class", "corruption", "severity", "seed", "method", "depth", "crossed",
    "prediction", "correct", "probability", "seconds",
)  # fmt: skip
KEY = ["path", "corruption", "method"]
LATER = ("entry", "degradation", "unchanged", "alternatives", "psnr")
"""Columns that not every run has; see :func:`read_evaluation`."""


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
    """What ``python -m dga evaluate`` wrote.

    ``lines``: a row an image and method, with the columns of :data:`COLUMNS`;
    ``depth`` is an integer 0...T, ``probability`` that of the predicted class,
    ``seconds`` for one image. ``entry``: the depth at which the image was by its own noise;
    ``degradation``: how its damage was explained, or none; ``unchanged``: whether it was
    returned bit for bit; ``alternatives``: labels of what every candidate explanation would
    make of it, where they were asked for; ``psnr``: of the repaired picture, in dB.
    """

    lines: pd.DataFrame

    @property
    def severity(self) -> int:
        """Of its corruptions, 1 to 5; 0 for a mixed stream, which has all."""
        return int(self.config.get("severity", 0))

    @property
    def stream(self) -> str:
        """Wild, sorted or single; "" for a run of one corruption after the other."""
        return str(self.config.get("stream") or "")


@dataclass(frozen=True, eq=False)
class JudgeRun(Run):
    """What ``python -m dga judge`` wrote.

    ``logits``: float32 ``[M, N, K]`` of M corruptions (the first is clean), N
    pictures and K depths; positive means corrupted. ``features``: the frozen classifier's
    ``[M, N, F]``, or none.
    """

    paths: tuple[str, ...]
    corruptions: tuple[str, ...]
    depths: tuple[int, ...]
    logits: NDArray[np.float32]
    features: NDArray[np.float32] | None

    @property
    def study(self) -> str:
        return str(self.config.get("study", self.name))


@dataclass(frozen=True)
class SavedRuns:
    """Every run below one folder, in the order of their names."""

    evaluations: tuple[EvaluationRun, ...]
    judges: tuple[JudgeRun, ...]


def read_runs(folder: Path) -> SavedRuns:
    """Every run in ``folder`` (or the one that ``folder`` is), found by its files.

    Runs that hold no line yet are left out. Raises ``OSError`` for a folder that is
    not there and ``ValueError`` for one that is empty, holds no runs or damaged ones.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if not any(folder.iterdir()):
        raise ValueError(f"{folder} is empty.")
    evaluations, judges = [], []
    for run in sorted(path.parent for path in folder.rglob(CONFIG)):
        name = str(run.relative_to(folder)) if run != folder else folder.resolve().name
        if lines_file(run) is not None:
            evaluations.append(read_evaluation(run, name))
        elif (run / CURVES).exists():
            judges.append(read_judge(run, name))
    evaluations = [run for run in evaluations if len(run.lines)]
    if not evaluations and not judges:
        raise ValueError(
            f"{folder} holds no runs: a run is a folder with {CONFIG} and {LINES} or {CURVES}."
        )
    return SavedRuns(tuple(evaluations), tuple(judges))


def lines_file(folder: Path) -> Path | None:
    """The run's lines, plain or gzipped; ``None`` where there are none."""
    paths = (folder / LINES, folder / f"{LINES}.gz")
    return next((path for path in paths if path.exists()), None)


def read_evaluation(folder: Path, name: str = "") -> EvaluationRun:
    """One evaluation run. Raises ``ValueError`` naming the file that is damaged.

    Lines of runs that did not say so are of images that entered at depth 0, without an
    explanation, and came back unchanged from depth 0.
    """
    path = lines_file(folder)
    if path is None:
        raise ValueError(f"{folder} holds no {LINES}.")
    rows = [
        {"entry": 0, "degradation": "none", "unchanged": row["depth"] == 0} | row
        for row in _read_rows(path, COLUMNS)
    ]
    lines = pd.DataFrame(rows, columns=[*COLUMNS, *LATER])
    is_repeated = lines.duplicated(KEY)
    if is_repeated.any():
        image, corruption, method = lines.loc[is_repeated.idxmax(), KEY]
        raise _damaged(path, f"{method} on {image}, {corruption}, comes twice.")
    return EvaluationRun(name or folder.name, _read_config(folder / CONFIG), lines)


def _damaged(path: Path, reason: object) -> ValueError:
    return ValueError(f"{path} is damaged: {reason}")


def _read_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Complete lines; half a line at the end, of a run that was killed, is none."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise _damaged(path, f"{error}.") from error
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        try:
            row = json.loads(line)
            yield {column: row[column] for column in columns} | row
        except (json.JSONDecodeError, TypeError):
            raise _damaged(path, f"line {number} is not a JSON object.") from None
        except KeyError as error:
            raise _damaged(path, f"line {number} has no {error}.") from None


def read_judge(folder: Path, name: str = "") -> JudgeRun:
    """One judge run, with its features where it has some.

    Raises ``ValueError`` naming the file that is damaged.
    """
    path = folder / CURVES
    arrays = _read_arrays(path, ("paths", "corruptions", "depths", "logits"))
    corruptions = tuple(map(str, arrays["corruptions"]))
    shape = len(corruptions), len(arrays["paths"]), len(arrays["depths"])
    logits = arrays["logits"].astype(np.float32)
    if logits.shape != shape or 0 in shape or not np.isfinite(logits).all():
        raise _damaged(path, f"logits are {logits.shape}, not finite {shape}.")
    if corruptions[0] != CLEAN:
        raise _damaged(path, "the first corruption is not clean.")
    features = None
    if (folder / FEATURES).exists():
        features = _read_arrays(folder / FEATURES, ("features",))["features"].astype(np.float32)
        if features.ndim != 3 or features.shape[:2] != shape[:2]:
            reason = f"features are {features.shape}, not {shape[:2]} by F."
            raise _damaged(folder / FEATURES, reason)
    return JudgeRun(
        name=name or folder.name,
        config=_read_config(folder / CONFIG),
        paths=tuple(map(str, arrays["paths"])),
        corruptions=corruptions,
        depths=tuple(map(int, arrays["depths"])),
        logits=logits,
        features=features,
    )


def _read_arrays(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in names}
    except KeyError:
        absent = next(name for name in names if name not in file.files)
        raise _damaged(path, f"it has no {absent}.") from None
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, error) from error


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise _damaged(path, f"{error}.") from error
    if not isinstance(config, dict):
        raise _damaged(path, "it is not a JSON object.")
    return config
