"""What recorded runs, boards and photographs share: what they were made of, pictures in files."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from app.runs.session import Session
from dga.images import Pixels
from dga.io.files import to_plain
from dga.io.settings import values
from dga.profiles import Profile
from dga.systems import System

RECORD = "record.json"
Shown = TypeVar("Shown")
_log = logging.getLogger(__name__)


def configuration(profile: Profile, systems: Iterable[System]) -> dict[str, Any]:
    """All that decides a run besides weights, picture and damage, as JSON types."""
    known = {system.name: values(system) for system in systems}
    return {
        "profile": profile.name,
        "schedule": to_plain(profile.schedule),
        "systems": json.loads(json.dumps(known)),
    }


def made_of(session: Session, settings: dict[str, Any], *pictures: Pixels) -> dict[str, Any]:
    """What has to be the same for a record to be shown: weights, settings and pixels."""
    digests = [hashlib.sha256(np.ascontiguousarray(p).tobytes()).hexdigest() for p in pictures]
    return {"weights": session.weights, "settings": settings, "pictures": digests}


def check(told: Mapping[str, Any], made: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` where a record was made of something else than :func:`made_of` says."""
    if other := [name for name, value in made.items() if told[name] != value]:
        raise ValueError(f"it was made with other {' and '.join(other)}")


def recorded(file: Path, read: Callable[[dict[str, Any]], Shown]) -> Shown | None:
    """What ``read`` makes of a record's JSON; None, and a line in the log, where it raises.

    None without a word where nothing was recorded.
    """
    if not file.exists():
        return None
    try:
        return read(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, LookupError, TypeError) as error:
        _log.warning("What is recorded in %s is not shown: %s.", file.parent.name, error)
        return None


def picture(file: Path) -> Pixels:
    """A file's pixels, uint8 ``[H, W, 3]``."""
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


def tiles(file: Path, side: int) -> Pixels:
    """The pictures of a sheet, row by row, uint8 ``[n, side, side, 3]``."""
    sheet = picture(file)
    rows = sheet.reshape(-1, side, sheet.shape[1] // side, side, 3)
    return rows.swapaxes(1, 2).reshape(-1, side, side, 3)
