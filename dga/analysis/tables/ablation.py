"""What each stage of DGA+ is worth."""

import pandas as pd

from dga.analysis.names import MEAN, SOURCE, MethodName, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import CorrectTable
from dga.analysis.tables.accuracy import INTERVALS
from dga.analysis.tables.table import Rows, Table, to_columns, to_percent, to_points

METHOD = "dga-plus"
ORACLE = "an oracle over the candidates"


def make_ablation(pooled: PooledRuns) -> Table:
    """Accuracy of each variant, and its difference from the whole method on the same images."""
    variants = [name for name in pooled.methods if _is_variant(name)]
    if METHOD not in pooled.methods or not variants:
        raise MissingRun("no run of dga-plus beside variants (dga-plus:exposure=false)")
    commands = pooled.commands([METHOD, *variants])
    lines = pooled.lines
    if lines["alternatives"].notna().any():
        lines = pd.concat([lines, _oracle_lines(lines)])
        variants.append(ORACLE)
    correct, rows = CorrectTable(lines), Rows()
    for name in (SOURCE, METHOD, *variants):
        cells = {group: correct.accuracy(name, group) for group in pooled.groups}
        texts = {group: to_percent(cell, interval=group == MEAN) for group, cell in cells.items()}
        title = name if name == ORACLE else method_title(name)
        rows.add_groups({"Method": title}, {"method": name}, cells, texts)
        loss = correct.difference(name, METHOD, MEAN) if name != METHOD else None
        rows.texts[-1]["Minus DGA+"] = to_points(loss) if loss else ""
        minus = {"method": name, "group": "minus dga-plus"}
        rows.numbers.append({**minus, **to_columns(loss, "points")})
    return Table(
        f"Stages of DGA+, {pooled.description}",
        f"Top-1 accuracy in percent with {INTERVALS}, and the difference from the whole method "
        "on the images both have, in points. The oracle knows the label and takes any candidate "
        "inverse whose result is classified rightly: a ceiling, part of it luck.",
        *rows.frames,
        commands,
    )


def _is_variant(name: str) -> bool:
    method = MethodName.parse(name)
    keys = {key for key, _ in method.overrides}
    is_dga_plus = method.base == METHOD and not method.permutation
    return is_dga_plus and bool(keys) and keys != {"alternatives"}


def _oracle_lines(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines that are right if any candidate's label is."""
    lines = lines[lines["alternatives"].notna()]
    pairs = zip(lines["class"], lines["alternatives"], strict=True)
    correct = [label in labels for label, labels in pairs]
    return lines.assign(method=ORACLE, correct=correct)
