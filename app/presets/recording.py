"""Recording a run, so that it can be shown without running it again."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.presets.cases import PATHS, Case
from app.runs.run_state import RunState
from app.runs.session import Session
from app.runs.sprites import strip
from app.runs.watch import Step, Swept, fixed_depth
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.io.settings import values
from dga.networks.classifier import Prediction
from dga.pipeline import DepthSweep, Search, checked_repair, sweep_depths
from dga.profiles import Profile
from dga.request import Request
from dga.systems import System

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RECORD = "record.json"
INPUT = "input.png"
RESULTS = "results.png"
"""What the systems rebuilt, side by side."""
RUN = ("dtype", "device", "input_prediction", "x_t_star_prediction")
RESULT = ("prediction", "steps", "seconds")
SEARCH = ("found", "stop", "unchanged", "seconds")
"""Fields of a run, of each picture and of each search that are kept as they are."""
COMMAND = "python -m app.presets --out {folder}"


def settings_of(profile: Profile, case: Case) -> Request:
    """A case's settings: the profile's own but for the number of noise paths."""
    damage = {"corruption": case.corruption, "severity": case.severity}
    return Request.of(profile, **damage, seed=case.seed, paths=PATHS)


def configuration(profile: Profile, systems: Iterable[System]) -> dict[str, Any]:
    """All that decides a run besides weights, picture and damage, as JSON types."""
    known = {system.name: values(system) for system in systems}
    return {
        "profile": profile.name,
        "schedule": to_plain(profile.schedule),
        "systems": json.loads(json.dumps(known)),
    }


def digest(pixels: Pixels) -> str:
    """SHA-256 of a picture's bytes."""
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def record(session: Session, case: Case, example: Example, folder: Path) -> None:
    """Run a case and write it to ``folder``."""
    settings = settings_of(session.profile, case)
    subject = session.subject(example.path, settings)
    state, pixels = RunState(session.profile, settings, subject, example), subject.input
    lanes: dict[str, list[Pixels]] = defaultdict(list)
    for event in session.events(pixels, settings, extent=state.extent):
        state.take(event)
        if isinstance(event, Step):
            for name in event.systems:
                lanes[name].append(event.x)
    for system in state.systems.values():
        if system.name not in state.series and not fixed_depth(system):
            asked = pixels, settings.seed, checked_repair(system), state.extent
            *_, sweep = session.lent(None, sweep_depths, *asked)
            assert isinstance(sweep, DepthSweep)
            state.take(Swept(system.name, sweep))
    files = {f"{name}.jpg": strip(steps) for name, steps in lanes.items()}
    files |= {f"{name}.webp": one.sheet for name, one in state.series.items() if one.sheet}
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, image in files.items():
        (folder / name).write_bytes(image)
    results = np.concatenate([state.results[name].image for name in state.systems], 1)
    for name, picture in (INPUT, pixels), (RESULTS, results):
        Image.fromarray(picture).save(folder / name, optimize=True)
    write_json(folder / RECORD, _content(session, case, state))


def _content(session: Session, case: Case, state: RunState) -> dict[str, Any]:
    classes, run = session.profile.classifier.classes, state.result
    clean, clean_prediction = state.subject.clean, state.subject.clean_prediction
    assert run
    assert clean is not None
    assert clean_prediction

    def shares(prediction: Prediction) -> list[float]:
        known = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [round(known[name], 4) for name in classes]

    return {
        "case": asdict(case),
        "settings": asdict(state.settings),
        "weights": session.weights,
        "configuration": configuration(session.profile, state.systems.values()),
        "command": COMMAND.format(folder=f"assets/presets/{session.profile.name}"),
        "input_sha256": digest(run.input),
        "clean_sha256": digest(clean),
        "clean": asdict(clean_prediction),
        "run": _picked(run, RUN),
        "search": _search(run.search),
        "systems": {
            name: {**_picked(result, RESULT), "search": _search(result.search)}
            for name, result in run.reconstructions.items()
        },
        "outcomes": {
            name: [shares(p) for p in one.predictions] for name, one in state.series.items()
        },
    }


def _search(search: Search) -> dict[str, Any]:
    logits = [[round(float(z), 5) for z in row] for row in search.logits]
    return {**_picked(search, SEARCH), "logits": logits}


def _picked(told: DataclassInstance, names: Sequence[str]) -> dict[str, Any]:
    every = asdict(told)
    return {name: every[name] for name in names}
