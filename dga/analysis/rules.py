"""Judged curves read again under many stopping rules, with the accuracy of swept depths.

Every rule costs nothing but arithmetic once each picture has been judged at every depth
and rebuilt from some of them: its t* is rounded to the nearest swept depth. Settings are
chosen this way, on ``tune``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dga.analysis.controls import control, sweep_groups
from dga.analysis.discrimination import stops
from dga.analysis.names import MEAN
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import JudgeRun, MissingRun
from dga.analysis.statistics import Estimate
from dga.analysis.sweep import SOURCE, Sweep, read_sweep
from dga.corruptions import CLEAN
from dga.profiles import StoppingConfig

BASE = "dga-guided"
TAUS = (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
HORIZONS = (None, 60)


@dataclass(frozen=True)
class Reading:
    """What one rule would give.

    ``accuracy`` and ``permuted`` (t* shuffled within each corruption) by group, in
    [0, 1]. Shares in [0, 1]: ``at_maximum`` and ``untouched`` (t* = 0) of corrupted
    pictures, ``clean_shallow`` of clean ones with t* of 4 or less.
    """

    config: StoppingConfig
    accuracy: dict[str, Estimate]
    permuted: dict[str, Estimate]
    at_maximum: float
    untouched: float
    clean_shallow: float


def read_rules(judge: JudgeRun, pooled: PooledRuns) -> list[Reading]:
    """Taus, each to every swept depth, with and without horizon, on the pictures of both runs.

    Raises :class:`MissingRun` where there are none, or where depths were left out.
    """
    if judge.depths != tuple(range(len(judge.depths))):
        raise MissingRun(f"{judge.name} was not judged at every depth")
    sweep = _shared(judge, read_sweep(pooled.lines, BASE, SOURCE))
    return [
        _reading(judge, sweep, StoppingConfig(tau, cap, horizon=horizon))
        for horizon in HORIZONS
        for cap in sweep.depths[1:]
        if cap <= (horizon or cap) <= judge.depths[-1]
        for tau in TAUS
    ]


def _shared(judge: JudgeRun, sweep: Sweep) -> Sweep:
    """The sweep without pictures that were not judged."""
    judged = np.isin(sweep.photographs, judge.paths)
    known = np.isin(sweep.corruptions, judge.corruptions)
    measured = sweep.measured & judged & known[:, None]
    if not measured.any():
        raise MissingRun(f"no picture that is both swept and judged ({judge.name})")
    return replace(sweep, measured=measured, correct=sweep.correct * measured[..., None])


def _reading(judge: JudgeRun, sweep: Sweep, config: StoppingConfig) -> Reading:
    rows = stops(judge, config)
    wide = rows.pivot(index="corruption", columns="path", values="depth")
    wide = wide.reindex(index=sweep.corruptions, columns=sweep.photographs)
    t_star = wide.fillna(0).to_numpy().astype(np.int64)
    controls = control(replace(sweep, t_star=t_star))
    members = sweep_groups(sweep)[MEAN]
    damaged = t_star[members][sweep.measured[members]]
    return Reading(
        config,
        controls.rows["adaptive"].accuracy,
        controls.rows["permuted"].accuracy,
        float((damaged == config.max_depth).mean()),
        float((damaged == 0).mean()),
        float((rows.loc[rows["corruption"] == CLEAN, "depth"] <= 4).mean()),
    )
