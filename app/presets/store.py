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
from app.presets.recording import INPUT, RECORD, RESULTS, configuration, digest
from app.runs.links import filled, opening_values
from app.runs.run_state import DepthSeries, RunState
from app.runs.session import Picture, Session
from app.runs.watch import NOISED
from dga.diffusion import ForwardPath, Schedule
from dga.explanation.search import Explanation
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Reconstruction, Search, SearchEnded, checked_repair
from dga.profiles import End, Profile
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
    return damage == wanted and _configuration(profile, ours) == _configuration(profile, asked)


def _configuration(profile: Profile, settings: Request) -> dict[str, Any]:
    return configuration(profile, settings.usual(profile))


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
        if content["configuration"] != _configuration(session.profile, settings):
            raise PresetError("it was made with other settings")
        if case.picture not in examples:
            raise PresetError("its picture is not there")
        example = examples[case.picture]
        state = _state(session, folder, content, settings, example)
        before = state.subject.input_prediction.label
        guided, fixed, plus = (state.results[name].prediction.label for name in COMPARED)
        depth = content["search"]["stop"]["t_star"]
        taught = lesson(example.truth or "", before, guided, fixed, plus, depth)
        state.key = case.name
        return Preset(case.name, example, taught, state)
    except (KeyError, IndexError, TypeError, json.JSONDecodeError, ValidationError) as error:
        raise PresetError(f"its record is damaged ({error})") from None


def _state(
    session: Session, folder: Path, content: dict[str, Any], settings: Request, example: Example
) -> RunState:
    """A record as the finished run that it was."""
    profile, (damaged,) = session.profile, _side_by_side(folder / INPUT, 1)
    pixels = example.pixels(profile.image_size)
    if (digest(pixels), digest(damaged)) != (content["clean_sha256"], content["input_sha256"]):
        raise PresetError("its picture cannot be made again here")
    run, told = content["run"], content["systems"]
    before, clean = (_filled(Prediction, p) for p in (run["input_prediction"], content["clean"]))
    subject = Picture(damaged, before, pixels, clean)
    state = RunState(profile, settings, subject, example, "recorded")
    search = _search(state, content["search"], End(state.stopping))
    state.take(SearchEnded(None, search))
    for name, shares in content["outcomes"].items():
        sheet = b"" if name == NOISED else (folder / f"{name}.webp").read_bytes()
        outcomes = [_sorted(profile.classifier.classes, row) for row in shares]
        state.series[name] = DepthSeries(outcomes, sheet)
    images = _side_by_side(folder / RESULTS, len(state.systems))
    for system, image in zip(state.systems.values(), images, strict=True):
        facts, repair = told[system.name], checked_repair(system)
        noisy = facts["search"]["found"]["entry"] and repair.noisy
        own = _search(state, facts.pop("search"), noisy or repair.end)
        state.take(SearchEnded(system, own))
        if own.stop.t_star:
            strip = uri((folder / f"{system.name}.jpg").read_bytes(), "jpeg")
            state.lanes[system.name].strips.append((facts["steps"], strip))
        state.take(_filled(Reconstruction, facts, system=system, search=own, image=image))
    known = {"profile": profile, "stopping": state.stopping, "seed": settings.seed}
    known |= {"input": damaged, "search": search, "reconstructions": state.results}
    state.take(_filled(Adaptation, run, **known))
    return state


def _search(state: RunState, told: dict[str, Any], end: End) -> Search:
    """A search with its pictures, which follow from what was found and from the seed."""
    logits, found = np.array(told.pop("logits")), _filled(Explanation, told["found"])
    restored = found.degradation.inverse(to_tensor(state.subject.input))
    schedule = Schedule.from_config(state.profile.schedule)
    states = ForwardPath(schedule, restored, state.settings.seed, found.degradation.noise)
    x_t_star = from_tensor(states.at(told["stop"]["t_star"]))
    pictures = {"restored": from_tensor(restored), "x_t_star": x_t_star}
    return _filled(Search, told, end=end, logits=logits, **pictures)


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
