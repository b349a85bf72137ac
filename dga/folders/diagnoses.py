"""Many pictures diagnosed: a line each, a table, a report, and on demand the repaired pictures."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dga.data.encoding import encode_picture
from dga.data.picture_files import StoredPicture, write_picture_file
from dga.folders.diagnosis_report import Criteria, Summary, Thumbnails, render_report
from dga.folders.picture_folder import ERRORS, PictureFolder, Worker
from dga.folders.pictures import Picture
from dga.folders.repairs import RepairSummary, repair_all
from dga.folders.workers import TaskMap
from dga.images import Pixels
from dga.io.files import explain_writing, write_atomically
from dga.weights.classifiers import describe_classifier

TABLE, REPORT, REPAIRED = "diagnoses.csv", "report.html", "repaired"
"""What lies in a folder of diagnoses beside its lines: two files, and a folder of pictures."""
COLUMNS = (
    "path", "class", "width", "height", "format", "photograph", "damaged", "kind", "strength",
    "unit", "description", "sureness", "undoable", "also", "reading_came", "probability_came",
    "reading_repaired", "probability_repaired", "error",
)  # fmt: skip
"""The table's columns, described in README.md beside this file; ``kind`` to ``undoable`` are those
of the surest finding."""
SHOWN_SIDE = 240
"""Most pixels a side of a thumbnail."""
UNDOABLE = {True: "yes", False: "no", None: "only a repair tells"}


def diagnose_all(
    sources: Sequence[Path],
    out: Path,
    worker: Worker,
    run: TaskMap[Any, Any],
    criteria: Criteria,
    is_repaired: bool = False,
    command: str = "",
) -> Summary:
    """Diagnose every picture of some sources; killed, the same call goes on.

    ``out`` gets lines, a table, the report and repaired pictures. Repaired are, with
    ``is_repaired``, all pictures in which something counts and may be undone; without, those of
    them that the report shows, if networks are asked at all. ``command``: that is named in the
    report. Raises what :func:`~dga.folders.repairs.repair_all` does.
    """
    folder = PictureFolder.of(sources, out)
    repaired = replace(folder, out=out / REPAIRED)
    settings: dict[str, Any] = {"networks": False, "methods": {}}
    if not worker.is_fast:
        readings = worker.has_readings and describe_classifier(worker.models.profile.classifier)
        settings = {"readings": readings, **worker.describe_repair()}
    with folder.open(settings):
        folder.work(worker.diagnose, run, "Diagnose")
        write_table(folder, criteria)
        summary = Summary.of(folder.read_lines(), criteria, folder.denied)
        shown = set(summary.worst_paths)
        chosen = {
            line["path"]
            for line in folder.read_lines()
            if criteria.has_repair(line) and (is_repaired or line["path"] in shown)
        }
        repairs = RepairSummary()
        if chosen and (is_repaired or not worker.is_fast):
            repairs = repair_all(repaired, worker, run, chosen)
        if is_repaired:
            failed = repairs.failed + repairs.unreadable
            summary = replace(summary, failed=failed, losses=repairs.losses)
        thumbnails = _show_repairs(folder, repaired, shown)
        page = render_report(summary, thumbnails, command, is_repaired, worker.is_fast)
        write_picture_file(out / REPORT, page.encode("utf-8", "backslashreplace"))
    return summary


def _show_repairs(folder: PictureFolder, repaired: PictureFolder, names: set[str]) -> Thumbnails:
    """Thumbnails of some pictures, by name."""
    files = {
        line["path"]: repaired.out / line["repaired"]
        for line in repaired.read_lines()
        if line["path"] in names and "repaired" in line
    }
    return {name: _make_thumbnails(folder.pictures[name], files.get(name)) for name in names}


def _make_thumbnails(picture: Picture, repaired: Path | None) -> tuple[bytes, bytes]:
    """Thumbnails of a picture as it came and repaired, as WebP.

    Empty bytes where a picture cannot be read, and where the repair has changed nothing.
    """
    try:
        before = picture.read().pixels
        after = StoredPicture.read(repaired).pixels if repaired else before
    except ERRORS:
        return b"", b""
    is_same = np.array_equal(before, after)
    return _make_thumbnail(before), b"" if is_same else _make_thumbnail(after)


def _make_thumbnail(pixels: Pixels) -> bytes:
    """The middle of a picture, not resized, so that noise and blur are seen, as WebP."""
    top, left = (max(0, side - SHOWN_SIDE) // 2 for side in pixels.shape[:2])
    middle = pixels[top : top + SHOWN_SIDE, left : left + SHOWN_SIDE]
    return encode_picture(Image.fromarray(middle), "WEBP", quality=85)


def write_table(folder: PictureFolder, criteria: Criteria) -> None:
    """Write a table for spreadsheets: a row for each picture, with the findings that count."""
    path = folder.out / TABLE
    with (
        explain_writing(path),
        write_atomically(path) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        table.writeheader()
        for line in folder.read_lines():
            row, findings = dict(line), criteria.list_findings(line)
            if "error" not in line:
                row["damaged"] = bool(findings)
            if findings:
                row |= findings[0]
                row["undoable"] = UNDOABLE[row["undoable"]]
                row["also"] = "; ".join(finding["description"] for finding in findings[1:])
            table.writerow(row)
