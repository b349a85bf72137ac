"""All fifteen kinds of damage on one photo: what each method makes of them, recorded."""

from __future__ import annotations

import json

from app.pages.shell import CLASSIFIER, DESCRIPTIONS, SHORT_NAMES, TITLES, Page, render
from app.recorded.store import FOLDER
from app.runs.sentences import PLAIN_NAMES
from app.runs.settings import Settings
from dga.profiles import get_profile

BOARDS = FOLDER.parent / "boards"


def all15_page() -> Page:
    """The page; each board is a file that its script asks for."""
    recorded = (path.stem for path in BOARDS.glob("*.json"))
    photos = sorted(recorded, key=lambda name: (name != Settings().photo, name))
    data = {
        "board": json.loads((BOARDS / f"{photos[0]}.json").read_text("utf-8")),
        "names": PLAIN_NAMES,
        "descriptions": DESCRIPTIONS,
        "columns": {"damaged": "Damaged", "repaired": SHORT_NAMES["plus"]} | SHORT_NAMES,
    }
    return Page(
        "all-15",
        "All 15 kinds of damage: DGA+",
        "Fifteen kinds of damage on one photograph, and what three repairs make of each.",
        render(
            "all15.html", photos=photos, methods=TITLES, names=SHORT_NAMES,
            classifier=CLASSIFIER, limit=get_profile("photo").stopping.max_depth,
        ),
        data,
    )  # fmt: skip
