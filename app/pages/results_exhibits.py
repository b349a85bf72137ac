"""Tables of the page Results, and figures that ship as pictures."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from app.pages.results_numbers import Row, full_name, points
from app.runs.sentences import DAMAGE_NAMES
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES
from dga.lab.analysis.names import (
    GROUPS,
    PLUS,
    SOURCE,
    STREAM_GROUPS,
    format_title,
    group_title,
)

DASH = "\N{EN DASH}"
Content = Mapping[str, Any]


def tabulate(exhibit: Content) -> Content:
    """An exhibit's ``head`` and ``rows`` as strings; each two methods below a row that names them.

    Ours first.
    """
    rows = sorted(exhibit["rows"], key=lambda row: row["method"] != PLUS)
    columns: dict[str, Callable[[Row], str]] = {
        "Pictures": lambda row: group_name(row["group"]),
        "Right, %": lambda row: f"{row['right']:.1f}",
        "Against, %": lambda row: f"{row['other_right']:.1f}",
        "Difference, points": lambda row: points(row, unit=""),
        "Gained / lost": lambda row: f"{row['gained']} / {row['lost']}",
    }
    if exhibit["key"] == "undamaged":
        columns["Bit for bit"] = lambda row: f"{row['unchanged']} of {row['pictures']}"
        columns["Same reading"] = lambda row: f"{row['same_reading']} of {row['pictures']}"
    if "severity-" in exhibit["key"]:
        columns["PSNR, dB"] = _psnr
    columns["Seconds"] = lambda row: f"{row['seconds']:.1f}"
    columns["Photographs"] = lambda row: str(row["photographs"])
    by_pair = defaultdict[str, list[list[str]]](list)
    for row in rows:
        names = f"{full_name(row['method'])}, against: {full_name(row['other'])}"
        by_pair[names].append([cell(row) for cell in columns.values()])
    cells = [line for names, lines in by_pair.items() for line in ([names], *lines)]
    return {"head": list(columns), "rows": cells}


def group_name(group: str) -> str:
    """Grain (shot noise), Snow, All weather, Mean of 15, Strength 5."""
    if group == CLEAN:
        return "Undamaged"
    if group in FAMILIES:
        return f"All {group}"
    if group in GROUPS.keys() - {*CORRUPTIONS} or group in STREAM_GROUPS:
        return group_title(group).replace("Severity", "Strength")
    plain, formal = DAMAGE_NAMES.get(group, format_title(group)), format_title(group)
    return plain if plain == formal else f"{plain} ({formal})"


def _psnr(row: Row) -> str:
    if row["psnr"] is None or row["other"] != SOURCE:
        return DASH
    return f"{row['other_psnr']:.1f} → {row['psnr']:.1f}"


def read_exhibits(folder: Path) -> Iterator[Content]:
    """Tables and pictures of the index that lies there; nothing without one."""
    index = folder / "index.json"
    entries = json.loads(index.read_text("utf-8"))["exhibits"] if index.is_file() else []
    for entry in entries:
        files = {ending: folder / name for ending, name in entry["files"].items()}
        if "png" in files:
            with Image.open(files["png"]) as picture:
                yield {**entry, "size": picture.size}
        else:
            head, *rows = read_markdown_table(files["md"])
            yield {**entry, "table": {"head": head, "rows": rows}}


def read_markdown_table(path: Path) -> list[list[str]]:
    """Cells of a file's one table, without the line below its head."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip(" *") for cell in line.strip().strip("|").split("|")] for line in lines]
    return [row for row in rows if not set("".join(row)) <= set("-:")]
