"""Judged discriminators: their F1, the one that belongs to pooled runs, and a table of all."""

from collections.abc import Sequence

import pandas as pd

from dga.corruptions import CLEAN
from dga.lab.analysis.names import SPLITS
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import JudgeRun, MissingRun
from dga.lab.analysis.table import EMPTY_CELL, Cells, Table

TABLED_DEPTHS = (0, 5, 10, 20, 40)
"""The depths at which the table of all judges shows F1."""


def choose_judge(judges: Sequence[JudgeRun], pooled: PooledRuns | None) -> JudgeRun:
    """The judge run whose curves explain the depths of pooled runs.

    One of their own discriminator is preferred, then one on the split ``report``, then the one on
    most pictures. Raises :class:`MissingRun` where there is none at all.
    """
    if not judges:
        raise MissingRun("no judge run")

    def merit(run: JudgeRun) -> tuple[bool, bool, int]:
        is_own = pooled is not None and has_same_discriminator(run, pooled)
        return is_own, run.config.get("split") == "report", len(run.paths)

    return max(judges, key=merit)


def has_same_discriminator(judge: JudgeRun, pooled: PooledRuns) -> bool:
    """Whether both name the same discriminator weights."""
    name = judge.config.get("weights", {}).get("discriminator")
    return name is not None and name == pooled.config.get("weights", {}).get("discriminator")


def list_judged_groups(judge: JudgeRun) -> dict[str, list[str]]:
    """Groups of judged corruptions: ``all`` of them, those ``seen`` in training, and ``unseen``.

    The last two are left out where the discriminator was trained on all of them, or on none.
    """
    names = [name for name in judge.corruptions if name != CLEAN]
    seen = [name for name in names if name in judge.config.get("trained_on", ())]
    groups = {"all": names}
    if 0 < len(seen) < len(names):
        groups |= {"seen": seen, "unseen": [name for name in names if name not in seen]}
    return groups


def compute_f1(judge: JudgeRun) -> pd.DataFrame:
    """F1 in [0, 1], with a row for each corruption and a column for each depth.

    Positives are the pictures under that corruption, and negatives are the same pictures clean, at
    the same depth. A confidence of 0.5 or more calls a picture corrupted.
    """
    positive = judge.logits >= 0  # [M, N, K], clean first
    hits, alarms = positive[1:].sum(1), positive[0].sum(0)
    f1 = 2 * hits / (hits + alarms + len(judge.paths))
    return pd.DataFrame(f1, judge.corruptions[1:], judge.depths)


def make_studies(judges: Sequence[JudgeRun]) -> Table:
    """A table of every judged discriminator's F1 at a few depths.

    Raises :class:`MissingRun` where none was judged.
    """
    if not judges:
        raise MissingRun("no judge run")
    common = sorted(set.intersection(*(set(judge.depths) for judge in judges)))
    rows = list[Cells]()
    for judge in judges:
        for group, names in list_judged_groups(judge).items():
            means = 100 * compute_f1(judge).loc[names].mean()  # by depth
            rows.append({
                "Study": judge.study,
                "Severity": str(judge.config.get("severity", EMPTY_CELL)),
                "Photographs": SPLITS.get(judge.config.get("split", ""), EMPTY_CELL),
                "Judged on": group,
                **{f"Depth {k}": f"{means[k]:.1f}" if k in means else EMPTY_CELL
                   for k in TABLED_DEPTHS},
                "Mean": f"{means[common].mean():.1f}" if common else EMPTY_CELL,
            })  # fmt: skip
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
