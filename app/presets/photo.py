"""The photograph that page Photo opens with: repaired, and at every even depth, recorded."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.parts.photographs import load_photographs
from app.presets.recording import digest
from app.runs.damage import Damage
from app.runs.photo import DEEPEST, Photo, repair, single
from app.runs.places import Place, Places
from app.runs.session import Session
from dga.explanation.degradation import Degradation
from dga.explanation.search import Explanation
from dga.images import Pixels
from dga.io.files import to_plain, write_json
from dga.io.shipped import shipped
from dga.photograph import Photograph

FOLDER, RECORD, NAME = "photo", "record.json", "astronaut"
DEPTHS = range(0, DEEPEST + 1, 2)
STEPS = 8  # grey levels of the map a depth
QUALITY = 80  # of pictures at one depth everywhere; those that are measured keep every bit

_log = logging.getLogger(__name__)


def record(session: Session, folder: Path) -> None:
    """Repair the opening photograph and write it to ``folder``."""
    photo = Photo(NAME, load_photographs()[NAME].pixels, Damage())
    for _ in repair(session, photo):
        pass
    assert photo.result
    folder.mkdir(parents=True, exist_ok=True)
    for depth in DEPTHS:
        for _ in single(session, photo, depth):
            pass
        assert photo.last
        picture = Image.fromarray(photo.last[1])
        picture.save(folder / f"{depth:02}.webp", quality=QUALITY, method=6)
    assert photo.best
    depth, best = photo.best
    found = photo.result
    for name, pixels in {"repaired": found.image, "best": best}.items():
        Image.fromarray(pixels).save(folder / f"{name}.webp", lossless=True, method=6)
    assert photo.places
    level = (photo.places.depths * STEPS).round().astype(np.uint8)
    Image.fromarray(level).save(folder / "depths.png", optimize=True)
    told = {
        "weights": session.weights,
        "configuration": to_plain(session.profile.plus),
        "damaged_sha256": digest(photo.damaged),
        "rows": list(found.rows),
        "columns": list(found.columns),
        "depths": found.depths.tolist(),
        "places": _told(photo.places),
        "seconds": round(photo.seconds, 1),
        "singles": {str(k): round(v, 3) for k, v in photo.singles.items()},
        "best": depth,
    }
    write_json(folder / RECORD, told)


def load(session: Session, root: Path | None = None) -> tuple[Photo, dict[int, bytes]]:
    """The photograph with its recorded repair, and WebP files of one depth everywhere.

    Without a repair where these models were not recorded, or the photograph differs.
    """
    folder = (root or shipped("assets/presets")) / session.profile.name / FOLDER
    photographs = load_photographs()
    name = NAME if NAME in photographs else next(iter(photographs))
    photo = Photo(name, photographs[name].pixels, Damage())
    try:
        told = json.loads((folder / RECORD).read_text("utf-8"))
        return _filled(session, photo, told, folder)
    except FileNotFoundError:
        return photo, {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("The recorded photograph is not shown: %s.", error)
        return Photo(name, photo.clean, photo.damage), {}


def _filled(
    session: Session, photo: Photo, told: dict[str, Any], folder: Path
) -> tuple[Photo, dict[int, bytes]]:
    if told["weights"] != session.weights:
        raise ValueError("it was made with other weights")
    if told["configuration"] != to_plain(session.profile.plus):
        raise ValueError("it was made with other settings")
    if told["damaged_sha256"] != digest(photo.damaged):
        raise ValueError("it cannot be damaged again like that here")
    noise = np.zeros(photo.clean.shape[:2], np.float32)  # not asked for again
    found = Explanation(Degradation(), 0, 0.0)  # recorded with noise alone
    depths = np.array(told["depths"])
    image, rows, columns = _pixels(folder / "repaired.webp"), told["rows"], told["columns"]
    result = Photograph(image, found, noise, rows, columns, depths, False, told["seconds"])
    photo.take(result, _places(told["places"], _pixels(folder / "depths.png")[..., 0]))
    photo.singles = {int(depth): value for depth, value in told["singles"].items()}
    photo.best = int(told["best"]), _pixels(folder / "best.webp")
    photo.recorded = True
    return photo, {depth: (folder / f"{depth:02}.webp").read_bytes() for depth in DEPTHS}


def _told(places: Places) -> dict[str, Any]:
    """All but the map; it is recorded because to find it takes imports that a page waits for."""
    untouched = places.untouched
    return {
        "places": [asdict(place) for place in places.places],
        "outlines": [np.round(line, 4).tolist() for line in places.outlines],
        "direction": places.direction,
        "untouched": asdict(untouched) if untouched else None,
    }


def _places(told: dict[str, Any], level: NDArray[np.uint8]) -> Places:
    return Places(
        (level / STEPS).astype(np.float32),
        [Place(**place) for place in told["places"]],
        [np.array(line) for line in told["outlines"]],
        told["direction"],
        Place(**told["untouched"]) if told["untouched"] else None,
    )


def _pixels(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))
