"""Recorded boards, one sheet of pictures and one record each; of their atlases a sheet a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.parts.examples import Example
from app.parts.pictures import encoded
from app.presets.recording import check, configuration, made_of, recorded, tiles
from app.runs.board import COLUMNS, METHODS, SEED, STOPPED, Board, Cell, Row, compared, key_of, run
from app.runs.run_state import DepthSeries
from app.runs.session import Session
from app.runs.sprites import sprite_sheet
from dga.corruptions import CORRUPTIONS
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.stopping import Stop

EXAMPLES = ("cat",)
"""Only pictures that may be given away; what is run of others is kept while the page is served."""
FOLDER = "boards"
COLUMNS_OF_SHEET = 15
QUALITY = 80


def _made_of(session: Session, example: Example) -> dict[str, Any]:
    profile = session.profile
    known = configuration(profile, compared(profile).values()) | {"seed": SEED}
    return made_of(session, known, example.pixels(profile.image_size))


def record(session: Session, example: Example, severity: int, folder: Path) -> None:
    """Run one board and write ``EXAMPLE-SEVERITY.webp`` and ``.json``."""
    board = Board.of_example(session.profile, example, severity)
    for _ in run(session, board):
        pass
    places: dict[bytes, int] = {}
    rows = [{name: _cell(row.cells[name], places) for name in COLUMNS} for row in board.rows]
    side = session.profile.image_size
    folder.mkdir(parents=True, exist_ok=True)
    pictures = np.frombuffer(b"".join(places), np.uint8).reshape(-1, side, side, 3)
    sheet = sprite_sheet(pictures, min(COLUMNS_OF_SHEET, len(places)))
    (folder / f"{board.key}.webp").write_bytes(encoded(sheet, "WEBP", quality=QUALITY, method=6))
    atlases = {method: _atlas(session, board.again(method), folder) for method in METHODS}
    told = {"seconds": round(board.seconds, 1), "rows": rows, "atlases": atlases}
    write_json(folder / f"{board.key}.json", _made_of(session, example) | told)


def _atlas(session: Session, board: Board, folder: Path) -> list[str]:
    """What is read at each depth, a row; sheets go to ``EXAMPLE-SEVERITY-METHOD/NUMBER.webp``."""
    for _ in run(session, board):
        pass
    (folder / board.key).mkdir(exist_ok=True)
    told = []
    for number, row in enumerate(board.rows):
        assert row.depths
        (folder / board.key / f"{number:02}.webp").write_bytes(row.depths.sheet)
        told.append(", ".join(f"{p.label} {p.probability:.4f}" for p in row.depths.predictions))
    return told


def _cell(cell: Cell, places: dict[bytes, int]) -> dict[str, Any]:
    """``places``: pictures so far, each once, with its place in the sheet."""
    assert cell.said is not None
    assert cell.image is not None
    told = {"label": cell.said.label, "share": round(cell.said.probability, 4)}
    if cell.stop:
        told["stop"] = to_plain(cell.stop)
    if cell.found:
        told["found"] = cell.found
    return told | {"at": places.setdefault(cell.image.tobytes(), len(places))}


class Boards:
    """The recorded boards that these models would repeat; ``root``: holds PROFILE/boards."""

    def __init__(
        self, session: Session, examples: Sequence[Example], root: Path | None = None
    ) -> None:
        self._session = session
        self._examples = {example.name: example for example in examples}
        self.folder = (root or shipped("assets/presets")) / session.profile.name / FOLDER
        self._known: dict[str, Board | None] = {}

    def find(self, example: str, severity: int, method: str = "") -> Board | None:
        """The board, or atlas, as recorded or last run; None if there is none for these models."""
        key = key_of(example, severity, method)
        if example in EXAMPLES and example in self._examples and key not in self._known:
            known = self._examples[example], severity, method
            record = self.folder / f"{key_of(example, severity)}.json"
            self._known[key] = recorded(record, partial(self._read, *known))
        return self._known.get(key)

    def keep(self, board: Board) -> None:
        """A finished run of an example, for whoever asks next: it would be the same again."""
        self._known[board.key] = self._known.get(board.key) or board

    def _read(self, example: Example, severity: int, method: str, told: dict[str, Any]) -> Board:
        check(told, _made_of(self._session, example))
        board = Board(self._session.profile, example.name, severity, [], "done", recorded=True)
        pictures = tiles(self.folder / f"{board.key}.webp", board.profile.image_size)
        for kind, row in zip(CORRUPTIONS, told["rows"], strict=True):
            cells = {name: _read(cell, pictures) for name, cell in row.items()}
            board.rows.append(Row(kind, example.truth, cells))
        board.method = method
        for number, depths in enumerate(told["atlases"].get(method, ())):
            said = (one.rsplit(" ", 1) for one in depths.split(", "))
            predictions = [Prediction((label,), (float(share),)) for label, share in said]
            sheet = (self.folder / board.key / f"{number:02}.webp").read_bytes()
            cells, series = board.rows[number].cells, DepthSeries(predictions, sheet)
            cells[STOPPED] = replace(cells[STOPPED], depths=series)
        return board


def _read(told: dict[str, Any], pictures: Pixels) -> Cell:
    said = Prediction((told["label"],), (told["share"],))
    stop = Stop(**told["stop"]) if "stop" in told else None
    return Cell(pictures[told["at"]], said, stop, told.get("found", ""))
