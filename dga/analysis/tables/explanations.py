"""What DGA+ found in pictures, beside what was done to them."""

from __future__ import annotations

import re

import pandas as pd

from dga.analysis.names import GROUPS, MEAN, group_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.tables.table import Rows, Table
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES

METHOD = "dga-plus"
# What a degradation's words (dga/degradation.py) begin with.
KINDS = {
    "exposure": ("gain", "offset"),
    "sharpness": ("blur",),
    "noise": ("noise", "impulses"),
}
NOTHING_FOUND, UNTOUCHED = "nothing", "unchanged"
TITLES = {
    **{kind: kind.capitalize() for kind in KINDS},
    NOTHING_FOUND: "Nothing",
    UNTOUCHED: "Left as it came",
}


def explanations(pooled: PooledRuns) -> Table:
    """Shares of pictures in which each kind of damage was found, by what was done to them."""
    lines = pooled.lines[pooled.lines["method"] == METHOD]
    if lines.empty:
        raise MissingRun(f"no run of {METHOD}")
    found = pd.DataFrame({kind: _holds(lines, words) for kind, words in KINDS.items()})
    several = found.sum(axis=1) > 1
    apart = {f"{kind}_alone": found[kind] & ~several for kind in KINDS} | {"several": several}
    found[NOTHING_FOUND] = lines["degradation"] == "none"
    found[UNTOUCHED] = lines["unchanged"].astype(bool)
    found = found.assign(**apart)  # of which each picture has one, or nothing
    present = set(lines["corruption"])
    order = [*CORRUPTIONS, *FAMILIES, MEAN, CLEAN]
    groups = [group for group in order if set(GROUPS[group]) <= present]
    rows = Rows()
    for group in groups:
        own = found[lines["corruption"].isin(GROUPS[group])]
        shares = {kind: round(100 * float(own[kind].mean()), 3) for kind in found}
        texts = {title: f"{shares[kind]:.0f}" for kind, title in TITLES.items()}
        shown = {"Corruption": group_title(group), **texts, "Pictures": str(len(own))}
        rows.add(shown, {"group": group, **shares, "images": len(own)})
    return Table(
        "explanations",
        f"What DGA+ found, {pooled.described}",
        "In how many of 100 pictures exposure, sharpness or noise was found wrong, and in how many "
        "nothing; one picture may have several. Left as it came: bit for bit.",
        *rows.frames,
        pooled.commands([METHOD]),
    )


def _holds(lines: pd.DataFrame, words: tuple[str, ...]) -> pd.Series:
    pattern = rf"(?:^|, )(?:{'|'.join(map(re.escape, words))})\b"
    return lines["degradation"].str.contains(pattern)
