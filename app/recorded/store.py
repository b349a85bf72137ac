"""One file a run: the record that :mod:`app.runs.watch` made, by its settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.runs.settings import Settings
from dga.io.shipped import find_shipped_folder

FOLDER = find_shipped_folder("assets/recorded") / "runs"
WEIGHTS = FOLDER.parent / "weights.json"
"""The networks that all that ships was made and measured with, as
:attr:`dga.networks.models.Models.weights` names them; ``python -m app.recorded`` writes it."""


def read_weights() -> dict[str, str]:
    """The networks' names in :data:`WEIGHTS`; none where nothing was recorded."""
    return json.loads(WEIGHTS.read_text("utf-8")) if WEIGHTS.is_file() else {}


def name_record(settings: Settings) -> str:
    """``panda-impulse_noise-5-0``; as deep as we look ``panda-impulse_noise-5-0-48``."""
    parts = [settings.photo, settings.damage, settings.strength, settings.seed, settings.max_depth]
    return "-".join(str(part) for part in parts if part is not None)


def list_recorded(folder: Path = FOLDER) -> list[str]:
    """Names of the runs that ship."""
    return sorted(path.stem for path in folder.glob("*.json"))


def read_record(settings: Settings, folder: Path = FOLDER) -> dict[str, Any] | None:
    """The record of these settings; None where none ships."""
    path = folder / f"{name_record(settings)}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def write_recording(path: Path, content: Any) -> Path:
    """Write what was recorded, in JSON types, to a file that ships; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    return path
