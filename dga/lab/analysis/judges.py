"""Judged discriminators: their F1, and the one that belongs to pooled runs."""

from collections.abc import Sequence

import pandas as pd

from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import JudgeRun, MissingRun


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


def compute_f1(judge: JudgeRun) -> pd.DataFrame:
    """F1 in [0, 1], with a row for each corruption and a column for each depth.

    Positives are the pictures under that corruption, and negatives are the same pictures clean, at
    the same depth. A confidence of 0.5 or more calls a picture corrupted.
    """
    positive = judge.logits >= 0  # [M, N, K], clean first
    hits, alarms = positive[1:].sum(1), positive[0].sum(0)
    f1 = 2 * hits / (hits + alarms + len(judge.paths))
    return pd.DataFrame(f1, judge.corruptions[1:], judge.depths)
