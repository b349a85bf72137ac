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

import numpy as np

from app.parts.pictures import encoded, entry
from app.runs.links import filled
from app.runs.run_state import RunState
from app.words.common import NO_CORRUPTION
from app.words.try_it import DOWNLOADS
from dga.images import Pixels
from dga.pipeline import Adaptation
from dga.record import to_record, versions

OPTIONS = {"dda_depth": "--dda-depth", "max_depth": "--max-depth"}


@dataclass(frozen=True)
class RunExport:
    """A finished run, and which exact weights the networks have."""

    state: RunState
    result: Adaptation
    weights: dict[str, str]

    def file(self, kind: str) -> tuple[str, bytes]:
        """Name and content of one file. Raises ``KeyError`` for a kind that is not offered."""
        make: dict[str, Callable[[RunExport], bytes]] = {
            "pictures": pictures_zip,
            "curve": curve_csv,
            "run": run_json,
        }
        return f"{self.stem}-{kind}.{DOWNLOADS[kind][1].lower()}", make[kind](self)

    @property
    def example(self) -> str | None:
        """Name of the example that the run began with, None for an own picture."""
        return self.state.example.name if self.state.example else None

    @property
    def stem(self) -> str:
        """How the files' names begin, e.g. ``dga-lion-fog-3``."""
        settings = self.state.settings
        damage = f"-{settings.corruption}-{settings.severity}" if settings.corruption else ""
        return f"dga-{self.example or 'picture'}{damage}"

    def pictures(self) -> dict[str, Pixels]:
        """uint8 ``[S, S, 3]`` by file name; the clean one if known."""
        clean, run = self.state.subject.clean, self.result
        found = {} if clean is None else {"clean": clean}
        found |= {"input": run.input, "x_t_star": run.search.x_t_star}
        return found | {name: result.image for name, result in run.reconstructions.items()}

    def source(self) -> Pixels:
        """The picture that the command starts from: before our own damage, if there was any."""
        subject = self.state.subject
        return subject.input if subject.clean is None else subject.clean


def pictures_zip(kept: RunExport) -> bytes:
    """Every picture as it is, pixel by pixel, and the run's JSON, in a ZIP file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, pixels in kept.pictures().items():
            archive.writestr(
                entry(f"{kept.stem}/{name}.png"), encoded(pixels, "PNG", optimize=True)
            )
        archive.writestr(entry(f"{kept.stem}/run.json"), run_json(kept))
    return stream.getvalue()


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
    source = encoded(kept.source(), "PNG", optimize=True)
    clean = kept.state.subject.clean_prediction
    content = {
        "command": command(kept),
        "picture": {
            "name": kept.example,
            "sha256_of_pixels": hashlib.sha256(kept.source().tobytes()).hexdigest(),
        },
        "profile": kept.result.profile.name,
        "settings": filled(kept.result.profile, kept.state.settings),
        "weights": kept.weights,
        "device": kept.result.device,
        "precision": kept.result.dtype,
        "versions": versions(),
        "result": to_record(kept.result) | {"clean": clean and {"top5": clean.top(5)}},
        # Last, because it is long: the picture before our damage, as the command reads it.
        "picture_png_base64": base64.b64encode(source).decode(),
    }
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def command(kept: RunExport) -> str:
    """The same run on the command line; the picture is one of those in the ZIP file."""
    picture = "input.png" if kept.state.subject.clean is None else "clean.png"
    words = ["python", "-m", "dga", "adapt", picture]
    for name, value in filled(kept.result.profile, kept.state.settings).items():
        if value != NO_CORRUPTION and (name != "severity" or kept.state.settings.corruption):
            words += [OPTIONS.get(name, f"--{name}"), str(value)]
    words += ["--profile", kept.result.profile.name, "--precision", kept.result.dtype]
    return shlex.join(words)
