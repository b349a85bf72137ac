"""Recording a run, so that it can be shown without running it again."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from dga.outcomes import judge_further, outcomes_of
from PIL import Image

from app.parts.examples import Example
from app.presets.cases import PATHS, Case
from app.runs.run_state import RunState
from app.runs.run_value import OWN
from app.runs.session import Session
from app.runs.sprites import strip
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Denoised, Explained, Outcomes
from dga.profiles import Profile
from dga.request import Request

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RECORD = "record.json"
STATES = "states.png"
"""The undamaged picture, the input, x at t*; DGA+'s after its inverse and at its own t*."""
RESULTS = "results.png"
"""What the methods rebuilt, side by side."""
RUN = ("dtype", "device", "input_prediction", "stop", "x_t_star_prediction", "curve_seconds")
METHOD = ("depth", "steps", "prediction", "seconds")
EXPLAINED = ("explanation", "stop", "unchanged", "seconds")
"""Fields of a run, of each method's picture and of what DGA+ found that are kept as they are."""
COMMAND = "python -m app.presets --out {folder}"


def settings_of(profile: Profile, case: Case) -> Request:
    """A case's settings: the profile's own but for the number of noise paths."""
    damage = {"corruption": case.corruption, "severity": case.severity}
    return Request.of(profile, **damage, seed=case.seed, paths=PATHS)


def configuration(profile: Profile, settings: Request) -> dict[str, Any]:
    """All that decides a run besides weights, picture and damage, as JSON types."""
    return {
        "profile": profile.name,
        "schedule": to_plain(profile.schedule),
        "stopping": to_plain(settings.stopping(profile)),
        "routes": [to_plain(route) for route in settings.routes(profile)],
    }


def digest(pixels: Pixels) -> str:
    """SHA-256 of a picture's bytes."""
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def record(session: Session, case: Case, example: Example, folder: Path) -> None:
    """Run a case and write it to ``folder``."""
    settings = settings_of(session.profile, case)
    subject = session.subject(example.path, settings)
    state, pixels = RunState(session.profile, settings, subject, example), subject.input
    lanes: dict[str, list[Pixels]] = {}
    for event in session.events(pixels, settings, extent=state.extent):
        state.take(event)
        if isinstance(event, Denoised):
            lanes.setdefault(event.route.name, []).append(event.x)
    routes = {route.name: route for route in settings.routes(session.profile)}
    for name in OWN:
        asked = pixels, settings.seed, routes[name], state.extent
        *_, outcomes = session.lent(None, outcomes_of, *asked)
        assert isinstance(outcomes, Outcomes)
        state.take(outcomes)
    known = len(state.curves[0])
    if known <= session.profile.schedule.steps:
        further = pixels, settings.seed, settings.paths, known
        *_, rest = session.lent(None, judge_further, *further)
        assert isinstance(rest, np.ndarray)
        state.deepen(rest)
    files = {f"{name}.jpg": strip(steps) for name, steps in lanes.items()}
    files |= {f"{name}.webp": line.sheet for name, line in state.lines.items() if line.sheet}
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("*.jpg"), *folder.glob("*.webp")]:
        old.unlink()
    for name, image in files.items():
        (folder / name).write_bytes(image)
    run, explained = state.result, state.explained
    assert run
    assert explained
    assert subject.clean is not None
    results = [result.image for result in run.reconstructions.values()]
    states = [subject.clean, pixels, run.x_t_star, explained.restored, explained.x_t_star]
    for name, pictures in (STATES, states), (RESULTS, results):
        Image.fromarray(np.concatenate(pictures, 1)).save(folder / name, optimize=True)
    write_json(folder / RECORD, _content(session, case, state, run, explained))


def _content(
    session: Session, case: Case, state: RunState, run: Adaptation, explained: Explained
) -> dict[str, Any]:
    classes, clean = session.profile.classifier.classes, state.subject.clean_prediction
    assert clean is not None
    assert state.logits is not None

    def shares(prediction: Prediction) -> list[float]:
        known = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [round(known[name], 4) for name in classes]

    return {
        "case": dataclasses.asdict(case),
        "settings": dataclasses.asdict(state.settings),
        "weights": session.weights,
        "configuration": configuration(session.profile, state.settings),
        "command": COMMAND.format(folder=f"assets/presets/{session.profile.name}"),
        "input_sha256": digest(run.input),
        "clean": dataclasses.asdict(clean),
        "logits": [[round(float(z), 5) for z in row] for row in state.logits],
        "run": _picked(run, RUN),
        "methods": {name: _picked(r, METHOD) for name, r in run.reconstructions.items()},
        "explained": _picked(explained, EXPLAINED)
        | {"confidence": explained.confidence.tolist(), "denoised": explained.denoised},
        "outcomes": {
            name: [shares(p) for p in line.predictions] for name, line in state.lines.items()
        },
    }


def _picked(told: DataclassInstance, names: Sequence[str]) -> dict[str, Any]:
    every = dataclasses.asdict(told)
    return {name: every[name] for name in names}
