"""What visitors ask for, and what they get."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from gradio_client import Client, handle_file
from PIL import Image


@dataclass(frozen=True)
class Case:
    """One request to ``/adapt``."""

    picture: str
    corruption: str
    severity: int
    tau: float
    seed: int
    dda_depth: int

    def arguments(self, folder: Path) -> dict[str, Any]:
        """As :class:`gradio_client.Client` takes them; the picture comes from ``folder``."""
        return vars(self) | {"picture": handle_file(str(folder / f"{self.picture}.png"))}


CASES = (
    Case("chelsea", "gaussian_noise", 3, 0.75, 0, 8),
    Case("coffee", "fog", 2, 0.9, 1, 3),
    Case("astronaut", "none", 1, 1.0, 2, 1),
    Case("chelsea", "jpeg_compression", 5, 0.95, 3, 2),
    Case("coffee", "motion_blur", 4, 0.6, 4, 5),
    Case("astronaut", "snow", 1, 0.99, 5, 4),
    Case("chelsea", "pixelate", 3, 1.0, 6, 1),
    Case("coffee", "contrast", 2, 0.85, 7, 2),
)
BAD: tuple[dict[str, Any], ...] = (
    *({"tau": 7}, {"tau": None}, {"severity": 2.5}, {"corruption": "rust"}),
    *({"seed": -1}, {"dda_depth": 10**9}, {"picture": None}),
)


def write_pictures(folder: Path) -> None:
    """scikit-image's photographs in the public domain, and a file that is no picture."""
    for name in ("chelsea", "coffee", "astronaut"):
        Image.fromarray(getattr(skimage.data, name)()).save(folder / f"{name}.png")
    (folder / "words.png").write_text("These are words.", "utf-8")


def connect(url: str, number: int = 0) -> Client:
    """A client whose downloads go to a folder of its own; ``number`` gives its address."""
    downloads = tempfile.mkdtemp(prefix="dga-visitor-")
    headers = {"x-forwarded-for": f"10.0.{number // 250}.{number % 250 + 1}"}
    patient = {"timeout": 120}  # hundreds of clients in one process keep each other waiting
    return Client(
        url, verbose=False, headers=headers, download_files=downloads, analytics_enabled=False,
        httpx_kwargs=patient,
    )  # fmt: skip


def digest(answer: tuple[Any, ...]) -> str:
    """A fingerprint of a run's numbers and pixels; how long it took stays out."""
    record, *pictures = answer
    plain = json.dumps(_timeless(record), sort_keys=True)
    found = hashlib.sha256(plain.encode())
    for picture in pictures:
        found.update(np.asarray(Image.open(picture)).tobytes())
    return found.hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not k.endswith("seconds")}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def run_alone(url: str, folder: Path) -> dict[Case, str]:
    """The fingerprint of every case, one after the other on a server without other visitors."""
    client = connect(url)
    return {c: digest(client.predict(**c.arguments(folder), api_name="/adapt")) for c in CASES}
