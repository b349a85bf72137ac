"""What a visitor may take home from a run: files made when they are asked for."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import shlex
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from app.runs.contact_sheet import LabelledPicture, draw_contact_sheet
from app.runs.links import filled
from app.runs.run_state import RunState
from app.words.adapt import DOWNLOADS, OWN_PICTURE, SHEET_WORDS
from app.words.common import NO_CORRUPTION
from dga.images import Pixels
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation
from dga.record import to_record, versions
from dga.sentences import title
from dga.titles import phrase

OPTIONS = {"dda_depth": "--dda-depth", "max_depth": "--max-depth"}


@dataclass(frozen=True)
class RunExport:
    """A finished run with what is not in it: the picture's name and the networks' identities.

    ``example``: name of an example, None for an own picture.
    """

    state: RunState
    result: Adaptation
    weights: dict[str, str]
    example: str | None = None
    title: str = OWN_PICTURE

    def file(self, kind: str) -> tuple[str, bytes]:
        """Name and content of one file. Raises ``KeyError`` for a kind that is not offered."""
        make: dict[str, Callable[[RunExport], bytes]] = {
            "sheet": sheet,
            "pictures": pictures_zip,
            "curve": curve_csv,
            "run": run_json,
        }
        return f"{self.stem}-{kind}.{DOWNLOADS[kind][1].lower()}", make[kind](self)

    @property
    def stem(self) -> str:
        """How the files' names begin, e.g. ``dga-lion-fog-3``."""
        settings = self.state.settings
        damage = f"-{settings.corruption}-{settings.severity}" if settings.corruption else ""
        return f"dga-{self.example or 'picture'}{damage}"

    def pictures(self) -> dict[str, tuple[str, Pixels, Prediction]]:
        """Title, uint8 ``[S, S, 3]`` and prediction by file name; the clean one if known."""
        subject, run = self.state.subject, self.result
        found = {}
        if subject.clean is not None and subject.clean_prediction is not None:
            found["clean"] = SHEET_WORDS["clean"], subject.clean, subject.clean_prediction
        given = SHEET_WORDS["input" if subject.clean is not None else "as_is"]
        found["input"] = given, run.input, run.input_prediction
        found["x_t_star"] = title(run.stop), run.x_t_star, run.x_t_star_prediction
        return found | {
            name: (result.route.title, result.image, result.prediction)
            for name, result in run.reconstructions.items()
        }

    def source(self) -> Pixels:
        """The picture that the command starts from: before our own damage, if there was any."""
        subject = self.state.subject
        return subject.input if subject.clean is None else subject.clean


def png(pixels: Pixels) -> bytes:
    """uint8 ``[H, W, 3]`` as a PNG file."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def sheet(kept: RunExport) -> bytes:
    """All pictures side by side with their labels, ready for a slide, as a PNG file."""
    settings, result = kept.state.settings, kept.result
    damage = SHEET_WORDS["as_is"]
    if settings.corruption:
        damage = SHEET_WORDS["severity"].format(
            corruption=phrase(settings.corruption), severity=settings.severity
        )
    line = SHEET_WORDS["line"].format(
        picture=kept.title,
        damage=damage,
        t_star=result.t_star,
        steps=result.profile.schedule.steps,
        seed=settings.seed,
    )
    panels = [
        LabelledPicture(t, pixels, p.label, p.probability)
        for t, pixels, p in kept.pictures().values()
    ]
    return draw_contact_sheet(line, panels)


def pictures_zip(kept: RunExport) -> bytes:
    """Every picture as it is, pixel by pixel, and the run's JSON, in a ZIP file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, (_, pixels, _) in kept.pictures().items():
            archive.writestr(_entry(f"{kept.stem}/{name}.png"), png(pixels))
        archive.writestr(_entry(f"{kept.stem}/run.json"), run_json(kept))
    return stream.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """Without the clock: files are kept by their content, and the same run gives the same one."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the earliest that the format knows
    entry.external_attr = 0o644 << 16
    return entry


def curve_csv(kept: RunExport) -> bytes:
    """One row a depth: the mean confidence, then that of each noise path."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    paths = kept.state.curves
    writer.writerow(["depth", "confidence", *(f"path_{n}" for n in range(1, len(paths) + 1))])
    for depth, row in enumerate(np.asarray(paths).T):
        writer.writerow([depth, *(f"{value:.6f}" for value in (row.mean(), *row))])
    return stream.getvalue().encode()


def run_json(kept: RunExport) -> bytes:
    """Everything that repeats this run, and what came of it."""
    source = png(kept.source())
    content = {
        "command": command(kept),
        "picture": {
            "name": kept.example,
            "sha256_of_pixels": hashlib.sha256(kept.source().tobytes()).hexdigest(),
        },
        "profile": kept.result.profile.name,
        "settings": settings(kept),
        "weights": kept.weights,
        "device": kept.result.device,
        "precision": kept.result.dtype,
        "versions": versions(),
        "result": to_record(kept.result) | _clean(kept),
        # Last, because it is long: the picture before our damage, as the command reads it.
        "picture_png_base64": base64.b64encode(source).decode(),
    }
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _clean(kept: RunExport) -> dict[str, Any]:
    clean = kept.state.subject.clean_prediction
    return {"clean": None if clean is None else {"top5": clean.top(5)}}


def settings(kept: RunExport) -> dict[str, Any]:
    """By the names of :func:`app.runs.settings.check_settings`, every one with a value."""
    return filled(kept.result.profile, kept.state.settings)


def command(kept: RunExport) -> str:
    """The same run on the command line; the picture is one of those in the ZIP file."""
    picture = "input.png" if kept.state.subject.clean is None else "clean.png"
    words = ["python", "-m", "dga", "adapt", picture]
    for name, value in settings(kept).items():
        if value != NO_CORRUPTION and (name != "severity" or kept.state.settings.corruption):
            words += [OPTIONS.get(name, f"--{name}"), str(value)]
    words += ["--profile", kept.result.profile.name, "--precision", kept.result.dtype]
    return shlex.join(words)
