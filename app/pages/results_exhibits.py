"""Tables and figures of the page Results."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from app.pages.results_answers import list_kinds, name_kind
from app.pages.results_numbers import MARKS, NAMES, PAPER, RIVAL, Row, accuracies, full_name, points
from app.runs.sentences import DAMAGE_NAMES
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES
from dga.lab.analysis.names import (
    ALL,
    GROUPS,
    PLUS,
    SOURCE,
    STREAM_GROUPS,
    format_group,
    format_title,
)

COLORS = {"ours": "--acc", "paper": "--dgag", "rival": "--dda", "": "--ink3"}
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
        return format_group(group).replace("Severity", "Strength")
    plain, formal = DAMAGE_NAMES.get(group, format_title(group)), format_title(group)
    return plain if plain == formal else f"{plain} ({formal})"


def _psnr(row: Row) -> str:
    if row["psnr"] is None or row["other"] != SOURCE:
        return DASH
    return f"{row['other_psnr']:.1f} → {row['psnr']:.1f}"


def draw_figure(exhibit: Content) -> dict[str, Any] | None:
    """A plotly figure, its colours named by CSS variables; None where a table says it all."""
    rows = exhibit["rows"]
    if "severity-" not in exhibit["key"]:
        alls = [row for row in rows if row["group"] == ALL]
        return _draw_intervals(alls) if alls else None
    pairs = list_kinds(rows)[::-1]  # plotly draws from below
    return _draw_changes(pairs, rows) if pairs else None


def _draw_changes(pairs: Sequence[Row], rows: Sequence[Row]) -> dict[str, Any]:
    """A line a kind of damage, from what is right without repair to what is right with it.

    On it the paper's method and fixed noise, where ``rows`` have them of every kind.
    """
    kinds = [row["group"] for row in pairs]
    measured = [accuracies([row for row in rows if row["group"] == kind]) for kind in kinds]
    names = [name_kind(kind) for kind in kinds]
    ends = {"x": [x for row in pairs for x in (row["other_right"], row["right"], None)]}
    ends["y"] = [y for name in names for y in (name, name, None)]
    dots = {
        "type": "scatter", "mode": "markers", "cliponaxis": False, "y": names,
        "customdata": [points(row) for row in pairs],
        "hovertemplate": "%{y}: %{x:.1f} %<br>%{customdata}<extra></extra>",
    }  # fmt: skip
    hollow = {"color": "--card", "size": 11, "line": {"color": "--cor", "width": 2}}
    filled = {"color": "--acc", "size": 12}
    rivals = [
        {**dots, "x": [one[method][0] for one in measured], "name": full_name(method),
         "hovertemplate": "%{y}: %{x:.1f} %<extra></extra>",
         "marker": {"color": COLORS[MARKS[method]], "size": 9, "symbol": symbol}}
        for method, symbol in ((PAPER[0], "diamond"), (RIVAL, "square"))
        if all(method in one for one in measured)
    ]  # fmt: skip
    data = [
        {"type": "scatter", "mode": "lines", **ends, "line": {"color": "--line2", "width": 3},
         "hoverinfo": "skip", "showlegend": False},
        {**dots, "x": [r["other_right"] for r in pairs], "name": NAMES[SOURCE], "marker": hollow},
        {**dots, "x": [r["right"] for r in pairs], "name": NAMES[PLUS], "marker": filled,
         "error_x": _error_bars([(r["right"], r["right_low"], r["right_high"]) for r in pairs])},
        *rivals,
    ]  # fmt: skip
    return {"data": data, "layout": _layout(len(pairs))}


def _draw_intervals(rows: Sequence[Row]) -> dict[str, Any]:
    """A dot a method with its interval, the best on top."""
    values = sorted(accuracies(rows).items(), key=lambda item: item[1])
    trace = {
        "type": "scatter", "mode": "markers", "showlegend": False,
        "x": [right for _, (right, _, _) in values],
        "y": [full_name(method) for method, _ in values],
        "error_x": _error_bars([value for _, value in values]),
        "marker": {"size": 12, "color": [COLORS[MARKS.get(name, "")] for name, _ in values]},
        "customdata": [f"{low:.1f} to {high:.1f}" for _, (_, low, high) in values],
        "hovertemplate": "%{y}: %{x:.1f} %<br>%{customdata}<extra></extra>",
    }  # fmt: skip
    return {"data": [trace], "layout": _layout(len(values))}


def _error_bars(values: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    """Of accuracies, each with its interval."""
    return {
        "type": "data", "symmetric": False, "color": "--line2", "thickness": 1.5,
        "array": [high - right for right, _, high in values],
        "arrayminus": [right - low for right, low, _ in values],
    }  # fmt: skip


def _layout(lines: int) -> dict[str, Any]:
    axis = {"gridcolor": "--line", "linecolor": "--line", "zeroline": False, "fixedrange": True}
    return {
        "height": 110 + 28 * lines, "margin": {"l": 8, "r": 16, "t": 40, "b": 56},
        "paper_bgcolor": "--card", "plot_bgcolor": "--card",
        "font": {"color": "--ink2", "size": 14},
        "xaxis": {**axis, "range": [-2, 102], "title": {"text": "Read right, of 100"}},
        "yaxis": {**axis, "automargin": True, "type": "category"},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest", "dragmode": False,
    }  # fmt: skip


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
