"""Pictures by every method side by side: one under fifteen corruptions, or a visitor's own."""

from __future__ import annotations

import csv
import dataclasses
import io
import threading
import time
import zipfile
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from app.parts.pictures import encoded, entry
from app.runs.session import Session
from app.words.board import EXPLAINED, INVERSE, LEFT, NOT_EXPLAINED, TOO_LONG
from dga.corruptions import CORRUPTIONS, corrupt, family_of
from dga.degradation import Degradation
from dga.exposure import UNCHANGED
from dga.images import Pixels, to_tensor
from dga.networks.classifier import Prediction
from dga.networks.models import Models
from dga.pipeline import Rebuilt, Searched, adapt_many, default_routes, read
from dga.profiles import Profile, StoppingConfig
from dga.stopping import Stop

DAMAGED = "damaged"
COLUMNS = (DAMAGED, "dga", "dga-guided", "dga-plus", "dda")
SEED = 0
UNDER_WAY = ("wait", "read", "forward", "reverse")
CSV_COLUMNS = (
    "picture", "family", "severity", "seed", "method", "depth", "crossed", "found",
    "label_before", "probability_before", "label_after", "probability_after", "truth", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One picture: ``image``, uint8 ``[S, S, 3]``, None while nothing of it is known.

    ``said``: None while it is not finished; ``stop``: None for the damaged picture; ``found``:
    how DGA+ explained the damage.
    """

    image: Pixels | None = None
    said: Prediction | None = None
    stop: Stop | None = None
    found: str = ""


@dataclass
class Row:
    """A picture in every column; ``name``: a corruption or a file's name; ``truth``: its class.

    ``stop``: where the paper's search ended, once it has; ``file``: path of an upload.
    """

    name: str
    truth: str | None
    cells: dict[str, Cell] = field(default_factory=dict)
    stop: Stop | None = None
    file: str | None = None

    @property
    def complete(self) -> bool:
        return all(name in self.cells and self.cells[name].said for name in COLUMNS)

    def verdict(self, column: str) -> str:
        """``right`` or ``wrong`` against the true class; empty without one, or not read yet."""
        cell = self.cells.get(column)
        if cell is None or cell.said is None or self.truth is None:
            return ""
        return "right" if cell.said.label == self.truth else "wrong"

    def chance(self, column: str) -> float | None:
        """Probability of the true class, in [0, 1]."""
        cell = self.cells.get(column)
        if cell is None or cell.said is None or self.truth is None:
            return None
        return dict(zip(cell.said.labels, cell.said.probabilities, strict=True)).get(self.truth)

    def gain(self) -> float | None:
        """How much likelier DGA+ made the true class, in [-1, 1]."""
        before, after = self.chance(DAMAGED), self.chance("dga-plus")
        return None if before is None or after is None else after - before


@dataclass
class Board:
    """``example``: its name, None for own pictures; ``progress``: (done, total) of the phase.

    ``unreadable``: uploads left out, with the reason.
    """

    profile: Profile
    example: str | None
    severity: int | None
    rows: list[Row]
    phase: str = "empty"
    progress: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    error: str = ""
    recorded: bool = False
    unreadable: dict[str, str] = field(default_factory=dict)
    cancel: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of_example(
        cls, profile: Profile, name: str, truth: str | None, pixels: Pixels, severity: int
    ) -> Board:
        """An example under the fifteen corruptions; no network is called."""
        truth = truth if truth in profile.classifier.classes else None
        rows = [
            Row(kind, truth, {DAMAGED: Cell(corrupt(pixels, kind, severity, SEED).copy())})
            for kind in CORRUPTIONS
        ]
        return cls(profile, name, severity, rows)

    @property
    def key(self) -> str:
        return f"{self.example}-{self.severity}" if self.example else "own"

    @property
    def running(self) -> bool:
        return self.phase in UNDER_WAY

    @property
    def complete(self) -> list[Row]:
        return [row for row in self.rows if row.complete]

    def again(self) -> Board:
        """The same pictures, nothing computed."""
        rows = [
            Row(row.name, row.truth, {DAMAGED: Cell(row.cells[DAMAGED].image)}, file=row.file)
            for row in self.rows
        ]
        return Board(self.profile, self.example, self.severity, rows, unreadable=self.unreadable)

    def orders(self) -> dict[str, list[int]]:
        """Rows as they came; deepest first; largest gain of DGA+ first. Unknown ones last."""
        numbers = range(len(self.rows))
        depths = [-1 if row.stop is None else row.stop.t_star for row in self.rows]
        gains = [-2.0 if (gain := row.gain()) is None else gain for row in self.rows]
        return {
            "family": list(numbers),
            "depth": sorted(numbers, key=lambda i: -depths[i]),
            "gain": sorted(numbers, key=lambda i: -gains[i]),
        }

    def csv(self) -> str:
        """One line a picture and method; what is not known is left empty."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for row in self.rows:
            before = _told(row.cells.get(DAMAGED))
            family = family_of(row.name) if self.example else ""
            for name in COLUMNS[1:]:
                cell = row.cells.get(name, Cell())
                stop = cell.stop if cell.said else None
                writer.writerow([
                    _text(row.name), family, self.severity or "", SEED, name,
                    "" if stop is None else stop.t_star,
                    "" if stop is None or name == "dda" else stop.crossed,
                    cell.found, *before, *_told(cell), row.truth or "", row.verdict(name),
                ])  # fmt: skip
        return stream.getvalue()

    def zip(self) -> bytes:
        """Every rebuilt picture as METHOD/NUMBER-NAME.png, and the table."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(entry("results.csv"), self.csv())
            for number, row in enumerate(self.rows, 1):
                for name in COLUMNS[1:]:
                    cell = row.cells.get(name, Cell())
                    if cell.said is None or cell.image is None:
                        continue
                    file = f"{name}/{number:02}-{PurePath(row.name).stem}.png"
                    archive.writestr(entry(file), encoded(cell.image, "PNG"))
        return stream.getvalue()


def settings(profile: Profile) -> StoppingConfig:
    """The rule of every board: the profile's own, with one noise path."""
    return dataclasses.replace(profile.stopping, rule="threshold", paths=1)


def run(session: Session, board: Board) -> Iterator[None]:
    """Fill a board, a step at a time, within the time budget and until cancelled.

    Raises what :meth:`~app.runs.session.Session.watched` does.
    """
    budget, begun = session.budget(pictures=len(board.rows)), time.monotonic()
    for _ in session.watched(work(session.models, board), board.cancel, budget, TOO_LONG):
        board.seconds = time.monotonic() - begun
        yield
    board.phase, board.seconds = "done", time.monotonic() - begun


def work(models: Models, board: Board) -> Generator[None]:
    """Labels, then every picture's depth, then all reconstructions: what ``adapt`` computes."""
    board.phase, board.progress = "read", (0, len(board.rows))
    yield
    cells = [row.cells[DAMAGED] for row in board.rows]
    damaged = np.stack([cell.image for cell in cells if cell.image is not None])
    said = read(models, to_tensor(damaged).to(models.device))
    for row, cell, prediction in zip(board.rows, cells, said, strict=True):
        row.cells[DAMAGED] = dataclasses.replace(cell, said=prediction)
    board.phase = "forward"
    yield
    routes = default_routes(models.profile)
    rule, seeds = settings(models.profile), [SEED] * len(damaged)
    for event in adapt_many(models, damaged, seeds, rule, *(routes[c] for c in COLUMNS[1:])):
        if isinstance(event, Rebuilt):
            board.rows[event.picture].cells[event.route] = _cell(event)
            continue  # the step that ended with it follows
        if isinstance(event, Searched):
            if event.stops:
                board.rows[event.picture].stop = event.stops["dga"]
                board.progress = (event.picture + 1, len(damaged))
        else:
            board.phase, board.progress = "reverse", (event.step, event.steps)
            for (picture, names), image in zip(event.under_way, event.images, strict=True):
                board.rows[picture].cells |= dict.fromkeys(names, Cell(image))
        yield


def _cell(event: Rebuilt) -> Cell:
    told = event.explanation
    found = explained(told.degradation, event.stop) if told else ""
    return Cell(event.image, event.prediction, event.stop, found)


def explained(found: Degradation, stop: Stop) -> str:
    """What DGA+ took the damage for, and what followed."""
    known: Mapping[str, object] = {
        "exposure": found.exposure != UNCHANGED,
        "blur": found.blur or found.motion,
        "blocks": found.block > 1,
        "impulses": found.impulses is not None,
        "noise": found.noise,
    }
    names = [EXPLAINED[name] for name, is_there in known.items() if is_there]
    depth = NOT_EXPLAINED.format(depth=stop.t_star)
    if not names:
        return depth if stop.t_star else LEFT
    told = INVERSE.format(damage=" and ".join(names))
    return f"{told}, {depth}" if stop.t_star else told


def _told(cell: Cell | None) -> tuple[object, object]:
    said = cell.said if cell else None
    return (said.label, round(said.probability, 4)) if said else ("", "")


def _text(name: str) -> str:
    """A file's name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name
