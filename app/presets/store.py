"""Recorded runs read back, and which of them may be shown with the models at hand."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from app.parts.examples import Example
from app.parts.pictures import uri
from app.presets.cases import CASES, Case, lesson
from app.presets.recording import RECORD, RESULTS, STATES, configuration, digest
from app.runs.links import filled, opening_values
from app.runs.run_state import RunState
from app.runs.run_value import Line
from app.runs.session import Picture, Session
from dga.images import Pixels
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Explained, Halted, Reconstruction, taken
from dga.profiles import Profile
from dga.request import Request

Kept = TypeVar("Kept")
COMPARED = ("dga-guided", "dda", "dga-plus")
_log = logging.getLogger(__name__)


class PresetError(ValueError):
    """A recorded run that cannot be shown; the message says why."""


@dataclass(frozen=True)
class Preset:
    """A finished run of an example, and what it teaches: see :mod:`app.presets.cases`."""

    name: str
    example: Example
    lesson: str
    state: RunState


class Presets:
    """The recorded runs that these models would repeat.

    ``opening``: picture and settings that the page opens with, as :func:`~app.runs.links.parse`
    takes them; ``root``: holds PROFILE/PRESET folders, by default those that ship.
    """

    def __init__(
        self, session: Session, examples: Sequence[Example], root: Path | None = None
    ) -> None:
        self._profile = session.profile
        by_name = {example.name: example for example in examples}
        folder = (root or shipped("assets/presets")) / session.profile.name
        found = [_shown(session, folder / case.name, by_name) for case in CASES if folder.is_dir()]
        self.all = tuple(preset for preset in found if preset)
        self.opening = opening_values(session.profile) | {"image": next(iter(by_name), "")}
        for first in self.all[:1]:
            self.opening |= filled(session.profile, first.state.settings)
            self.opening["image"] = first.example.name

    def named(self, name: object) -> Preset | None:
        """The preset of that name, if it is shown."""
        return next((preset for preset in self.all if preset.name == name), None)

    def find(self, picture: str, settings: Request) -> Preset | None:
        """The preset that these settings of an example picture would repeat."""
        for preset in self.all:
            alike = _alike(self._profile, preset.state.settings, settings)
            if preset.example.name == picture and alike:
                return preset
        return None


def _shown(session: Session, folder: Path, examples: Mapping[str, Example]) -> Preset | None:
    try:
        return load_preset(session, folder, examples)
    except (ValueError, OSError) as error:
        _log.warning("The recorded run %s is not shown: %s.", folder.name, error)
        return None


def _alike(profile: Profile, ours: Request, asked: Request) -> bool:
    damage = (ours.corruption, ours.severity if ours.corruption else 0, ours.seed)
    wanted = (asked.corruption, asked.severity if asked.corruption else 0, asked.seed)
    return damage == wanted and configuration(profile, ours) == configuration(profile, asked)


def load_preset(session: Session, folder: Path, examples: Mapping[str, Example]) -> Preset:
    """A recorded run of one of ``examples`` that belongs to these models.

    Raises :class:`PresetError` or ``OSError``.
    """
    try:
        content = json.loads((folder / RECORD).read_text("utf-8"))
        settings = Request(**content["settings"])
        case = Case(**content["case"])
        if content["weights"] != session.weights:
            raise PresetError("it was made with other weights")
        if content["configuration"] != configuration(session.profile, settings):
            raise PresetError("it was made with other settings")
        if case.picture not in examples:
            raise PresetError("its picture is not there")
        example = examples[case.picture]
        state = _state(session, folder, content, settings, example)
        guided, fixed, plus = (state.results[name].prediction.label for name in COMPARED)
        depth = content["run"]["stop"]["t_star"]
        taught = lesson(example.truth or "", guided, fixed, plus, depth)
        state.key = case.name
        return Preset(case.name, example, taught, state)
    except (KeyError, IndexError, TypeError, json.JSONDecodeError, ValidationError) as error:
        raise PresetError(f"its record is damaged ({error})") from None


def _state(
    session: Session, folder: Path, content: dict[str, Any], settings: Request, example: Example
) -> RunState:
    """A record as the finished run that it was."""
    profile = session.profile
    clean, damaged, x_t_star, restored, own = _side_by_side(folder / STATES, 5)
    is_known = np.array_equal(clean, example.pixels(profile.image_size))
    if not is_known or digest(damaged) != content["input_sha256"]:
        raise PresetError("its picture cannot be made again here")
    routes = {route.name: route for route in settings.routes(profile)}
    told = content["explained"]
    routes["dga-plus"] = taken(routes["dga-plus"], told.pop("denoised"))
    confidence = np.array(told.pop("confidence"))
    explained = _filled(
        Explained, told, route=routes["dga-plus"], restored=restored, x_t_star=own,
        confidence=confidence,
    )  # fmt: skip
    images = _side_by_side(folder / RESULTS, len(routes))
    rebuilt = {
        name: _filled(Reconstruction, content["methods"][name], route=route, image=image)
        for (name, route), image in zip(routes.items(), images, strict=True)
    }
    run = _filled(
        Adaptation, content["run"], profile=profile, stopping=settings.stopping(profile),
        seed=settings.seed, input=damaged, logits=np.array(content["logits"]),
        x_t_star=x_t_star, reconstructions=rebuilt, explained=explained,
    )  # fmt: skip
    said = _filled(Prediction, content["clean"])
    subject = Picture(damaged, run.input_prediction, clean, said)
    state = RunState(profile, settings, subject, example, "recorded")
    state.take(Halted(run.stop, run.logits, x_t_star, run.x_t_star_prediction, run.curve_seconds))
    state.take(explained)
    for name, shares in content["outcomes"].items():
        sheet = b"" if name == "noised" else (folder / f"{name}.webp").read_bytes()
        outcomes = [_sorted(profile.classifier.classes, row) for row in shares]
        state.lines[name] = Line(outcomes, sheet)
    for name, result in rebuilt.items():
        strip = folder / f"{name}.jpg"
        if result.steps and strip.exists():  # else it is another method's, too
            state.lanes[name].strips.append((result.steps, uri(strip.read_bytes(), "jpeg")))
        state.take(result)
    state.take(run)
    return state


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _filled(kind: type[Kept], told: Mapping[str, Any], **known: Any) -> Kept:
    """A dataclass from the JSON types of some fields, and from what is known of the others."""
    types = get_type_hints(kind)
    read = {name: _adapter(types[name]).validate_python(value) for name, value in told.items()}
    return kind(**read, **known)


def _sorted(classes: Sequence[str], shares: Sequence[float]) -> Prediction:
    pairs = sorted(zip(shares, classes, strict=True), key=lambda pair: -pair[0])
    return Prediction(tuple(name for _, name in pairs), tuple(share for share, _ in pairs))


def _side_by_side(path: Path, count: int) -> list[Pixels]:
    with Image.open(path) as image:
        pictures = np.split(np.asarray(image.convert("RGB")), count, axis=1)
    return [np.ascontiguousarray(picture) for picture in pictures]
