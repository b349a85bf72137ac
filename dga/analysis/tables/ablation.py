"""What each stage of DGA+ is worth."""

from dga.analysis.names import MEAN, SOURCE, MethodName, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.tables.accuracy import INTERVALS
from dga.analysis.tables.table import Rows, Table, to_columns, to_percent, to_points

METHOD = "dga-plus"


def make_ablation(pooled: PooledRuns) -> Table:
    """Accuracy of each variant, and its difference from the whole method on the same images."""
    variants = [name for name in pooled.methods if _is_variant(name)]
    if METHOD not in pooled.methods or not variants:
        raise MissingRun("no run of dga-plus beside variants (dga-plus:exposure=false)")
    commands = pooled.commands([METHOD, *variants])
    correct, rows = pooled.correct, Rows()
    for name in (SOURCE, METHOD, *variants):
        cells = {group: correct.accuracy(name, group) for group in pooled.groups}
        texts = {group: to_percent(cell, interval=group == MEAN) for group, cell in cells.items()}
        rows.add_groups({"Method": method_title(name)}, {"method": name}, cells, texts)
        loss = correct.difference(name, METHOD, MEAN) if name != METHOD else None
        rows.texts[-1]["Minus DGA+"] = to_points(loss) if loss else ""
        minus = {"method": name, "group": "minus dga-plus"}
        rows.numbers.append({**minus, **to_columns(loss, "points")})
    return Table(
        f"Stages of DGA+, {pooled.description}",
        f"Top-1 accuracy in percent with {INTERVALS}, and the difference from the whole method "
        "on the images both have, in points.",
        *rows.frames,
        commands,
    )


def _is_variant(name: str) -> bool:
    method = MethodName.parse(name)
    return method.base == METHOD and bool(method.overrides) and not method.permutation
