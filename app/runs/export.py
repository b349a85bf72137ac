"""What a visitor may take home from a run: files made when they are asked for."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shlex
from dataclasses import dataclass

import numpy as np

from app.parts.pictures import encoded, zipped
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
        make = {"pictures": self.pictures_zip, "curve": self.curve_csv, "run": self.run_json}
        return f"{self.stem}-{kind}.{DOWNLOADS[kind][1].lower()}", make[kind]()

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

    def source(self) -> Pixels:
        """The picture that the command starts from: before our own damage, if there was any."""
        subject = self.state.subject
        return subject.input if subject.clean is None else subject.clean

    def pictures_zip(self) -> bytes:
        """Every picture as it is, pixel by pixel, and the run's JSON, in a ZIP file."""
        clean, run = self.state.subject.clean, self.result
        pictures = {} if clean is None else {"clean": clean}
        pictures |= {"input": run.input, "x_t_star": run.search.x_t_star}
        pictures |= {name: result.image for name, result in run.reconstructions.items()}
        files = {f"{name}.png": _png(pixels) for name, pixels in pictures.items()}
        files["run.json"] = self.run_json()
        return zipped({f"{self.stem}/{name}": content for name, content in files.items()})

    def curve_csv(self) -> bytes:
        """One row a depth: the mean confidence, then that of each noise path."""
        paths, stream = np.asarray(self.state.curves), io.BytesIO()
        names = ["depth", "confidence", *(f"path_{n}" for n in range(1, len(paths) + 1))]
        table = np.column_stack([np.arange(paths.shape[1]), paths.mean(0), paths.T])
        how = ["%d", *["%.6f"] * (len(paths) + 1)]
        np.savetxt(stream, table, how, ",", header=",".join(names), comments="")
        return stream.getvalue()

    def run_json(self) -> bytes:
        """Everything that repeats this run, and what came of it."""
        source, result, clean = self.source(), self.result, self.state.subject.clean_prediction
        content = {
            "command": self.command(),
            "picture": {
                "name": self.example,
                "sha256_of_pixels": hashlib.sha256(source.tobytes()).hexdigest(),
            },
            "profile": result.profile.name,
            "settings": filled(result.profile, self.state.settings),
            "weights": self.weights,
            "device": result.device,
            "precision": result.dtype,
            "versions": versions(),
            "result": to_record(result) | {"clean": clean and {"top5": clean.top(5)}},
            # Last, because it is long: the picture before our damage, as the command reads it.
            "picture_png_base64": base64.b64encode(_png(source)).decode(),
        }
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()

    def command(self) -> str:
        """The same run on the command line; the picture is one of those in the ZIP file."""
        picture = "input.png" if self.state.subject.clean is None else "clean.png"
        words = ["python", "-m", "dga", "adapt", picture]
        for name, value in filled(self.result.profile, self.state.settings).items():
            if value != NO_CORRUPTION and (name != "severity" or self.state.settings.corruption):
                words += [OPTIONS.get(name, f"--{name}"), str(value)]
        words += ["--profile", self.result.profile.name, "--precision", self.result.dtype]
        return shlex.join(words)


def _png(pixels: Pixels) -> bytes:
    return encoded(pixels, "PNG", optimize=True)
