"""One recorded run for each question, chosen by what its record says, as a link."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.runs.links import write
from dga.io.shipped import shipped
from dga.profiles import Profile
from dga.request import Request

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
    records = list(_records(folder))
    found = {}
    for question, wanted in WANTED.items():
        record = next((record for record in records if _suits(record, wanted)), None)
        if record is not None:
            settings = Request(**record["settings"])
            found[question] = "./" + write(profile, settings, record["case"]["picture"])
    return found


def _suits(record: Record, wanted: Callable[[Record], bool]) -> bool:
    try:
        Request(**record["settings"])
        return wanted(record)
    except (KeyError, TypeError, IndexError):
        return False


def _records(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.glob("*/record.json")):
        try:
            record = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(record, dict):
            yield record
