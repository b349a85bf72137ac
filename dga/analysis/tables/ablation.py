"""DGA+ with each of its stages alone and each removed, and what an oracle would choose."""

from __future__ import annotations

import pandas as pd

from dga.analysis.names import MEAN, MethodName, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import CorrectTable
from dga.analysis.sweep import SOURCE
from dga.analysis.tables.accuracy import INTERVALS
from dga.analysis.tables.table import Rows, Table, columns, percent, points

BASE = "dga-plus"
ORACLE = "an oracle over the candidates"


def ablation(pooled: PooledRuns) -> Table:
    """Accuracy of each variant, and its difference from the whole method on the same images."""
    variants = [name for name in pooled.methods if _is_variant(name)]
    if BASE not in pooled.methods or not variants:
        raise MissingRun("no run of dga-plus beside variants (dga-plus:exposure=false)")
    lines = pooled.lines
    if lines["alternatives"].notna().any():
        lines = pd.concat([lines, _oracle(lines)])
        variants.append(ORACLE)
    correct, rows = CorrectTable(lines), Rows()
    for name in (SOURCE, BASE, *variants):
        cells = {group: correct.accuracy(name, group) for group in pooled.groups}
        texts = {group: percent(cell, interval=group == MEAN) for group, cell in cells.items()}
        title = name if name == ORACLE else method_title(name)
        rows.add_groups({"Method": title}, {"method": name}, cells, texts)
        loss = correct.difference(name, BASE, MEAN) if name != BASE else None
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
        pooled.commands([BASE, *(name for name in variants if name != ORACLE)]),
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
