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
        "moved_part", "enlarged", "blur", "motion", "zoom", "glass",
    ),
    ("blocks",): ("pixelate",),
    ("veil",): ("snow", "frost", "fog", "brightness", "contrast", "rain", "haze"),
    ("exposure",): ("underexposed", "brightness"),
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

    ``found``: pictures by corruption and by their surest kind; how many there are, how many of them
    are called damaged, and how many of these by a right kind; the area under the curve of sureness
    against undamaged pictures; of those that are called the commonest right kind Spearman's
    correlation of their strengths with the true ones, and where a label is that kind's own name,
    its strength in that kind's unit, the median ``error``, a share of the true strength.
    ``sureness``: of findings in each interval the share whose kind is right. ``sure``: from which
    sureness on a finding counts. Raises ``ValueError`` where no line has a label, and without
    undamaged ones.
    """
    read = [line for line in lines if "findings" in line]
    findings = pd.DataFrame(
        [{"path": line["path"], **finding} for line in read for finding in line["findings"]],
        columns=["path", "kind", "sureness", "severity", "strength"],
    ).rename(columns={"strength": "measured"})
    by_sureness = findings.sort_values("sureness", ascending=False, kind="stable")
    surest = by_sureness.drop_duplicates("path")
    frame = labels[labels["path"].isin([line["path"] for line in read])]
    frame = frame.merge(surest, "left", on="path")
    frame = frame.fillna({"kind": NOTHING, "sureness": 0.0, "severity": 0.0})
    frame.loc[frame["sureness"] < sure, "kind"] = NOTHING
    frame["right"] = _find_right(frame)
    if not (frame["corruption"] == CLEAN).any():
        raise ValueError(f"No picture that is labelled {CLEAN} has been diagnosed.")
    found = pd.crosstab(frame["corruption"], frame["kind"])
    found["pictures"] = found.sum(axis=1)
    by_corruption = frame.groupby("corruption")
    found["damaged"] = by_corruption["kind"].agg(lambda kinds: (kinds != NOTHING).sum())
    found["right"] = by_corruption["right"].sum()
    clean = frame.loc[frame["corruption"] == CLEAN, "sureness"]
    for corruption, group in frame[frame["corruption"] != CLEAN].groupby("corruption"):
        scores = pd.concat([clean, group["sureness"]])
        is_damaged = [False] * len(clean) + [True] * len(group)
        found.loc[corruption, "AUC"] = roc_auc_score(is_damaged, scores)
        for name, value in _judge_strengths(group).items():
            found.loc[corruption, name] = value
    counted = findings[findings["sureness"] >= sure].merge(labels, on="path")
    bins = pd.cut(counted["sureness"], list(SURENESS_BINS), include_lowest=True)
    sureness = _find_right(counted).groupby(bins, observed=True).agg(["size", "mean"])
    sureness.columns = pd.Index(["findings", "right"])
    return {"found": found.reset_index(), "sureness": sureness.reset_index()}


def _find_right(frame: pd.DataFrame) -> pd.Series:
    """Which rows' kind tells of their corruption."""
    is_right = [
        kind == done or any(kind in kinds and done in names for kinds, names in _RIGHT.items())
        for kind, done in zip(frame["kind"], frame["corruption"], strict=True)
    ]
    return pd.Series(is_right, frame.index, dtype=bool)


def _judge_strengths(group: pd.DataFrame) -> dict[str, float]:
    """Of one corruption's pictures: how well its commonest right kind tells how strong it is."""
    kinds = group.loc[group["right"], "kind"].mode()
    told = group[group["kind"].isin(kinds[:1])]
    measures = dict[str, float]()
    if min(told["strength"].nunique(), told["severity"].nunique()) > 1:  # else it is not defined
        measures["Spearman"] = told["strength"].corr(told["severity"], method="spearman")
    if (told["kind"] == told["corruption"]).any():
        measures["error"] = (told["measured"] / told["strength"] - 1).abs().median()
    return measures


def format_comparison(tables: Mapping[str, pd.DataFrame]) -> str:
    """The tables as Markdown."""
    texts = (table.map(_format_cell).rename(columns=str) for table in tables.values())
    return "\n\n".join(to_markdown(text) for text in texts)


def write_comparison(
    tables: Mapping[str, pd.DataFrame], folder: Path, command: str, has_networks: bool
) -> None:
    """The tables as :data:`COMPARISON` in a folder, which the app's page Results reads.

    ``command``: that compared them; ``has_networks``: whether networks diagnosed, too.
    """
    rows = {
        name: json.loads(table.astype({table.columns[0]: str}).to_json(orient="records"))
        for name, table in tables.items()
    }
    facts = {"command": hide_paths([command])[0], "networks": has_networks}
    write_json(folder / COMPARISON, facts | rows)


def _format_cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.2f}"
    return str(value)
