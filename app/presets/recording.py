"""Recording a run, so that it can be shown without running it again."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.presets.cases import PATHS, Case
from app.runs.run_value import OWN, extent
from app.runs.session import Session
from app.runs.sprites import outcome_sheet, strip
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.networks.classifier import Prediction
from dga.outcomes import judge_further, outcomes_of
from dga.pipeline import Adaptation, Denoised, Outcomes
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
    pixels, deepest = subject.input, extent(session.profile, settings)
    lanes: dict[str, list[Pixels]] = {}
    lines: list[Outcomes] = []
    for event in session.events(pixels, settings, extent=deepest):
        if isinstance(event, Denoised):
            lanes.setdefault(event.route.name, []).append(event.x)
        elif isinstance(event, Outcomes):
            lines.append(event)
    assert isinstance(event, Adaptation)
    routes = {route.name: route for route in settings.routes(session.profile)}
    for name in OWN:
        asked = pixels, settings.seed, routes[name], deepest
        *_, outcomes = session.lent(None, outcomes_of, *asked)
        assert isinstance(outcomes, Outcomes)
        lines.append(outcomes)
    run = _to_the_end(session, settings, event)
    assert subject.clean is not None
    assert subject.clean_prediction is not None
    content = _content(session, case, settings, run, subject.clean_prediction, lines)
    files = {f"{name}.jpg": strip(steps) for name, steps in lanes.items()}
    sheets = {line.route.name: outcome_sheet(line.images) for line in lines if line.route}
    files |= {f"{name}.webp": sheet for name, sheet in sheets.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("*.jpg"), *folder.glob("*.webp")]:
        old.unlink()
    for name, image in files.items():
        (folder / name).write_bytes(image)
    results = [result.image for result in run.reconstructions.values()]
    explained = run.explained
    assert explained is not None
    states = [subject.clean, run.input, run.x_t_star, explained.restored, explained.x_t_star]
    for name, pictures in (STATES, states), (RESULTS, results):
        Image.fromarray(np.concatenate(pictures, 1)).save(folder / name, optimize=True)
    write_json(folder / RECORD, content)


def _to_the_end(session: Session, settings: Request, run: Adaptation) -> Adaptation:
    """The run with its curve to the deepest depth."""
    known = run.logits.shape[1]
    if known > session.profile.schedule.steps:
        return run
    asked = run.input, settings.seed, settings.paths, known
    *_, rest = session.lent(None, judge_further, *asked)
    assert isinstance(rest, np.ndarray)
    return dataclasses.replace(run, logits=np.concatenate([run.logits, rest], axis=1))


def _content(
    session: Session,
    case: Case,
    settings: Request,
    run: Adaptation,
    clean: Prediction,
    lines: Sequence[Outcomes],
) -> dict[str, Any]:
    classes, explained = session.profile.classifier.classes, run.explained
    assert explained is not None

    def shares(prediction: Prediction) -> list[float]:
        known = dict(zip(prediction.labels, prediction.probabilities, strict=True))
        return [round(known[name], 4) for name in classes]

    return {
        "case": dataclasses.asdict(case),
        "settings": dataclasses.asdict(settings),
        "weights": session.weights,
        "configuration": configuration(session.profile, settings),
        "command": COMMAND.format(folder=f"assets/presets/{session.profile.name}"),
        "input_sha256": digest(run.input),
        "clean": dataclasses.asdict(clean),
        "logits": [[round(float(z), 5) for z in row] for row in run.logits],
        "run": _picked(run, RUN),
        "methods": {name: _picked(r, METHOD) for name, r in run.reconstructions.items()},
        "explained": _picked(explained, EXPLAINED)
        | {"confidence": explained.confidence.tolist(), "denoised": explained.denoised},
        "outcomes": {
            line.route.name if line.route else "noised": [shares(p) for p in line.predictions]
            for line in lines
        },
    }


def _picked(told: DataclassInstance, names: Sequence[str]) -> dict[str, Any]:
    every = dataclasses.asdict(told)
    return {name: every[name] for name in names}
