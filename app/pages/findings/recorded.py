"""One recorded run for each question, chosen by what its record says, as a link."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.presets.cases import CASES
from app.presets.recording import RECORD
from dga.io.shipped import shipped
from dga.profiles import Profile

Record = dict[str, Any]


def _label(record: Record, method: str) -> str:
    return str(record["methods"][method]["prediction"]["labels"][0])


def _mended(record: Record) -> bool:
    """Read wrong as it was damaged, and right after DGA+."""
    right = record["clean"]["labels"][0]
    return record["input"]["labels"][0] != right and _label(record, "dga-plus") == right


def _stopped(record: Record) -> bool:
    """The detector's own depth, neither 0 nor the deepest that is allowed."""
    return record["crossed"] and record["t_star"] > 0


def _explained(record: Record) -> bool:
    """Noise of its own, which is what DGA+ reads a depth from, or impulses."""
    found = record["explained"]["explanation"]["degradation"]
    return bool(found["noise"] or found["impulses"])


def _left(record: Record) -> bool:
    return bool(record["explained"]["unchanged"])


WANTED: dict[str, Callable[[Record], bool]] = {
    "help": _mended,
    "depth": _stopped,
    "found": _explained,
    "clean": _left,
    "cost": _mended,
}


def recorded_links(profile: Profile, root: Path | None = None) -> dict[str, str]:
    """The address of a recorded run by question; questions that no record suits are left out."""
    folder = (root or shipped("assets/presets")) / profile.name
    records = {case.name: _read(folder / case.name / RECORD) for case in CASES}
    found = {}
    for question, wanted in WANTED.items():
        name = next((name for name, record in records.items() if _suits(record, wanted)), None)
        if name is not None:
            found[question] = f"./?run={name}"
    return found


def _suits(record: Record, wanted: Callable[[Record], bool]) -> bool:
    try:
        return wanted(record)
    except (KeyError, TypeError, IndexError):
        return False


def _read(path: Path) -> Record:
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
