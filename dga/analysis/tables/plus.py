"""Tables of DGA+: what it found in pictures, and what each of its stages is worth."""

import re

import pandas as pd

from dga.analysis.names import GROUPS, MEAN, SOURCE, MethodName, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import CorrectTable
from dga.analysis.tables.accuracy import INTERVALS
from dga.analysis.tables.table import Rows, Table, columns, percent, points
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES

METHOD = "dga-plus"
ORACLE = "an oracle over the candidates"
# What a degradation's words (dga/explanation/degradation.py) begin with.
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


def ablation(pooled: PooledRuns) -> Table:
    """Accuracy of each variant, and its difference from the whole method on the same images."""
    variants = [name for name in pooled.methods if _is_variant(name)]
    if METHOD not in pooled.methods or not variants:
        raise MissingRun("no run of dga-plus beside variants (dga-plus:exposure=false)")
    lines = pooled.lines
    if lines["alternatives"].notna().any():
        lines = pd.concat([lines, _oracle(lines)])
        variants.append(ORACLE)
    correct, rows = CorrectTable(lines), Rows()
    for name in (SOURCE, METHOD, *variants):
        cells = {group: correct.accuracy(name, group) for group in pooled.groups}
        texts = {group: percent(cell, interval=group == MEAN) for group, cell in cells.items()}
        title = name if name == ORACLE else method_title(name)
        rows.add_groups({"Method": title}, {"method": name}, cells, texts)
        loss = correct.difference(name, METHOD, MEAN) if name != METHOD else None
        rows.shown[-1]["Minus DGA+"] = points(loss) if loss else ""
        minus = {"method": name, "group": "minus dga-plus"}
        rows.numbers.append({**minus, **columns(loss, "points")})
    return Table(
        "ablation",
        f"Stages of DGA+, {pooled.described}",
        f"Top-1 accuracy in percent with {INTERVALS}, and the difference from the whole method "
        "on the images both have, in points. The oracle knows the label and takes any candidate "
        "inverse whose result is classified rightly: a ceiling, part of it luck.",
        *rows.frames,
        pooled.commands([METHOD, *(name for name in variants if name != ORACLE)]),
    )


def _is_variant(name: str) -> bool:
    method = MethodName.parse(name)
    only_asks = {key for key, _ in method.overrides} == {"alternatives"}
    return method.ablated and not method.permuted and not only_asks


def _oracle(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines of who would be right if any candidate's label may be taken."""
    known = lines[lines["alternatives"].notna()]
    pairs = zip(known["class"], known["alternatives"], strict=True)
    right = [label in labels for label, labels in pairs]
    return known.assign(method=ORACLE, correct=right)
