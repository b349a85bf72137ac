"""Finished runs that the page opens with: ``python -m app.presets --out FOLDER`` records them."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.presets.__main__ import main
from app.presets.cases import CAPTIONS, CASES, outcome
from app.presets.recording import RECORD, RESULTS, configuration, digest
from app.runs.board import Board
from app.runs.film import jpeg_uri
from app.runs.session import Picture, Session
from app.words.common import RECORDED
from dga.corruptions import corrupt
from dga.diffusion import forward_path
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Halted, Judged, Noised, Reconstruction
from dga.profiles import Profile
from dga.request import Request
from dga.shipped import shipped
from dga.stopping import Stop, confidence_from_logits

_log = logging.getLogger(__name__)


class PresetError(ValueError):
    """A recorded run that cannot be shown; the message says why."""


@dataclass(frozen=True)
class Preset:
    """A recorded run of the example called ``picture``; ``outcome``: see ``preset_cases``."""

    name: str
    picture: str
    outcome: str
    settings: Request
    folder: Path
    content: dict[str, Any]


class Presets:
    """The recorded runs that these models would repeat.

    ``root``: holds PROFILE/PRESET folders, by default those that ship.
    """

    def __init__(
        self, session: Session, examples: Sequence[Example], root: Path | None = None
    ) -> None:
        self._session = session
        self._examples = {example.name: example for example in examples}
        self._boards: dict[str, Board] = {}
        folder = (root or shipped("assets/presets")) / session.profile.name
        known = [self._read(folder / case.name) for case in CASES if folder.is_dir()]
        order = list(CAPTIONS)
        shown = [preset for preset in known if preset]
        self.all = tuple(sorted(shown, key=lambda preset: order.index(preset.outcome)))

    def _read(self, folder: Path) -> Preset | None:
        """A preset and its board: what cannot be shown is found out at the start."""
        try:
            preset = read_preset(self._session, folder)
            if preset.picture not in self._examples:
                raise PresetError("its picture is not there")
            self._boards[preset.name] = load_board(self._session, preset, self.example(preset))
            return preset
        except (PresetError, OSError) as error:
            _log.warning("The recorded run %s is not shown: %s.", folder.name, error)
            return None

    def named(self, name: str) -> Preset | None:
        """The preset of that name, if it is shown."""
        return next((preset for preset in self.all if preset.name == name), None)

    def find(self, picture: str, settings: Request) -> Preset | None:
        """The preset that these settings of an example picture would repeat."""
        profile = self._session.profile
        for preset in self.all:
            if preset.picture == picture and _alike(profile, preset.settings, settings):
                return preset
        return None

    def example(self, preset: Preset) -> Example:
        return self._examples[preset.picture]

    def board(self, preset: Preset) -> Board:
        return self._boards[preset.name]


def _alike(profile: Profile, ours: Request, asked: Request) -> bool:
    damage = (ours.corruption, ours.severity if ours.corruption else 0, ours.seed)
    wanted = (asked.corruption, asked.severity if asked.corruption else 0, asked.seed)
    return damage == wanted and configuration(profile, ours) == configuration(profile, asked)


def read_preset(session: Session, folder: Path) -> Preset:
    """A recorded run that belongs to these models. Raises :class:`PresetError` or ``OSError``."""
    try:
        content = json.loads((folder / RECORD).read_text("utf-8"))
        settings = Request(**content["settings"])
        case = content["case"]
        if content["weights"] != session.models.weights:
            raise PresetError("it was made with other weights")
        if content["configuration"] != configuration(session.profile, settings):
            raise PresetError("it was made with other settings")
        return Preset(case["name"], case["picture"], _outcome(content), settings, folder, content)
    except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
        raise PresetError(f"its record is damaged ({error})") from None


def _outcome(content: dict[str, Any]) -> str:
    after = content["methods"]["dga-guided"]["prediction"]
    before = content["input"]
    clean = content["clean"] or before
    labels = clean["labels"][0], before["labels"][0], after["labels"][0]
    return outcome(*labels, depth=content["t_star"], crossed=content["crossed"])


def load_board(session: Session, preset: Preset, example: Example) -> Board:
    """A preset as the finished run that it was.

    Picture, damage and forward path are made again; only what the networks said is read.
    """
    settings, content = preset.settings, preset.content
    subject = _subject(session.profile.image_size, preset, example)
    if digest(subject.input) != content["input_sha256"]:
        raise PresetError("its picture cannot be made again here")
    path = forward_path(session.models.schedule, to_tensor(subject.input), settings.seed)
    run = _adaptation(session, preset, subject, from_tensor(path[content["t_star"]]))
    board = Board(session.profile, settings, subject, session.bound(settings))
    board.take(Noised(from_tensor(path)))
    for number, row in enumerate(confidence_from_logits(run.logits)):
        board.take(Judged(0, row, number))
    board.take(
        Halted(run.stop, run.logits, run.x_t_star, run.x_t_star_prediction, run.curve_seconds)
    )
    for name, result in run.reconstructions.items():
        if result.depth:
            address = jpeg_uri((preset.folder / f"{name}.jpg").read_bytes())
            board.lanes[name].strips.append((result.depth, address))
        board.take(result)
    board.take(run)
    board.key, board.recorded = preset.name, RECORDED
    return board


def _subject(size: int, preset: Preset, example: Example) -> Picture:
    settings, content = preset.settings, preset.content
    clean = example.pixels(size)
    prediction = Prediction(**_tuples(content["input"]))
    if settings.corruption is None:
        return Picture(clean, prediction)
    damaged = corrupt(clean, settings.corruption, settings.severity, settings.seed)
    return Picture(damaged, prediction, clean, Prediction(**_tuples(content["clean"])))


def _adaptation(session: Session, preset: Preset, subject: Picture, x_t_star: Pixels) -> Adaptation:
    content, profile = preset.content, session.profile
    with Image.open(preset.folder / RESULTS) as image:
        images = np.split(np.asarray(image.convert("RGB")), len(content["methods"]), axis=1)
    rebuilt = {}
    for route, pixels in zip(preset.settings.routes(profile), images, strict=True):
        told = content["methods"][route.name]
        prediction = Prediction(**_tuples(told["prediction"]))
        rebuilt[route.name] = Reconstruction(
            route, told["depth"], np.ascontiguousarray(pixels), prediction, told["seconds"]
        )
    return Adaptation(
        profile,
        preset.settings.stopping(profile),
        preset.settings.seed,
        content["dtype"],
        content["device"],
        subject.input,
        subject.input_prediction,
        np.array(content["logits"]),
        Stop(content["t_star"], content["crossed"]),
        x_t_star,
        Prediction(**_tuples(content["x_t_star"])),
        content["curve_seconds"],
        rebuilt,
    )


def _tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(values) for name, values in content.items()}


if __name__ == "__main__":
    main()
