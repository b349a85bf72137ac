"""The photograph that page Photo opens with: repaired, and at every even depth, recorded."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.parts.examples import load_photographs
from app.presets.recording import RECORD, check, made_of, picture, recorded
from app.runs.damage import OPENING
from app.runs.photo import SURVEY, Photo, repair
from app.runs.places import Places
from app.runs.session import Session
from dga.explanation.degradation import NO_DEGRADATION
from dga.explanation.search import Explanation
from dga.io.files import to_plain, write_json
from dga.io.shipped import shipped
from dga.photograph import Photograph

FOLDER, MAP, NAME = "photo", "map.png", "astronaut"
QUALITY = 80  # of pictures at one depth everywhere; those that are measured keep every bit


def record(session: Session, folder: Path) -> None:
    """Repair the opening photograph and write it to ``folder``."""
    photo = Photo(NAME, load_photographs()[NAME], OPENING)
    folder.mkdir(parents=True, exist_ok=True)
    for depth in (None, *SURVEY):
        for _ in repair(session, photo, depth):
            pass
        if depth is not None and photo.last is not None:
            shown = Image.fromarray(photo.last[1])
            shown.save(folder / f"{depth:02}.webp", quality=QUALITY, method=6)
    found, places = photo.result, photo.places
    assert found
    assert places
    assert photo.best
    for name, pixels in {"repaired": found.image, "best": photo.best[1]}.items():
        Image.fromarray(pixels).save(folder / f"{name}.webp", lossless=True, method=6)
    (folder / MAP).write_bytes(places.map)
    told = {
        **_made_of(session, photo),
        "rows": list(found.rows),
        "columns": list(found.columns),
        "depths": found.depths.tolist(),
        "seconds": round(found.seconds, 1),
        "places": vars(places) | {"map": MAP},  # to find them takes imports that a page waits for
        "singles": {str(depth): round(value, 3) for depth, value in photo.singles.items()},
        "best": photo.best[0],
    }
    write_json(folder / RECORD, told)


def _made_of(session: Session, photo: Photo) -> dict[str, Any]:
    return made_of(session, to_plain(session.profile.plus), photo.damaged)


def load(session: Session, root: Path | None = None) -> tuple[Photo, dict[int, bytes]]:
    """The photograph with its recorded repair, and WebP files of one depth everywhere.

    Without a repair where these models were not recorded, or the photograph differs.
    """
    folder = (root or shipped("assets/presets")) / session.profile.name / FOLDER
    photographs = load_photographs()
    name = NAME if NAME in photographs else next(iter(photographs))
    photo = Photo(name, photographs[name], OPENING)
    found = recorded(folder / RECORD, partial(_read, session, folder, photo))
    return found or (photo, {})


def _read(
    session: Session, folder: Path, photo: Photo, told: dict[str, Any]
) -> tuple[Photo, dict[int, bytes]]:
    check(told, _made_of(session, photo))
    places = Places(**told["places"] | {"map": (folder / MAP).read_bytes()})
    noise = np.zeros(photo.clean.shape[:2], np.float32)  # not asked for again
    found = Explanation(NO_DEGRADATION, 0, 0.0)  # recorded with noise alone
    grid = told["rows"], told["columns"], np.array(told["depths"])
    image, best = (picture(folder / f"{name}.webp") for name in ("repaired", "best"))
    pictures = {depth: (folder / f"{depth:02}.webp").read_bytes() for depth in SURVEY}
    singles = {int(depth): value for depth, value in told["singles"].items()}
    photo.take(Photograph(image, found, noise, *grid, False, told["seconds"]), places)
    photo.singles, photo.best, photo.recorded = singles, (told["best"], best), True
    return photo, pictures
