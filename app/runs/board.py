"""Pictures by every method side by side: one under fifteen corruptions, or a visitor's own.

An atlas shows the same pictures by one method, rebuilt from every depth.
"""

from __future__ import annotations

import csv
import io
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import PurePath
from typing import Any

import numpy as np

from app.parts.examples import Example
from app.parts.pictures import encoded, zipped
from app.runs.gpu import expected_seconds
from app.runs.run_state import DepthSeries
from app.runs.session import Session
from app.runs.sprites import outcome_sheet
from app.runs.watch import fixed_depth
from app.server.errors import RunError
from app.words import board as words
from dga.corruptions import CORRUPTIONS, corrupt, family_of
from dga.explanation.degradation import Degradation
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.networks.models import Models
from dga.pipeline import (
    DepthSweep,
    PictureCache,
    Rebuilt,
    Stepped,
    Stopped,
    classify,
    default_systems,
    sweep_depths,
    systems_by_repair,
)
from dga.pipeline import run as run_repairs
from dga.profiles import Profile, Repair
from dga.stopping import Stop
from dga.systems import System

DAMAGED = "damaged"
STOPPED = "dga"  # the system whose cell says where the paper's search ended
COLUMNS = (DAMAGED, STOPPED, "dga-guided", "dga-plus", "dda")
METHODS = ("dga", "dga-guided")
"""Whose results from every depth an atlas can show."""
DEEPEST = 32
QUALITY = 40  # of its pictures, of which no verdict is read off
SEED = 0
UNDER_WAY = ("wait", "read", "forward", "reverse", "row")
CSV_COLUMNS = (
    "picture", "family", "severity", "seed", "method", "depth", "crossed", "found",
    "label_before", "probability_before", "label_after", "probability_after", "truth", "verdict",
)  # fmt: skip
ATLAS_COLUMNS = (
    *CSV_COLUMNS[:5], "own_depth", "crossed", "depth", "label", "probability", "truth", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One picture: ``image``, uint8 ``[S, S, 3]``, None while nothing of it is known.

    ``said``: None while it is not finished; ``stop``: None for the damaged picture; ``found``:
    how its system explained the damage, empty for one that does not; ``depths``: what comes out
    at each depth, on an atlas.
    """

    image: Pixels | None = None
    said: Prediction | None = None
    stop: Stop | None = None
    found: str = ""
    depths: DepthSeries | None = None


@dataclass
class Row:
    """A picture in every column; ``name``: a corruption or a file's name; ``truth``: its class.

    ``file``: path of an upload.
    """

    name: str
    truth: str | None
    cells: dict[str, Cell] = field(default_factory=dict)
    file: str | None = None

    def cell(self, column: str) -> Cell:
        """Empty while nothing of it is known."""
        return self.cells.get(column, Cell())

    @property
    def stop(self) -> Stop | None:
        """Where the paper's search ended, once it has."""
        return self.cell(STOPPED).stop

    @property
    def depths(self) -> DepthSeries | None:
        return self.cell(STOPPED).depths

    @property
    def complete(self) -> bool:
        return all(self.cell(name).said for name in COLUMNS)

    def verdict(self, column: str) -> str:
        """``right`` or ``wrong`` against the true class; empty without one, or not read yet."""
        return _verdict(self.cell(column).said, self.truth)

    @property
    def right(self) -> list[bool]:
        """Whether the true class is read, by depth; empty without one, or not read yet."""
        known = self.depths.predictions if self.depths and self.truth else ()
        return [said.label == self.truth for said in known]


@dataclass
class Board:
    """``example``: its name, None for own pictures; ``progress``: (done, total) of the phase.

    ``unreadable``: uploads left out, with the reason; ``method``: an atlas's, one of
    :data:`METHODS`; ``before``: what it takes the place of.
    """

    profile: Profile
    example: str | None
    severity: int | None
    rows: list[Row]
    phase: str = "empty"
    progress: tuple[float, int] = (0, 0)
    seconds: float = 0.0
    error: str = ""
    recorded: bool = False
    unreadable: dict[str, str] = field(default_factory=dict)
    method: str = ""
    before: Board | None = None
    cancel: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of_example(cls, profile: Profile, example: Example, severity: int) -> Board:
        """An example under the fifteen corruptions; no network is called."""
        truth = example.truth if example.truth in profile.classifier.classes else None
        pixels = example.pixels(profile.image_size)
        rows = [
            Row(kind, truth, {DAMAGED: Cell(corrupt(pixels, kind, severity, SEED).copy())})
            for kind in CORRUPTIONS
        ]
        return cls(profile, example.name, severity, rows)

    @cached_property
    def systems(self) -> dict[str, System]:
        """What its columns show besides the damaged picture, by name."""
        return compared(self.profile)

    @property
    def key(self) -> str:
        return key_of(self.example, self.severity, self.method)

    @property
    def running(self) -> bool:
        return self.phase in UNDER_WAY

    @property
    def files(self) -> list[str | None]:
        return [row.file for row in self.rows]

    @property
    def complete(self) -> list[Row]:
        return [row for row in self.rows if (row.depths if self.method else row.complete)]

    @property
    def shown(self) -> Board:
        """Where it ended before any row was finished, the results that were there before."""
        ended = not (self.running or self.complete)
        return self.before if ended and self.before and self.before.complete else self

    def again(self, method: str = "") -> Board:
        """The same pictures, nothing computed but the filled rows of an unfinished atlas."""
        rows = [replace(row, cells={DAMAGED: Cell(row.cells[DAMAGED].image)}) for row in self.rows]
        seconds = 0.0
        if method and method == self.method and len(self.complete) < len(self.rows):
            rows, seconds = self.rows, self.seconds
        known = self.profile, self.example, self.severity, rows
        return Board(*known, seconds=seconds, method=method)

    def csv(self) -> str:
        """One line a picture and method, of an atlas a picture and depth; unknown is empty."""
        stream, columns = io.StringIO(), ATLAS_COLUMNS if self.method else CSV_COLUMNS
        lines = (line for row in self.rows for line in self._lines(row))
        csv.writer(stream, lineterminator="\n").writerows([columns, *lines])
        return stream.getvalue()

    def _lines(self, row: Row) -> Iterator[list[object]]:
        family, truth = family_of(row.name) if self.example else "", row.truth or ""
        known = [_text(row.name), family, self.severity or "", SEED]
        if self.method and row.depths and row.stop:
            known += [self.method, row.stop.t_star, row.stop.crossed]
            for depth, said in enumerate(row.depths.predictions):
                yield [*known, depth, *_told(said), truth, _verdict(said, row.truth)]
        for name in () if self.method else COLUMNS[1:]:
            cell = row.cell(name)
            stop, fixed = cell.stop if cell.said else None, fixed_depth(self.systems[name])
            ended = [stop.t_star, "" if fixed else stop.crossed] if stop else ["", ""]
            read = *_told(row.cell(DAMAGED).said), *_told(cell.said)
            yield [*known, name, *ended, cell.found, *read, truth, row.verdict(name)]

    def zip(self) -> bytes:
        """Every rebuilt picture as METHOD/NUMBER-NAME.png, and the table."""
        files = {"results.csv": self.csv().encode()}
        for (number, row), name in product(enumerate(self.rows, 1), COLUMNS[1:]):
            cell = row.cell(name)
            if cell.said and cell.image is not None:
                file = f"{name}/{number:02}-{PurePath(row.name).stem}.png"
                files[file] = encoded(cell.image, "PNG")
        return zipped(files)


def key_of(example: str | None, severity: int | None, method: str = "") -> str:
    """What a board is called: ``cat-2``, ``own``; an atlas ``cat-2-dga``."""
    return "-".join(str(part) for part in (example or "own", severity, method) if part)


def compared(profile: Profile) -> dict[str, System]:
    """The systems of every board, by name: the profile's own, with one noise path."""
    stopping = replace(profile.stopping, paths=1)
    known = default_systems(replace(profile, stopping=stopping))
    return {system.name: system for system in known}


News = tuple[str, tuple[float, int], Sequence[tuple[int, str, Cell]]]
"""What a board's run has come to: the phase, its progress, and what is new by row and column."""


def run(session: Session, board: Board) -> Iterator[None]:
    """Fill a board, a step at a time, within the time budget and until cancelled.

    Raises what :meth:`~app.runs.session.Session.lent` does.
    """
    begun = time.monotonic() - board.seconds
    rows = [row for row in board.rows if not row.depths]
    images, known = [row.cells[DAMAGED].image for row in rows], len(board.rows) - len(rows)
    damaged = np.stack([image for image in images if image is not None])
    steps, systems, runs, too_long = fill, list(board.systems.values()), 1, words.TOO_LONG
    if board.method:
        if session.pace is not None:
            raise RunError(words.TOO_SLOW)
        steps, systems = fill_atlas, [board.systems[board.method]]
        runs, too_long = DEEPEST + 1, words.TOO_LONG_ATLAS
    longest = runs * len(damaged) * expected_seconds(session.profile, systems, paths=1)
    options: dict[str, Any] = {"pictures": len(damaged), "longest": longest, "too_long": too_long}
    news = session.lent(board.cancel, steps, damaged, systems, **options)
    for board.phase, (done, total), cells in news:
        board.progress = known + done, known + total
        for row, column, cell in cells:
            rows[row].cells[column] = cell
        board.seconds = time.monotonic() - begun
        yield
    board.phase, board.seconds = "done", time.monotonic() - begun


def fill_atlas(models: Models, damaged: Pixels, systems: Sequence[System]) -> Generator[News]:
    """Of each picture in turn where it stops, and what the one system gives from every depth.

    One noise path serves the stop and all depths.
    """
    (repair,), total = systems_by_repair(systems), len(damaged)
    deepest = min(DEEPEST, models.profile.schedule.steps)
    for row, pixels in enumerate(damaged):
        yield "row", (row, total), ()
        x = to_tensor(pixels).to(models.device)
        cache = PictureCache(models, x, SEED)
        events = run_repairs(models, x[None], [SEED], [repair], [cache])
        stop = next(event.stop for event in events if isinstance(event, Stopped))
        for event in sweep_depths(models, pixels, SEED, repair, deepest, cache):
            if not isinstance(event, DepthSweep):
                yield "row", (row + event[0] / event[1], total), ()
                continue
            said = [Prediction(p.labels[:1], p.probabilities[:1]) for p in event.predictions]
            depths = DepthSeries(said, outcome_sheet(event.images, QUALITY))
            yield "row", (row + 1, total), [(row, STOPPED, Cell(stop=stop, depths=depths))]


def fill(models: Models, damaged: Pixels, systems: Sequence[System]) -> Generator[News]:
    """Labels, then every picture's depth, then all reconstructions: what ``adapt`` computes.

    ``damaged``: uint8 ``[n, S, S, 3]``.
    """
    total = len(damaged)
    yield "read", (0, total), ()
    x = to_tensor(damaged).to(models.device)
    own = enumerate(zip(damaged, classify(models, x), strict=True))
    yield "forward", (0, total), [(row, DAMAGED, Cell(*pair)) for row, pair in own]
    by_repair, phase, progress = systems_by_repair(systems), "forward", (0, total)
    known: dict[tuple[int, Repair], Cell] = {}
    for event in run_repairs(models, x, [SEED] * total, list(by_repair)):
        changed: dict[tuple[int, Repair], Cell] = {}
        if isinstance(event, Stopped):
            found = explained(event.found.degradation, event.stop) if event.repair.explain else ""
            changed[event.row, event.repair] = Cell(stop=event.stop, found=found)
            progress = (event.row + 1, total)
        elif isinstance(event, Stepped):
            phase, progress = "reverse", (event.step, event.steps)
            for job, image in zip(event.jobs, from_tensor(event.x), strict=True):
                for at in ((job.row, repair) for repair in job.repairs):
                    changed[at] = replace(known[at], image=image)
        elif isinstance(event, Rebuilt):
            at, (said,) = (event.row, event.repair), classify(models, event.image[None])
            changed[at] = replace(known[at], image=from_tensor(event.image), said=said)
        known |= changed
        cells = ((at, cell, system) for at, cell in changed.items() for system in by_repair[at[1]])
        yield phase, progress, [(row, system.name, cell) for (row, _), cell, system in cells]


def explained(found: Degradation, stop: Stop) -> str:
    """What DGA+ took the damage for, and what followed."""
    names = " and ".join(words.EXPLAINED.get(kind, kind) for kind in found.kinds)
    undone = words.INVERSE.format(damage=names) if names else ""
    depth = words.NOT_EXPLAINED.format(depth=stop.t_star) if stop.t_star else ""
    return ", ".join(filter(None, (undone, depth))) or words.LEFT


def _verdict(said: Prediction | None, truth: str | None) -> str:
    if said is None or truth is None:
        return ""
    return "right" if said.label == truth else "wrong"


def _told(said: Prediction | None) -> tuple[object, object]:
    return (said.label, round(said.probability, 4)) if said else ("", "")


def _text(name: str) -> str:
    """A file's name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name
