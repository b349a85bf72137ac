"""Recorded runs: how they are made, read back, and which may be shown with the models at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import numpy as np
from PIL import Image
from pydantic import ConfigDict, TypeAdapter

from app.parts.examples import Example
from app.parts.pictures import uri
from app.presets.cases import CASES, PATHS, Case
from app.presets.recording import RECORD, check, configuration, made_of, recorded, tiles
from app.runs.links import filled, opening_values
from app.runs.run_state import DepthSeries, RunState
from app.runs.session import Picture, Session
from app.runs.sprites import strip
from app.runs.watch import NOISED, Swept, fixed_depth
from dga.diffusion import ForwardPath, Schedule
from dga.explanation.search import Explanation
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.files import write_json
from dga.io.shipped import shipped
from dga.networks.classifier import Prediction
from dga.pipeline import (
    Adaptation,
    DepthSweep,
    Reconstruction,
    Search,
    SearchEnded,
    checked_repair,
    sweep_depths,
)
from dga.profiles import End, Profile
from dga.request import Request

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

INPUT = "input.png"
RESULTS = "results.png"
"""What the systems rebuilt, side by side."""
DRAWS = 20  # seeds that a case is tried with, so that a rare one is not taken for the rule
Kept = TypeVar("Kept")


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
        found = (
            load_preset(session, case, by_name[case.picture], folder / case.name)
            for case in CASES
            if case.picture in by_name
        )
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
        wanted, of = self._deciding(settings), (p for p in self.all if p.example.name == picture)
        return next((p for p in of if self._deciding(p.state.settings) == wanted), None)

    def _deciding(self, asked: Request) -> tuple[object, ...]:
        known = configuration(self._profile, asked.usual(self._profile))
        return asked.corruption, asked.severity, asked.seed, known


def settings_of(profile: Profile, case: Case) -> Request:
    """A case's settings: the profile's own but for the number of noise paths."""
    damage = {"corruption": case.corruption, "severity": case.severity}
    return Request.of(profile, **damage, seed=case.seed, paths=PATHS)


def adapted(session: Session, case: Case, example: Example) -> Adaptation:
    """A case's finished run. Raises what :meth:`~app.runs.session.Session.lent` does."""
    settings = settings_of(session.profile, case)
    *_, run = session.events(session.subject(example.path, settings).input, settings)
    assert isinstance(run, Adaptation)
    return run


def draws(session: Session, case: Case, example: Example) -> dict[str, int]:
    """Of ``of`` runs that differ in the seed alone, how many are read right, by system."""
    right = {"of": DRAWS}
    for seed in range(DRAWS):
        run = adapted(session, replace(case, seed=seed), example)
        for name, result in run.reconstructions.items():
            right[name] = right.get(name, 0) + (result.prediction.label == example.truth)
    return right


def record(session: Session, case: Case, example: Example, folder: Path) -> None:
    """Run a case and write it to ``folder``."""
    settings = settings_of(session.profile, case)
    subject = session.subject(example.path, settings)
    state, pixels = RunState(session.profile, settings, subject, example), subject.input
    for event in session.events(pixels, settings, extent=state.extent):
        state.take(event)
    for system in state.systems.values():
        if system.name not in state.series and not fixed_depth(system):
            asked = pixels, settings.seed, checked_repair(system), state.extent
            *_, sweep = session.lent(None, sweep_depths, *asked)
            assert isinstance(sweep, DepthSweep)
            state.take(Swept(system.name, sweep))
    steps = {name: lane.states for name, lane in state.lanes.items() if lane.states}
    files = {f"{name}.jpg": strip(states) for name, states in steps.items()}
    files |= {f"{name}.webp": one.sheet for name, one in state.series.items() if one.sheet}
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, image in files.items():
        (folder / name).write_bytes(image)
    results = np.concatenate([state.results[name].image for name in state.systems], 1)
    for name, picture in (INPUT, pixels), (RESULTS, results):
        Image.fromarray(picture).save(folder / name, optimize=True)
    content = _content(session, state) | {"draws": draws(session, case, example)}
    write_json(folder / RECORD, content)


def _content(session: Session, state: RunState) -> dict[str, Any]:
    classes, run, subject = session.profile.classifier.classes, state.result, state.subject
    assert run
    assert subject.clean is not None
    assert subject.clean_prediction

    def shares(prediction: Prediction) -> list[float]:
        known = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [round(known[name], 4) for name in classes]

    return {
        **_made_of(session, state.settings, subject.clean, subject.input),
        "clean": asdict(subject.clean_prediction),
        "run": _picked(run, "dtype device input_prediction x_t_star_prediction"),
        "search": _told(run.search),
        "systems": {
            name: {**_picked(result, "prediction steps seconds"), "search": _told(result.search)}
            for name, result in run.reconstructions.items()
        },
        "outcomes": {
            name: [shares(p) for p in one.predictions] for name, one in state.series.items()
        },
    }


def _made_of(session: Session, settings: Request, *pictures: Pixels) -> dict[str, Any]:
    known = configuration(session.profile, settings.usual(session.profile))
    return made_of(session, known, *pictures)


def _told(search: Search) -> dict[str, Any]:
    logits = [[round(float(z), 5) for z in row] for row in search.logits]
    return {**_picked(search, "found stop unchanged seconds"), "logits": logits}


def _picked(told: DataclassInstance, names: str) -> dict[str, Any]:
    every = asdict(told)
    return {name: every[name] for name in names.split()}


def load_preset(session: Session, case: Case, example: Example, folder: Path) -> Preset | None:
    """A recorded run of ``example``; None where it does not belong to these models."""
    state = recorded(folder / RECORD, partial(_state, session, folder, case, example))
    return Preset(case.name, example, case.lesson, state) if state else None


def _state(
    session: Session, folder: Path, case: Case, example: Example, content: dict[str, Any]
) -> RunState:
    """A record as the finished run that it was."""
    profile, settings = session.profile, settings_of(session.profile, case)
    pixels, (damaged,) = (
        example.pixels(profile.image_size),
        tiles(folder / INPUT, profile.image_size),
    )
    check(content, _made_of(session, settings, pixels, damaged))
    run, told = content["run"], content["systems"]
    before, clean = (_filled(Prediction, p) for p in (run["input_prediction"], content["clean"]))
    subject = Picture(damaged, before, pixels, clean)
    state = RunState(profile, settings, subject, example, "recorded", key=case.name)
    state.draws = content["draws"]
    search = _search(state, content["search"], End(state.stopping))
    state.take(SearchEnded(None, search))
    for name, shares in content["outcomes"].items():
        sheet = b"" if name == NOISED else (folder / f"{name}.webp").read_bytes()
        outcomes = [_sorted(profile.classifier.classes, row) for row in shares]
        state.series[name] = DepthSeries(outcomes, sheet)
    images = tiles(folder / RESULTS, profile.image_size)
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
    """Tensors and operators are taken as they are: of a recorded picture there are none."""
    return TypeAdapter(kind | None, config=ConfigDict(arbitrary_types_allowed=True))


def _filled(kind: type[Kept], told: Mapping[str, Any], **known: Any) -> Kept:
    """A dataclass from the JSON types of some fields, and from what is known of the others."""
    types = get_type_hints(kind)
    read = {name: _adapter(types[name]).validate_python(value) for name, value in told.items()}
    return kind(**read, **known)


def _sorted(classes: Sequence[str], shares: Sequence[float]) -> Prediction:
    pairs = sorted(zip(shares, classes, strict=True), key=lambda pair: -pair[0])
    return Prediction(tuple(name for _, name in pairs), tuple(share for share, _ in pairs))
