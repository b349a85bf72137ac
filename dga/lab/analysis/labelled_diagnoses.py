"""Diagnoses against labels: what was found of the damage that is known."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.metrics import roc_auc_score

from dga.corruptions import CLEAN
from dga.io.files import write_json
from dga.lab.analysis.report import hide_paths
from dga.lab.analysis.tables import to_markdown

COMPARISON = "labelled.json"
"""What :func:`write_comparison` writes, beside the lines that were compared."""
NOTHING = "none"
"""Stands in the place of a kind where no finding counts."""
ALL = "all"
"""Stands in the place of a strength for all of them together."""
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
    ("warp",): ("elastic_transform",),
    ("veil",): ("snow", "frost", "fog", "brightness", "contrast", "rain", "haze"),
    ("exposure",): ("underexposed", "brightness"),
    ("jpeg",): ("jpeg_compression", "jpeg_twice"),
}  # fmt: skip
"""Kinds that are right for some corruptions; every other kind is right for its own name alone."""


def read_labels(path: Path) -> pd.DataFrame:
    """A CSV of each picture's path, the corruption that was applied (clean: none) and its strength.

    Other columns are other tools' scores. Raises ``ValueError`` where a column is missing.
    """
    labels = pd.read_csv(path)
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"{path} has no column {missing[0]}: labels are {', '.join(LABELS)}.")
    return labels


def compare_with_labels(
    lines: Iterable[Mapping[str, Any]], labels: pd.DataFrame, sure: float
) -> dict[str, pd.DataFrame]:
    """Three tables: what was found, by corruption; how often findings of a sureness are right; and
    how well damaged pictures are told from undamaged ones, by corruption and strength.

    ``lines``: those of diagnosed pictures; ``sure``: the sureness, 0 to 1, from which on a finding
    counts. The columns of ``found``, a row for each corruption:

    - a column for each kind of damage: of how many pictures it is the surest finding;
    - ``pictures``; ``damaged``: how many of them are called damaged; ``right``: how many of these
      by a right kind;
    - ``AUC``: the area under the ROC curve of sureness against that of undamaged pictures;
    - ``Spearman``: the correlation of true and measured strengths, where the commonest right kind
      was found;
    - ``error``: the median error of these strengths as a share of the true one, where the label is
      the name of the kind itself, so that both have one unit.

    ``sureness``: the number of findings in each interval, and the share whose kind is right.
    ``separation``: ``AUC`` as above, of each strength that several pictures have and of all, and
    the same of each other score in ``labels``, at its better end. Raises ``ValueError`` unless a
    picture that is labelled as undamaged has been diagnosed.
    """
    read = [line for line in lines if "findings" in line]
    findings = pd.DataFrame(
        [{"path": line["path"], **finding} for line in read for finding in line["findings"]],
        columns=["path", "kind", "sureness", "severity", "strength"],
    ).rename(columns={"strength": "measured"})
    frame = labels[labels["path"].isin([line["path"] for line in read])]
    if not (frame["corruption"] == CLEAN).any():
        raise ValueError(f"No picture that is labelled {CLEAN} has been diagnosed.")
    by_sureness = findings.sort_values("sureness", ascending=False, kind="stable")
    frame = frame.merge(by_sureness.drop_duplicates("path"), "left", on="path")
    frame = frame.fillna({"kind": NOTHING, "sureness": 0.0, "severity": 0.0})
    frame.loc[frame["sureness"] < sure, "kind"] = NOTHING
    frame["right"] = _find_right(frame)
    counted = findings[findings["sureness"] >= sure].merge(labels, on="path")
    bins = pd.cut(counted["sureness"], list(SURENESS_BINS), include_lowest=True)
    sureness = _find_right(counted).groupby(bins, observed=True).agg(["size", "mean"])
    sureness.columns = pd.Index(["findings", "right"])
    separation = _separate(frame, [name for name in labels if name not in LABELS])
    found = _count_found(frame)
    of_all = separation[separation["strength"] == ALL].set_index("corruption")
    found.insert(found.columns.get_loc("right") + 1, "AUC", found["corruption"].map(of_all["AUC"]))
    return {"found": found, "sureness": sureness.reset_index(), "separation": separation}


def _count_found(frame: pd.DataFrame) -> pd.DataFrame:
    """The table ``found`` of :func:`compare_with_labels`; ``frame``: a row for each picture."""
    found = pd.crosstab(frame["corruption"], frame["kind"])
    found["pictures"] = found.sum(axis=1)
    by_corruption = frame.groupby("corruption")
    found["damaged"] = by_corruption["kind"].agg(lambda kinds: (kinds != NOTHING).sum())
    found["right"] = by_corruption["right"].sum()
    for corruption, group in frame[frame["corruption"] != CLEAN].groupby("corruption"):
        for name, value in _judge_strengths(group).items():
            found.loc[corruption, name] = value
    return found.reset_index()


def _separate(frame: pd.DataFrame, others: Sequence[str]) -> pd.DataFrame:
    """The table ``separation`` of :func:`compare_with_labels`; ``others``: columns of scores."""
    clean, rows = frame[frame["corruption"] == CLEAN], list[dict[str, Any]]()
    for corruption, group in frame[frame["corruption"] != CLEAN].groupby("corruption"):
        by_strength = ((f"{value:g}", part) for value, part in group.groupby("strength"))
        for strength, part in [(ALL, group), *by_strength]:
            if strength != ALL and len(part) == 1:
                continue  # each picture has a strength of its own
            both = pd.concat([clean, part])
            is_damaged = both["corruption"] != CLEAN
            row = {"corruption": corruption, "strength": strength, "pictures": len(part)}
            row["AUC"] = roc_auc_score(is_damaged, both["sureness"])
            areas = {name: roc_auc_score(is_damaged, both[name]) for name in others}
            rows.append(row | {name: max(area, 1 - area) for name, area in areas.items()})
    return pd.DataFrame(rows, columns=["corruption", "strength", "pictures", "AUC", *others])


def _find_right(frame: pd.DataFrame) -> pd.Series:
    """Whether the kind that was found is a right one, of each row."""
    is_right = frame["kind"] == frame["corruption"]
    for kinds, corruptions in _RIGHT.items():
        is_right |= frame["kind"].isin(kinds) & frame["corruption"].isin(corruptions)
    return is_right


def _judge_strengths(group: pd.DataFrame) -> dict[str, float]:
    """How well one corruption's strength is measured, where its commonest right kind is found."""
    kinds = group.loc[group["right"], "kind"].mode()
    part = group[group["kind"].isin(kinds[:1])]
    measures = dict[str, float]()
    if min(part["strength"].nunique(), part["severity"].nunique()) > 1:  # else it is not defined
        measures["Spearman"] = part["strength"].corr(part["severity"], method="spearman")
    if (part["kind"] == part["corruption"]).any():
        measures["error"] = (part["measured"] / part["strength"] - 1).abs().median()
    return measures


def format_comparison(tables: Mapping[str, pd.DataFrame]) -> str:
    """The tables as Markdown."""
    texts = (table.map(_format_cell).rename(columns=str) for table in tables.values())
    return "\n\n".join(to_markdown(text) for text in texts)


def write_comparison(
    tables: Mapping[str, pd.DataFrame], folder: Path, command: str, has_networks: bool
) -> None:
    """Write the tables as :data:`COMPARISON` into a folder; the app's page Results reads it.

    ``command``: the one that compared them; ``has_networks``: whether networks took part in the
    diagnosis.
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
