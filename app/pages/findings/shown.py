"""Where each answer can be seen: chosen by what was recorded, the only place that does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from app.presets.cases import CASES
from app.presets.recording import RECORD
from app.runs.session import Session
from app.words.common import NO_CORRUPTION
from dga.io.shipped import shipped

Record = dict[str, Any]
PHOTO = "photo"  # the recorded photograph's folder


def shown(session: Session) -> dict[str, str]:
    """Addresses by question; none where nothing that these models recorded shows it.

    Runs that no other answer shows come first.
    """
    ours = dict(_recorded(session))
    found, photo = dict[str, str](), ours.pop(PHOTO, None)
    for question, shows in SHOWS.items():
        fitting = [name for name, record in ours.items() if shows(record)]
        if fitting:
            found[question] = min(fitting, key=lambda name: name in found.values())
    seen = {question: f"./?run={name}" for question, name in found.items()}
    if photo and _worth(photo):
        seen["worth"] = "./photo"
    if ours:
        picture = next(iter(ours.values()))["case"]["picture"]
        seen["clean"] = f"./?image={picture}&corruption={NO_CORRUPTION}"
    return seen


def _recorded(session: Session) -> Iterator[tuple[str, Record]]:
    for name in (*(case.name for case in CASES), PHOTO):
        path = shipped("assets/presets") / session.profile.name / name / RECORD
        with suppress(OSError, ValueError):
            record = json.loads(path.read_text("utf-8"))
            if record["weights"] == session.weights:
                yield name, record


def _read_right(record: Record, system: str) -> bool:
    """As the undamaged picture is read."""
    read: str = record["systems"][system]["prediction"]["labels"][0]
    return read == record["clean"]["labels"][0]


def _wrong(record: Record) -> bool:
    read: str = record["run"]["input_prediction"]["labels"][0]
    return read != record["clean"]["labels"][0]


def _found(record: Record) -> bool:
    return not record["systems"]["dga-plus"]["search"]["unchanged"]


def _helps(record: Record) -> bool:
    mended = _wrong(record) and _read_right(record, "dga-plus")
    return mended and not _read_right(record, "dda")


def _needs_own(record: Record) -> bool:
    crossed = record["search"]["stop"]["crossed"]
    return crossed and _read_right(record, "dga-guided") and not _read_right(record, "dda")


def _worth(photo: Record) -> bool:
    """Whether several depths were chosen in the photograph."""
    return len({depth for row in photo["depths"] for depth in row}) > 1


# The scarcest first: what shows one answer alone is not spent on another.
SHOWS: dict[str, Callable[[Record], bool]] = {
    "depth": lambda record: _wrong(record) and _needs_own(record),
    "help": _helps,
    "found": lambda record: _found(record) and _wrong(record) and _read_right(record, "dga-plus"),
    "cost": lambda record: record["search"]["stop"]["t_star"] > 0,
}
