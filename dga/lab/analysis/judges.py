"""Judged discriminators: their F1, and the one that belongs to pooled runs."""

from collections.abc import Sequence

import pandas as pd

from dga.corruptions import CLEAN
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun, Run


def choose_judge(judges: Sequence[Run], pooled: PooledRuns | None) -> Run:
    """The judge run whose curves explain the depths of pooled runs.

    One of their own discriminator is preferred, then one on the split ``report``, then the one on
    most pictures. Raises :class:`MissingRun` where there is none at all.
    """
    if not judges:
        raise MissingRun("no judge run")

    def merit(run: Run) -> tuple[bool, bool, int]:
        is_own = pooled is not None and has_same_discriminator(run, pooled)
        return is_own, run.config.get("split") == "report", run.lines["path"].nunique()

    return max(judges, key=merit)


def has_same_discriminator(judge: Run, pooled: PooledRuns) -> bool:
    """Whether both name the same discriminator weights."""
    name = judge.config.get("weights", {}).get("discriminator")
    return name is not None and name == pooled.config.get("weights", {}).get("discriminator")


def compute_f1(judge: Run) -> pd.DataFrame:
    """F1 in [0, 1], with a row for each corruption and a column for each depth.

    Positives are the pictures under that corruption, and negatives are the same pictures clean, at
    the same depth. A confidence of 0.5 or more calls a picture corrupted.
    """
    lines = judge.lines
    is_positive = pd.DataFrame(lines["logits"].tolist(), columns=judge.config["depths"]) >= 0
    called = is_positive.groupby(lines["corruption"], sort=False).sum()
    hits, alarms = called.drop(CLEAN), called.loc[CLEAN]
    return 2 * hits / (hits + alarms + lines["path"].nunique())
