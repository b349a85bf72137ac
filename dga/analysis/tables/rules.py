"""What every stopping rule would give on the same curves: how settings are chosen."""

from __future__ import annotations

import pandas as pd

from dga.analysis.names import MEAN, group_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import JudgeRun
from dga.analysis.rules import BASE, Reading, read_rules
from dga.analysis.sweep import SOURCE, fixed_depths
from dga.analysis.tables.table import NOTHING, Cells, Table, bare_columns, percent
from dga.corruptions import FAMILIES


def rules_table(judge: JudgeRun, pooled: PooledRuns) -> Table:
    """Every candidate rule, the most accurate first. Raises ``MissingRun``."""
    readings = read_rules(judge, pooled)
    readings.sort(key=lambda reading: -reading.accuracy[MEAN].value)
    groups = [family for family in FAMILIES if family in readings[0].accuracy]
    depths = fixed_depths(pooled.lines, BASE)
    methods = [SOURCE, *depths.values()]
    return Table(
        "rules",
        f"Stopping rules read from the same curves, {pooled.described}",
        "Accuracy if each picture were rebuilt with guidance from the swept depth nearest to "
        f"its t* (swept: 0, {', '.join(map(str, depths))}), with the same t* permuted within "
        "each corruption, and where pictures end. Horizon: a picture that does not qualify by "
        "this depth is left as it is. Rules whose intervals overlap are hardly apart.",
        pd.DataFrame([_shown(reading, groups) for reading in readings]),
        pd.DataFrame([_numbers(reading) for reading in readings]),
        (judge.command, *pooled.commands(methods)),
    )


def _shown(reading: Reading, groups: list[str]) -> Cells:
    config = reading.config
    return {
        "Rule": f"tau {config.tau:g}",
        "Maximum depth": str(config.max_depth),
        "Horizon": NOTHING if config.horizon is None else str(config.horizon),
        "Accuracy (%)": percent(reading.accuracy[MEAN]),
        **{group_title(g): percent(reading.accuracy[g], interval=False) for g in groups},
        "t* permuted (%)": percent(reading.permuted[MEAN], interval=False),
        "At maximum (%)": f"{100 * reading.at_maximum:.0f}",
        "Left as it is (%)": f"{100 * reading.untouched:.0f}",
        "Clean, t* ≤ 4 (%)": f"{100 * reading.clean_shallow:.0f}",
    }


def _numbers(reading: Reading) -> Cells:
    config = reading.config
    cells: Cells = {"tau": config.tau, "max_depth": config.max_depth, "horizon": config.horizon}
    for group, value in reading.accuracy.items():
        cells |= bare_columns(value, group)
    cells |= bare_columns(reading.permuted[MEAN], "permuted")
    shares = {name: getattr(reading, name) for name in ("at_maximum", "untouched", "clean_shallow")}
    return cells | {name: round(100 * share, 3) for name, share in shares.items()}
