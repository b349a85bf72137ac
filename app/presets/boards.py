"""Recorded boards, one sheet of pictures and one record each; of their atlases a sheet a row."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.parts.pictures import encoded
from app.presets.recording import configuration, digest
from app.runs.board import COLUMNS, METHODS, SEED, STOPPED, Board, Cell, Row, compared, key_of, run
from app.runs.run_state import DepthSeries
from app.runs.session import Session
from app.runs.sprites import sprite_sheet
from dga.corruptions import CORRUPTIONS
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.profiles import Profile
from dga.stopping import Stop

EXAMPLES = ("cat",)
"""Only pictures that may be given away; what is run of others is kept while the page is served."""
FOLDER = "boards"
COLUMNS_OF_SHEET = 15
QUALITY = 80

_log = logging.getLogger(__name__)


def configuration_of(profile: Profile) -> dict[str, Any]:
    """All that decides a board besides weights, picture and severity, as JSON types."""
    return configuration(profile, compared(profile).values()) | {"seed": SEED}


def record(session: Session, example: Example, severity: int, folder: Path) -> None:
    """Run one board and write ``EXAMPLE-SEVERITY.webp`` and ``.json``."""
    board = Board.of_example(session.profile, example, severity)
    for _ in run(session, board):
        pass
    tiles: dict[bytes, int] = {}
    rows = []
    for row in board.rows:
        cells = {name: _cell(row.cells[name], row.truth, tiles) for name in COLUMNS}
        rows.append({"name": row.name, "cells": cells})
    clean = example.pixels(session.profile.image_size)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = np.frombuffer(b"".join(tiles), np.uint8).reshape(-1, *clean.shape)
    sheet = sprite_sheet(pictures, min(COLUMNS_OF_SHEET, len(tiles)))
    (folder / f"{board.key}.webp").write_bytes(encoded(sheet, "WEBP", quality=QUALITY, method=6))
    atlases = {method: _atlas(session, board.again(method), folder) for method in METHODS}
    content = {
        "example": example.name,
        "truth": example.truth,
        "severity": severity,
        "weights": session.weights,
        "configuration": configuration_of(session.profile),
        "clean_sha256": digest(clean),
        "seconds": round(board.seconds, 1),
        "rows": rows,
        "atlases": atlases,
    }
    write_json(folder / f"{board.key}.json", content)


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


def _cell(cell: Cell, truth: str | None, tiles: dict[bytes, int]) -> dict[str, Any]:
    """``tiles``: pictures so far, each once, with its place in the sheet."""
    assert cell.said is not None
    assert cell.image is not None
    told = {"label": cell.said.label, "share": round(cell.said.probability, 4)}
    shares = dict(zip(cell.said.labels, cell.said.probabilities, strict=True))
    if truth in shares:
        told["chance"] = round(shares[truth], 4)
    if cell.stop:
        told["stop"] = to_plain(cell.stop)
    if cell.found:
        told["found"] = cell.found
    return told | {"at": tiles.setdefault(cell.image.tobytes(), len(tiles))}


class Boards:
    """The recorded boards that these models would repeat; ``root``: holds PROFILE/boards."""

    def __init__(
        self, session: Session, examples: Sequence[Example], root: Path | None = None
    ) -> None:
        self._session = session
        self._examples = {example.name: example for example in examples}
        self.folder = (root or shipped("assets/presets")) / session.profile.name / FOLDER
        self._recorded: dict[str, Board | None] = {}
        self._run: dict[str, Board] = {}

    def find(self, example: str, severity: int, method: str = "") -> Board | None:
        """The board, or atlas, as recorded or last run; None if there is none for these models."""
        key = key_of(example, severity, method)
        if example in EXAMPLES and example in self._examples and key not in self._recorded:
            self._recorded[key] = self._found(key_of(example, severity), method)
        return self._recorded.get(key) or self._run.get(key)

    def keep(self, board: Board) -> None:
        """A finished run of an example, for whoever asks next: it would be the same again."""
        self._run[board.key] = board

    def _found(self, key: str, method: str) -> Board | None:
        try:
            content = json.loads((self.folder / f"{key}.json").read_text("utf-8"))
            board = self._board(content, self.folder / f"{key}.webp")
            for number, row in enumerate(board.rows if method else ()):
                told = content["atlases"][method][number].split(", ")
                said = (one.rsplit(" ", 1) for one in told)
                sheet = self.folder / f"{key}-{method}" / f"{number:02}.webp"
                predictions = [Prediction((label,), (float(share),)) for label, share in said]
                depths = DepthSeries(predictions, sheet.read_bytes())
                row.cells[STOPPED] = replace(row.cells[STOPPED], depths=depths)
            board.method = method
            return board
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            _log.warning("The recorded board %s is not shown: %s.", key, error)
            return None

    def _board(self, content: dict[str, Any], sheet: Path) -> Board:
        profile, example = self._session.profile, self._examples[content["example"]]
        if content["weights"] != self._session.weights:
            raise ValueError("it was made with other weights")
        if content["configuration"] != configuration_of(profile):
            raise ValueError("it was made with other settings")
        if content["clean_sha256"] != digest(example.pixels(profile.image_size)):
            raise ValueError("its picture cannot be made again here")
        tiles, rows = _tiles(sheet, profile.image_size), []
        for told in content["rows"]:
            cells = {name: _read(told["cells"][name], example.truth, tiles) for name in COLUMNS}
            rows.append(Row(told["name"], example.truth, cells))
        if [row.name for row in rows] != list(CORRUPTIONS):
            raise ValueError("it lacks rows")
        return Board(profile, example.name, content["severity"], rows, "done", recorded=True)


def _tiles(sheet: Path, side: int) -> Pixels:
    """The pictures of a sheet, uint8 ``[n, S, S, 3]``."""
    with Image.open(sheet) as image:
        pixels = np.asarray(image.convert("RGB"))
    rows = pixels.reshape(-1, side, image.width // side, side, 3)
    return rows.swapaxes(1, 2).reshape(-1, side, side, 3)


def _read(told: dict[str, Any], truth: str | None, tiles: Pixels) -> Cell:
    chances = {told["label"]: told["share"]}
    if truth is not None:
        chances.setdefault(truth, told["chance"])
    said = Prediction(tuple(chances), tuple(chances.values()))
    stop = Stop(**told["stop"]) if "stop" in told else None
    return Cell(tiles[told["at"]], said, stop, told.get("found", ""))
