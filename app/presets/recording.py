"""Recording a run, so that it can be shown without running it again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import Example
from app.presets.cases import PATHS, Case
from app.runs.session import Session
from app.runs.sprites import strip
from app.words.common import NO_CORRUPTION
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, Denoised, Explained
from dga.profiles import Profile
from dga.request import Request

RECORD = "record.json"
STATES = "states.png"
"""The undamaged picture, the input, x at t*; DGA+'s after its inverse and at its own t*."""
RESULTS = "results.png"
"""What the methods rebuilt, side by side."""
COMMAND = "python -m app.presets --out {folder}"


def settings_of(profile: Profile, case: Case) -> Request:
    """A case's settings: the profile's own but for the number of noise paths."""
    stopping = profile.stopping
    return Request(
        None if case.corruption == NO_CORRUPTION else case.corruption,
        case.severity,
        stopping.tau,
        case.seed,
        profile.dda_depth,
        paths=PATHS,
        rule=stopping.rule,
    )


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


def record(session: Session, case: Case, example: Example, folder: Path) -> bool:
    """Run a case and write it to ``folder``; whether anything had changed.

    Seconds alone are no change: a record that says the same otherwise stays as it is.
    """
    settings = settings_of(session.profile, case)
    subject = session.subject(example.path, settings)
    lanes: dict[str, list[Denoised]] = {}
    for event in session.events(subject.input, settings):
        if isinstance(event, Denoised):
            lanes.setdefault(event.route.name, []).append(event)
    assert isinstance(event, Adaptation)
    content = _content(session, case, settings, event, subject.clean_prediction)
    strips = {
        f"{name}.jpg": strip([s.x for s in steps], [s.x0_hat for s in steps])
        for name, steps in lanes.items()
    }
    if _same(folder, content, strips):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jpg"):
        old.unlink()
    for name, image in strips.items():
        (folder / name).write_bytes(image)
    clean = subject.input if subject.clean is None else subject.clean
    results = [result.image for result in event.reconstructions.values()]
    explained = event.explained
    assert explained is not None
    states = [clean, event.input, event.x_t_star, explained.restored, explained.x_t_star]
    for name, pictures in (STATES, states), (RESULTS, results):
        Image.fromarray(np.concatenate(pictures, 1)).save(folder / name, optimize=True)
    write_json(folder / RECORD, content)
    return True


def _content(
    session: Session, case: Case, settings: Request, run: Adaptation, clean: Prediction | None
) -> dict[str, Any]:
    return {
        "case": dataclasses.asdict(case),
        "settings": dataclasses.asdict(settings),
        "weights": session.weights,
        "configuration": configuration(session.profile, settings),
        "dtype": run.dtype,
        "device": run.device,
        "command": COMMAND.format(folder=f"assets/presets/{session.profile.name}"),
        "input_sha256": digest(run.input),
        "logits": [[round(float(z), 5) for z in row] for row in run.logits],
        "t_star": run.stop.t_star,
        "crossed": run.stop.crossed,
        "input": dataclasses.asdict(run.input_prediction),
        "clean": dataclasses.asdict(clean) if clean else None,
        "x_t_star": dataclasses.asdict(run.x_t_star_prediction),
        "curve_seconds": round(run.curve_seconds, 3),
        "methods": {
            name: {
                "depth": result.depth,
                "steps": result.steps,
                "prediction": dataclasses.asdict(result.prediction),
                "seconds": round(result.seconds, 3),
            }
            for name, result in run.reconstructions.items()
        },
        "explained": run.explained and _found(run.explained),
    }


def _found(explained: Explained) -> dict[str, Any]:
    return {
        "explanation": dataclasses.asdict(explained.explanation),
        "confidence": [round(float(c), 6) for c in explained.confidence],
        "stop": dataclasses.asdict(explained.stop),
        "unchanged": explained.unchanged,
        "denoised": explained.denoised,
        "seconds": round(explained.seconds, 3),
    }


def _same(folder: Path, content: dict[str, Any], strips: dict[str, bytes]) -> bool:
    try:
        old = json.loads((folder / RECORD).read_text("utf-8"))
        images = {path.name: path.read_bytes() for path in folder.glob("*.jpg")}
    except (OSError, ValueError):
        return False
    new = json.loads(json.dumps(content))
    there = all((folder / name).exists() for name in (STATES, RESULTS))
    return images == strips and there and _timeless(old) == _timeless(new)


def _timeless(content: Any) -> Any:
    if isinstance(content, dict):
        return {k: _timeless(v) for k, v in content.items() if not k.endswith("seconds")}
    return [_timeless(v) for v in content] if isinstance(content, list) else content
