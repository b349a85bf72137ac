"""Recorded runs read back, and which of them may be shown with the models at hand."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.presets.cases import CAPTIONS, CASES, outcome
from app.presets.recording import RECORD, RESULTS, STATES, configuration, digest
from app.runs.run_state import RunState
from app.runs.session import Picture, Session
from app.runs.sprites import forward_sprites, jpeg_uri
from app.words.common import RECORDED
from dga.degradation import Degradation
from dga.diffusion import Schedule, forward_path
from dga.explanation import Explanation, Scored
from dga.exposure import Exposure
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Explained, Halted, Judged, Reconstruction, Route, taken
from dga.profiles import Profile
from dga.request import Request
from dga.stopping import Stop, confidence_from_logits

_log = logging.getLogger(__name__)


class PresetError(ValueError):
    """A recorded run that cannot be shown; the message says why."""


@dataclass(frozen=True)
class Preset:
    """A recorded run of the example ``picture``; ``outcome``: see :mod:`app.presets.cases`."""

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
        self._states: dict[str, RunState] = {}
        folder = (root or shipped("assets/presets")) / session.profile.name
        known = [self._read(folder / case.name) for case in CASES if folder.is_dir()]
        order = list(CAPTIONS)
        shown = [preset for preset in known if preset]
        self.all = tuple(sorted(shown, key=lambda preset: order.index(preset.outcome)))

    def _read(self, folder: Path) -> Preset | None:
        """A preset and its state: what cannot be shown is found out at the start."""
        try:
            preset = read_preset(self._session, folder)
            if preset.picture not in self._examples:
                raise PresetError("its picture is not there")
            self._states[preset.name] = load_state(self._session, preset, self.example(preset))
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

    def picture(self, preset: Preset) -> Pixels:
        """What the run began with, uint8 ``[S, S, 3]``."""
        return self._states[preset.name].subject.input

    def state(self, preset: Preset) -> RunState:
        """The finished run; its forward path is made when it is first asked for."""
        state = self._states[preset.name]
        if not state.forward:
            schedule = Schedule.from_config(state.profile.schedule)
            path = forward_path(schedule, to_tensor(state.subject.input), state.settings.seed)
            state.forward = forward_sprites(from_tensor(path))
        return state


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
        if content["weights"] != session.weights:
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


def load_state(session: Session, preset: Preset, example: Example) -> RunState:
    """A preset as the finished run that it was. Raises :class:`PresetError` or ``OSError``."""
    settings, content = preset.settings, preset.content
    clean, damaged, x_t_star, *own = _side_by_side(preset.folder / STATES, 5)
    is_known = np.array_equal(clean, example.pixels(session.profile.image_size))
    if not is_known or digest(damaged) != content["input_sha256"]:
        raise PresetError("its picture cannot be made again here")
    subject = Picture(damaged, Prediction(**_tuples(content["input"])))
    if settings.corruption is not None:
        told = Prediction(**_tuples(content["clean"]))
        subject = dataclasses.replace(subject, clean=clean, clean_prediction=told)
    route = next(route for route in settings.routes(session.profile) if route.plus)
    explained = _explained(content["explained"], route, *own)
    run = _adaptation(session, preset, subject, x_t_star, explained)
    state = RunState(session.profile, settings, subject, session.bound(settings))
    for number, row in enumerate(confidence_from_logits(run.logits)):
        state.take(Judged(0, row, number))
    state.take(
        Halted(run.stop, run.logits, run.x_t_star, run.x_t_star_prediction, run.curve_seconds)
    )
    state.take(explained)
    for name, result in run.reconstructions.items():
        if result.depth:
            address = jpeg_uri((preset.folder / f"{name}.jpg").read_bytes())
            state.lanes[name].strips.append((result.steps, address))
        state.take(result)
    state.take(run)
    state.key, state.recorded = preset.name, RECORDED
    return state


def _side_by_side(path: Path, count: int) -> list[Pixels]:
    with Image.open(path) as image:
        pictures = np.split(np.asarray(image.convert("RGB")), count, axis=1)
    return [np.ascontiguousarray(picture) for picture in pictures]


def _adaptation(
    session: Session, preset: Preset, subject: Picture, x_t_star: Pixels, explained: Explained
) -> Adaptation:
    content, profile = preset.content, session.profile
    images = _side_by_side(preset.folder / RESULTS, len(content["methods"]))
    rebuilt = {}
    for route, pixels in zip(preset.settings.routes(profile), images, strict=True):
        route = explained.route if route.plus else route
        told = content["methods"][route.name]
        prediction = Prediction(**_tuples(told["prediction"]))
        rebuilt[route.name] = Reconstruction(
            route, told["depth"], pixels, prediction, told["seconds"], told["steps"]
        )
    return Adaptation(
        profile=profile,
        stopping=preset.settings.stopping(profile),
        seed=preset.settings.seed,
        dtype=content["dtype"],
        device=content["device"],
        input=subject.input,
        input_prediction=subject.input_prediction,
        logits=np.array(content["logits"]),
        stop=Stop(content["t_star"], content["crossed"]),
        x_t_star=x_t_star,
        x_t_star_prediction=Prediction(**_tuples(content["x_t_star"])),
        curve_seconds=content["curve_seconds"],
        reconstructions=rebuilt,
        explained=explained,
    )


def _explained(told: dict[str, Any], route: Route, restored: Pixels, x_t_star: Pixels) -> Explained:
    return Explained(
        route=taken(route, told["denoised"]),
        explanation=_explanation(told["explanation"]),
        restored=restored,
        x_t_star=x_t_star,
        confidence=np.array(told["confidence"]),
        stop=Stop(**told["stop"]),
        unchanged=told["unchanged"],
        seconds=told["seconds"],
    )


def _explanation(told: dict[str, Any]) -> Explanation:
    scored = [s | {"degradation": _degradation(s["degradation"])} for s in told["scored"]]
    found = {"degradation": _degradation(told["degradation"])}
    return Explanation(**(told | found | {"scored": tuple(Scored(**s) for s in scored)}))


def _degradation(told: dict[str, Any]) -> Degradation:
    exposure = Exposure(told["exposure"]["gain"], tuple(told["exposure"]["offset"]))
    motion = told["motion"] and tuple(told["motion"])
    return Degradation(**(told | {"exposure": exposure, "motion": motion}))


def _tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(values) for name, values in content.items()}
