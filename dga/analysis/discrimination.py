"""How well the discriminator tells corrupted from clean, by depth, and where its curves stop."""

from dataclasses import replace

import pandas as pd

from dga.analysis.results import JudgeRun, MissingRun
from dga.profiles import StoppingConfig
from dga.stopping import choose_depth


def f1_scores(judge: JudgeRun) -> pd.DataFrame:
    """F1 in [0, 1], a row a corruption and a column a depth.

    Positives are the pictures under that corruption, negatives the same pictures
    clean, at the same depth; a confidence of 0.5 or more says corrupted.
    """
    positive = judge.logits >= 0  # [M, N, K], clean first
    hits, alarms = positive[1:].sum(1), positive[0].sum(0)
    f1 = 2 * hits / (hits + alarms + len(judge.paths))
    return pd.DataFrame(f1, judge.corruptions[1:], judge.depths)


def find_stops(judge: JudgeRun, config: StoppingConfig) -> pd.DataFrame:
    """Where a rule halts on each curve: path, corruption, depth, crossed.

    ``config.max_depth`` and ``config.horizon`` are depths, also where only some were
    judged. Raises :class:`MissingRun` for curves that end before them.
    """
    last = _last_index(judge, config.max_depth)
    if judge.depths[0] != 0 or last < 1:
        raise MissingRun(f"{judge.name} was not judged from depth 0 to {config.max_depth}.")
    horizon = None
    if config.horizon is not None:
        if judge.depths[-1] < config.horizon:
            raise MissingRun(f"{judge.name} was not judged to the horizon, depth {config.horizon}.")
        horizon = _last_index(judge, config.horizon)
    rule = replace(config, max_depth=last, horizon=horizon)
    rows = []
    for name, curves in zip(judge.corruptions, judge.logits, strict=True):
        for path, curve in zip(judge.paths, curves, strict=True):
            stop = choose_depth(curve, rule)
            rows.append((path, name, judge.depths[stop.t_star], stop.crossed))
    return pd.DataFrame(rows, columns=["path", "corruption", "depth", "crossed"])


def _last_index(judge: JudgeRun, depth: int) -> int:
    """Position of the deepest judged depth up to ``depth``; -1 for none."""
    return sum(judged <= depth for judged in judge.depths) - 1
