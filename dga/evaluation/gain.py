"""Does repair help a classifier? Its own answers on damaged pictures, before and after.

Without labels a reading counts as right where it is the classifier's own of the undamaged picture.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from dga.analysis.statistics import CorrectTable, Estimate
from dga.corruptions import CLEAN, CORRUPTIONS, check_corruption
from dga.data.imagenet_c import are_wnids
from dga.data.uploads import is_picture
from dga.evaluation.plan import Plan
from dga.evaluation.results_file import ResultRow
from dga.evaluation.run import Results, evaluate
from dga.networks.models import Models
from dga.systems import parse

BEFORE, AFTER = "source", "dga-plus"


def measure_gain(
    models: Models,
    data: Path,
    out: Path,
    pictures: int,
    severity: int,
    corruptions: Sequence[str] = CORRUPTIONS,
    command: str = "",
) -> Results:
    """Read pictures undamaged and under each corruption, as they are and repaired.

    ``data``: a folder or zip of class/picture, or a folder of any; at most ``pictures`` of it. The
    same call goes on where it was stopped. Raises ``ValueError`` for data without pictures.
    """
    for name in corruptions:
        check_corruption(name, severity)
    labelled = is_labelled(data, models.profile.classifier.classes)
    plan = Plan(
        (str(data.absolute()),),
        (CLEAN, *corruptions),
        severity,
        labelled=labelled,
        most=pictures,
    )
    systems = {name: replace(parse(models.profile, name), name=name) for name in (BEFORE, AFTER)}
    results = evaluate(models, systems, plan, out, batch=8, resume=True, command=command)
    if labelled or not results.lines:
        return results
    own = {
        row["path"]: row["prediction"]
        for row in results.lines
        if (row["corruption"], row["method"]) == (CLEAN, BEFORE)
    }
    lines = [{**row, "correct": row["prediction"] == own.get(row["path"])} for row in results.lines]
    return replace(results, lines=lines)


def is_labelled(data: Path, classes: Sequence[str]) -> bool:
    """Whether all pictures lie in folders named after classes, or after ImageNet's."""
    if data.is_file():
        return zipfile.is_zipfile(data)
    paths = [p for p in data.rglob("*") if is_picture(p)]
    folders = {p.parent.name for p in paths if p.parent.parent == data}
    if len(folders) == 0 or any(p.parent.parent != data for p in paths):
        return False
    return are_wnids(folders) or {f.replace("_", " ") for f in folders} <= set(classes)


def tell_gain(rows: Sequence[ResultRow], labelled: bool) -> str:
    """The answer in a sentence, and a Markdown table: percent right, gain with its 95 % interval.

    Intervals are over photographs; ``gained``, ``lost``: readings that repair put right or wrong.
    """
    frame = pd.DataFrame(rows)
    table = CorrectTable(frame)
    right = frame.pivot_table("correct", ["corruption", "path"], "method", aggfunc="first")
    names = [name for name in frame["corruption"].unique() if name != CLEAN]
    lines = [
        "| | damaged | repaired | gain | gained / lost | seconds |",
        "|---|---|---|---|---|---|",
    ]
    spent = frame[frame["method"] == AFTER].groupby("corruption")["seconds"].median()
    for name in (*names, CLEAN):
        change = table.difference(AFTER, BEFORE, name)
        before, after = (table.accuracy(method, name) for method in (BEFORE, AFTER))
        if change is None or before is None or after is None:
            continue
        mine = right.loc[name].astype(bool)
        gained, lost = (mine[a] & ~mine[b] for a, b in ((AFTER, BEFORE), (BEFORE, AFTER)))
        lines.append(
            f"| {name} | {100 * before.value:.1f} | {100 * after.value:.1f} | {_points(change)} | "
            f"{gained.sum()} / {lost.sum()} | {spent[name]:.2f} |"
        )
    by_picture = right.drop(index=CLEAN, errors="ignore").astype(float).groupby("path").mean()
    change = by_picture[AFTER] - by_picture[BEFORE]
    answer = _answer(change, "right" if labelled else "as undamaged")
    return "\n".join([answer, "", *lines])


def _answer(change: pd.Series, what: str) -> str:
    from scipy.stats import bootstrap

    count = len(change)
    if count < 2:
        return f"One picture says little: {100 * change.mean():+.1f} points are read {what}."
    low = high = 100 * change.mean()
    if change.nunique() > 1:  # equal ones have no spread to draw from
        interval = bootstrap((change.to_numpy(),), lambda x, axis: x.mean(axis=axis), rng=0)
        low, high = (100 * end for end in interval.confidence_interval)
    sure = "Repair helps" if low > 0 else "Repair harms" if high < 0 else "Repair decides nothing"
    return (
        f"{sure}: {100 * change.mean():+.1f} points more are read {what} ({low:+.1f} to "
        f"{high:+.1f}, 95 %), over {count} pictures under each corruption."
    )


def _points(change: Estimate) -> str:
    return f"{100 * change.value:+.1f} ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
