"""``python -m app.recorded``: record runs, thumbnails and the boards of All 15 that ship."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from app.recorded.store import FOLDER, WEIGHTS, name_record, write_recording
from app.runs.damage import draw_thumbnails
from app.runs.pictures import to_data_url
from app.runs.samples import SAMPLES
from app.runs.settings import FIRST_DAMAGES, NONE, Settings
from app.runs.subject import Subject
from app.runs.watch import Part, Watcher, compare_methods, run_first_stages
from dga.corruptions import CORRUPTIONS
from dga.networks.models import Models, load_models

RECORDED = ("espresso", "panda", "goldfish", "volleyball")
"""Samples whose pictures may be passed on."""
BOARD_SIDE, BOARD_STRENGTH = 112, 5
CELLS = ("damaged", "repaired", "paper", "fixed")
Recordings = Iterator[tuple[str, Any]]
"""Names of files, and what they hold."""


def main() -> None:
    """Record what was asked for; a picture takes some seconds for each run.

    Whole recordings name their networks, without whom the page shows none of them.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=RECORDERS, nargs="+", default=[*RECORDERS])
    parser.add_argument("--samples", nargs="+", choices=RECORDED, default=RECORDED)
    parser.add_argument("--out", type=Path, default=FOLDER.parent)
    options = parser.parse_args()
    models = load_models("photo")
    for photo in options.samples:
        for part in options.only:
            for name, content in RECORDERS[part](models, photo):
                path = write_recording(options.out / part / f"{name}.json", content)
                print(path, path.stat().st_size, flush=True)
    if set(options.only) == set(RECORDERS) and set(options.samples) == set(RECORDED):
        names = json.dumps(dict(sorted(models.weights.items())), indent=2)
        (options.out / WEIGHTS.name).write_text(names + "\n", "utf-8")


def record_runs(models: Models, photo: str) -> Recordings:
    """Whole records, as the page would have received them."""
    runs = [Settings(photo=photo, damage=damage) for damage in (NONE, *FIRST_DAMAGES)]
    if photo == Settings().photo:  # noise, which depth helps against, also without our limit
        deepest = models.profile.stopping.deepest
        runs.append(Settings(photo=photo, damage=FIRST_DAMAGES[0], max_depth=deepest))
    for settings in runs:
        subject = make_subject(models, settings)
        record = merge_parts(run_first_stages(models, subject))
        record.pop("progress", None)
        record |= merge_parts(compare_methods(models, subject, settings))
        yield name_record(settings), record


def make_subject(models: Models, settings: Settings) -> Subject:
    """A sample, damaged as the settings say."""
    return Subject.make(SAMPLES[settings.photo].as_photo(models.profile), settings)


def merge_parts(parts: Iterable[Part]) -> Part:
    """One record of all parts; a later one of the same name replaces it."""
    return reduce(or_, parts, {})


def record_thumbnails(models: Models, photo: str) -> Recordings:
    """Every damage of a photo as a small picture of what the classifier sees."""
    yield photo, draw_thumbnails(SAMPLES[photo].pixels(models.profile))


def record_board(models: Models, photo: str) -> Recordings:
    """Every damage of a photo at full strength, and what each method makes of it, small."""
    rows = []
    for damage in CORRUPTIONS:
        settings = Settings(photo=photo, damage=damage, strength=BOARD_STRENGTH)
        subject, begun = make_subject(models, settings), time.monotonic()
        record = merge_parts(run_first_stages(models, subject))
        watcher = Watcher(models, subject, settings)
        record |= merge_parts(watcher.repair_from_fixed_depth())
        record |= merge_parts(watcher.repair_by_discriminator())
        assert subject.result is not None
        pixels = {"damaged": subject.damaged, "repaired": subject.result, **subject.images}
        cells = {name: {"reading": record[name]["reading"]} for name in CELLS}
        for name, cell in cells.items():
            cell["image"] = to_data_url(pixels[name], BOARD_SIDE, 80)
        rows.append({"damage": damage, "cells": cells, "found": record["found"]["sentence"]})
        print(f"  {photo} {damage} {time.monotonic() - begun:.0f} s", flush=True)
    yield photo, {"photo": photo, "strength": BOARD_STRENGTH, "rows": rows}


RECORDERS = {"runs": record_runs, "thumbnails": record_thumbnails, "boards": record_board}

if __name__ == "__main__":
    main()
