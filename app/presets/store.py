"""Recorded runs read back, and which of them may be shown with the models at hand."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.parts.pictures import uri
from app.presets.cases import CASES, lesson
from app.presets.recording import RECORD, RESULTS, STATES, configuration, digest
from app.runs.run_state import RunState
from app.runs.run_value import Line
from app.runs.session import Picture, Session
from dga.degradation import Degradation
from dga.explanation import Explanation, Scored
from dga.exposure import Exposure
from dga.images import Pixels
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Explained, Halted, Judged, Reconstruction, Route, taken
from dga.profiles import Profile
from dga.request import Request
from dga.stopping import Stop, confidence_from_logits

COMPARED = ("dga-guided", "dda", "dga-plus")
_log = logging.getLogger(__name__)


class PresetError(ValueError):
    """A recorded run that cannot be shown; the message says why."""


@dataclass(frozen=True)
class Preset:
    """A recorded run of the example ``picture``; ``lesson``: see :mod:`app.presets.cases`."""

    name: str
    picture: str
    lesson: str
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
        self.all = tuple(preset for preset in known if preset)

    def _read(self, folder: Path) -> Preset | None:
        """A preset and its state: what cannot be shown is found out at the start."""
        try:
            preset = read_preset(self._session, folder, self._examples)
            self._states[preset.name] = load_state(self._session, preset, self.example(preset))
            return preset
        except (ValueError, KeyError, IndexError, TypeError, OSError) as error:
            _log.warning("The recorded run %s is not shown: %s.", folder.name, error)
            return None

    def named(self, name: object) -> Preset | None:
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
            state.film(state.extent + 1)
        return state


def _alike(profile: Profile, ours: Request, asked: Request) -> bool:
    damage = (ours.corruption, ours.severity if ours.corruption else 0, ours.seed)
    wanted = (asked.corruption, asked.severity if asked.corruption else 0, asked.seed)
    return damage == wanted and configuration(profile, ours) == configuration(profile, asked)


def read_preset(session: Session, folder: Path, examples: Mapping[str, Example]) -> Preset:
    """A recorded run of one of ``examples`` that belongs to these models.

    Raises :class:`PresetError` or ``OSError``.
    """
    try:
        content = json.loads((folder / RECORD).read_text("utf-8"))
        settings = Request(**content["settings"])
        case, methods = content["case"], content["methods"]
        if content["weights"] != session.weights:
            raise PresetError("it was made with other weights")
        if content["configuration"] != configuration(session.profile, settings):
            raise PresetError("it was made with other settings")
        if case["picture"] not in examples:
            raise PresetError("its picture is not there")
        truth = examples[case["picture"]].truth or ""
        guided, fixed, plus = (methods[name]["prediction"]["labels"][0] for name in COMPARED)
        taught = lesson(truth, guided, fixed, plus, content["t_star"])
        return Preset(case["name"], case["picture"], taught, settings, folder, content)
    except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
        raise PresetError(f"its record is damaged ({error})") from None


def load_state(session: Session, preset: Preset, example: Example) -> RunState:
    """A preset as the finished run that it was. Raises :class:`PresetError` or ``OSError``."""
    settings, content = preset.settings, preset.content
    clean, damaged, x_t_star, *own = _side_by_side(preset.folder / STATES, 5)
    is_known = np.array_equal(clean, example.pixels(session.profile.image_size))
    if not is_known or digest(damaged) != content["input_sha256"]:
        raise PresetError("its picture cannot be made again here")
    subject = Picture(damaged, Prediction(**_tuples(content["input"])))
    if settings.corruption is not None:
        undamaged = Prediction(**_tuples(content["clean"]))
        subject = dataclasses.replace(subject, clean=clean, clean_prediction=undamaged)
    route = next(route for route in settings.routes(session.profile) if route.plus)
    explained = _explained(content["explained"], route, *own)
    run = _adaptation(session, preset, subject, x_t_star, explained)
    state = RunState(session.profile, settings, subject, example, "recorded")
    for number, row in enumerate(confidence_from_logits(run.logits)):
        state.take(Judged(0, row, number))
    state.take(
        Halted(run.stop, run.logits, run.x_t_star, run.x_t_star_prediction, run.curve_seconds)
    )
    state.take(explained)
    classes = session.profile.classifier.classes
    for name, told in content["outcomes"].items():
        file = preset.folder / f"{name}.webp"
        sheet = b"" if name == "noised" else file.read_bytes()
        said = [_sorted(classes, row) for row in told["shares"]]
        state.lines[name] = Line(said, sheet)
    for name, result in run.reconstructions.items():
        strip = preset.folder / f"{name}.jpg"
        if result.steps and strip.exists():  # else it is another method's, too
            state.lanes[name].strips.append((result.steps, uri(strip.read_bytes(), "jpeg")))
        state.take(result)
    state.take(run)
    state.key = preset.name
    return state


def _sorted(classes: Sequence[str], shares: Sequence[float]) -> Prediction:
    pairs = sorted(zip(shares, classes, strict=True), key=lambda pair: -pair[0])
    return Prediction(tuple(name for _, name in pairs), tuple(share for share, _ in pairs))


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
