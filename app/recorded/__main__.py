"""``python -m app.recorded``: record the runs, and the boards of All 15, that ship."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from app.recorded.store import FOLDER, write_record
from app.runs.pictures import encode_picture
from app.runs.samples import SAMPLES
from app.runs.settings import Settings
from app.runs.subject import Original, Subject
from app.runs.watch import Watcher, repair_photo, show_pictures, watch
from dga.corruptions import CORRUPTIONS
from dga.networks.models import Models, load_models

RECORDED = ("espresso", "panda", "goldfish", "volleyball")
"""Samples whose pictures may be passed on."""
BOARD_SIDE, BOARD_STRENGTH = 112, 5
CELLS = ("damaged", "repaired", "paper", "guided", "fixed")


def main() -> None:
    """Record what was asked for; a picture takes some seconds for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("runs", "boards"))
    parser.add_argument("--samples", nargs="+", choices=RECORDED, default=RECORDED)
    parser.add_argument("--out", type=Path, default=FOLDER.parent)
    options = parser.parse_args()
    models = load_models("photo")
    for name in options.samples:
        if options.only != "boards":
            settings = Settings(photo=name)
            path = write_record(settings, record_run(models, settings), options.out / "runs")
            print(path, path.stat().st_size)
        if options.only != "runs":
            path = options.out / "boards" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(record_board(models, name)) + "\n", "utf-8")
            print(path, path.stat().st_size)


def make_subject(models: Models, settings: Settings) -> Subject:
    """A sample, damaged as the settings say."""
    sample = SAMPLES[settings.photo]
    pixels = sample.pixels(models.profile)
    return Subject.make(Original(settings.photo, sample.name, pixels, sample.label), settings)


def record_run(models: Models, settings: Settings) -> dict[str, Any]:
    """The whole record, as the page would have received it."""
    record: dict[str, Any] = {}
    for part in watch(models, make_subject(models, settings), settings):
        record |= part
    record.pop("progress", None)
    return record


def record_board(models: Models, photo: str) -> dict[str, Any]:
    """Every damage of a photo at full strength, and what each method makes of it, small."""
    rows = []
    for damage in CORRUPTIONS:
        settings = Settings(photo=photo, damage=damage, strength=BOARD_STRENGTH)
        subject, begun = make_subject(models, settings), time.monotonic()
        record: dict[str, Any] = {}
        for part in (*show_pictures(models, subject), *repair_photo(models, subject)):
            record |= part
        watcher = Watcher(models, subject, settings)
        for part in (*watcher.repair_from_fixed_depth(), *watcher.repair_by_discriminator()):
            record |= part
        pixels = {"damaged": subject.damaged, "repaired": subject.parts["result"]}
        cells = {name: {"reading": record[name]["reading"]} for name in CELLS}
        for name, cell in cells.items():
            image = pixels.get(name, watcher.images.get(name))
            cell["image"] = encode_picture(image, BOARD_SIDE, 80)
        rows.append({"damage": damage, "cells": cells, "found": record["found"]["sentence"]})
        print(f"  {photo} {damage} {time.monotonic() - begun:.0f} s", flush=True)
    return {"photo": photo, "strength": BOARD_STRENGTH, "rows": rows}


if __name__ == "__main__":
    main()
