"""The discriminator studies side by side."""

from collections.abc import Sequence

import pandas as pd

from dga.lab.analysis.judges import compute_f1, list_judged_groups
from dga.lab.analysis.names import SPLITS
from dga.lab.analysis.saved_runs import JudgeRun, MissingRun
from dga.lab.analysis.tables.table import EMPTY_CELL, Cells, Table

DEPTHS = (0, 5, 10, 20, 40)


def make_studies(judges: Sequence[JudgeRun]) -> Table:
    """F1 of every judged discriminator at a few depths."""
    if not judges:
        raise MissingRun("no judge run")
    common = sorted(set.intersection(*(set(judge.depths) for judge in judges)))
    rows = list[Cells]()
    for judge in judges:
        for group, names in list_judged_groups(judge).items():
            means = compute_f1(judge).loc[names].mean()  # by depth
            rows.append(_to_texts(judge, group, means, common))
    few = ", ".join(map(str, common)) if len(common) < 12 else f"shared by all ({len(common)})"
    depths = f"depths {few}" if common else "no depth, for none is shared by all"
    return Table(
        "Discriminator studies",
        "F1 of corrupted against clean at the same depth, in percent, mean of the judged "
        "corruptions; corrupted is what a confidence of 0.5 or more says. Mean: over "
        f"{depths}. Calling everything corrupted gives an F1 of 67 %.",
        rows,
        tuple(dict.fromkeys(judge.command for judge in judges if judge.command)),
    )


def _to_texts(judge: JudgeRun, group: str, means: pd.Series, common: Sequence[int]) -> Cells:
    config = judge.config
    cells = {
        f"Depth {k}": f"{100 * means[k]:.1f}" if k in means.index else EMPTY_CELL for k in DEPTHS
    }
    return {
        "Study": judge.study,
        "Severity": str(config.get("severity", EMPTY_CELL)),
        "Photographs": SPLITS.get(config.get("split", ""), EMPTY_CELL),
        "Judged on": group,
        **cells,
        "Mean": f"{100 * means.loc[list(common)].mean():.1f}" if common else EMPTY_CELL,
    }
