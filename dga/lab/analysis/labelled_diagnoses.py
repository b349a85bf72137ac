"""Diagnoses against labels: what was found of the damage that is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.metrics import roc_auc_score

from dga.corruptions import CLEAN
from dga.io.files import write_json
from dga.lab.analysis.report import hide_paths
from dga.lab.analysis.table import to_markdown

COMPARISON = "labelled.json"
"""What :func:`write_comparison` writes, beside the lines that were compared."""
NOTHING = "none"
"""Instead of a kind, where no finding counts."""
LABELS = ("path", "corruption", "strength")
SURENESS_BINS = (0.5, 0.7, 0.87, 0.93, 1.0)
_RIGHT = {
    ("noise", "impulses"): (
        "gaussian_noise", "shot_noise", "impulse_noise", "sensor_noise", "enlarged_noise",
        "film_grain", "blue_noise", "noise_in_frame", "underexposed",
    ),
    ("blur", "motion", "zoom", "glass", "soft"): (
        "defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "lens_blur", "camera_shake",
        "moved_part", "enlarged",
    ),
    ("blocks",): ("pixelate",),
    ("veil",): ("snow", "frost", "fog", "brightness", "contrast", "rain", "haze"),
    ("exposure",): ("underexposed",),
    ("jpeg",): ("jpeg_compression", "jpeg_twice"),
}  # fmt: skip
"""Kinds that are right, and the corruptions of which they are; another one's is of its own name."""


def read_labels(path: Path) -> pd.DataFrame:
    """A CSV of each picture's path, the corruption that was applied (clean: none) and its strength.

    Raises ``ValueError`` where a column is missing.
    """
    labels = pd.read_csv(path)
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"{path} has no column {missing[0]}: labels are {', '.join(LABELS)}.")
    return labels


def compare_with_labels(
    lines: Iterable[Mapping[str, Any]], labels: pd.DataFrame, sure: float
) -> dict[str, pd.DataFrame]:
    """What was found, by corruption, and how often a sureness is right.

    ``found``: pictures by corruption and by their surest kind; how many there are, and how many of
    them are called damaged; the area under the curve of sureness against undamaged pictures;
    Spearman's correlation of the true strength with the severity of the
    kind that is found most (0 where it is not). ``sureness``: of findings in each interval the
    share whose kind is right. ``sure``: from which sureness on a finding counts.
    Raises ``ValueError`` where no line has a label, and without undamaged ones.
    """
    read = [line for line in lines if "findings" in line]
    findings = pd.DataFrame(
        [{"path": line["path"], **finding} for line in read for finding in line["findings"]],
        columns=["path", "kind", "sureness", "severity"],
    )
    by_sureness = findings.sort_values("sureness", ascending=False, kind="stable")
    surest = by_sureness.drop_duplicates("path")
    frame = labels[labels["path"].isin([line["path"] for line in read])]
    frame = frame.merge(surest, "left", on="path")
    frame = frame.fillna({"kind": NOTHING, "sureness": 0.0, "severity": 0.0})
    frame.loc[frame["sureness"] < sure, "kind"] = NOTHING
    if not (frame["corruption"] == CLEAN).any():
        raise ValueError(f"No picture that is labelled {CLEAN} has been diagnosed.")
    found = pd.crosstab(frame["corruption"], frame["kind"])
    found["pictures"] = found.sum(axis=1)
    found["damaged"] = (frame["kind"] != NOTHING).groupby(frame["corruption"]).sum()
    clean = frame.loc[frame["corruption"] == CLEAN, "sureness"]
    for corruption, group in frame[frame["corruption"] != CLEAN].groupby("corruption"):
        scores = pd.concat([clean, group["sureness"]])
        is_damaged = [False] * len(clean) + [True] * len(group)
        found.loc[corruption, "AUC"] = roc_auc_score(is_damaged, scores)
        kinds = group.loc[group["kind"] != NOTHING, "kind"].mode()
        severity = group["severity"].where(group["kind"].isin(kinds[:1]), 0.0)
        if min(group["strength"].nunique(), severity.nunique()) > 1:  # else it is not defined
            found.loc[corruption, "Spearman"] = group["strength"].corr(severity, method="spearman")
    counted = findings[findings["sureness"] >= sure].merge(labels, on="path")
    is_right = pd.Series(map(_is_right, counted["kind"], counted["corruption"]), dtype=bool)
    bins = pd.cut(counted["sureness"], list(SURENESS_BINS), include_lowest=True)
    sureness = is_right.groupby(bins, observed=True).agg(["size", "mean"])
    sureness.columns = pd.Index(["findings", "right"])
    return {"found": found.reset_index(), "sureness": sureness.reset_index()}


def _is_right(kind: str, corruption: str) -> bool:
    """Whether a kind tells of what was done."""
    return any(kind in kinds and corruption in done for kinds, done in _RIGHT.items()) or (
        kind == corruption
    )


def format_comparison(tables: Mapping[str, pd.DataFrame]) -> str:
    """The tables as Markdown."""
    texts = (table.map(_format_cell).rename(columns=str) for table in tables.values())
    return "\n\n".join(to_markdown(text) for text in texts)


def write_comparison(
    tables: Mapping[str, pd.DataFrame], folder: Path, command: str, is_fast: bool
) -> None:
    """The tables as :data:`COMPARISON` in a folder, which the app's page Results reads.

    ``command``: that diagnosed the pictures; ``is_fast``: without networks.
    """
    rows = {
        name: json.loads(table.astype({table.columns[0]: str}).to_json(orient="records"))
        for name, table in tables.items()
    }
    write_json(
        folder / COMPARISON, {"command": hide_paths([command])[0], "networks": not is_fast, **rows}
    )


def _format_cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.2f}"
    return str(value)
