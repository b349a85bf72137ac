"""How well the discriminator tells corrupted from clean, by depth; and its calibration."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dga.analysis.results import JudgeRun, MissingRun
from dga.corruptions import CLEAN
from dga.profiles import StoppingConfig
from dga.stopping import choose_depth, confidence_from_logits

BINS = 10
# The search for a temperature stays within these; at a bound there is no optimum inside.
TEMPERATURES = (0.05, 20.0)
Array = NDArray[np.float64]


def f1_scores(judge: JudgeRun) -> pd.DataFrame:
    """F1 in [0, 1], a row a corruption and a column a depth.

    Positives are the pictures under that corruption, negatives the same pictures
    clean, at the same depth; a confidence of 0.5 or more says corrupted.
    """
    positive = judge.logits >= 0  # [M, N, K], clean first
    hits, alarms = positive[1:].sum(1), positive[0].sum(0)
    f1 = 2 * hits / (hits + alarms + len(judge.paths))
    return pd.DataFrame(f1, judge.corruptions[1:], judge.depths)


@dataclass(frozen=True)
class Reliability:
    """One depth's calibration, with clean and corrupted pictures weighing the same.

    ``confidence``, ``corrupted``: a bin's mean confidence and its share of corrupted
    pictures; ``weight``: its share of everything. Empty bins are absent. ``nll``: the negative
    log-likelihood of every picture's label, in nats.
    """

    depth: int
    confidence: Array
    corrupted: Array
    weight: Array
    nll: float

    @property
    def error(self) -> float:
        """Expected calibration error (Guo et al., 2017, Eq. 3), of P(corrupted)."""
        return float((self.weight * np.abs(self.corrupted - self.confidence)).sum())


@dataclass(frozen=True)
class Calibration:
    """``temperature``: the one that minimises ``nll`` at this depth; ``scaled`` by it."""

    reliability: Reliability
    scaled: Reliability
    temperature: float


def calibration(judge: JudgeRun) -> tuple[Calibration, ...]:
    """Calibration at every depth, of all its corruptions together against clean.

    Temperatures are fitted on these very pictures; one to be used is fitted on tune.
    """
    truth = np.repeat([name != CLEAN for name in judge.corruptions], len(judge.paths))
    weight = np.where(truth, 0.5 / truth.sum(), 0.5 / (~truth).sum())
    found = []
    for i, depth in enumerate(judge.depths):
        z = judge.logits[:, :, i].reshape(-1).astype(np.float64)
        heat = fit_temperature(z, truth, weight)
        as_it_is, scaled = (reliability(depth, logits, truth, weight) for logits in (z, z / heat))
        found.append(Calibration(as_it_is, scaled, heat))
    return tuple(found)


def reliability(depth: int, logits: Array, truth: NDArray[np.bool_], weight: Array) -> Reliability:
    """Ten bins of equal width. ``weight`` sums to 1."""
    confidence = confidence_from_logits(logits)
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    sums = (weight, weight * confidence, weight * truth)
    total, confident, hits = np.stack(
        [np.bincount(place, weights=w, minlength=BINS) for w in sums]
    ).astype(np.float64)
    full = total > 0
    total, confident, hits = total[full], confident[full], hits[full]
    nll = negative_log_likelihood(logits, truth, weight)
    return Reliability(depth, confident / total, hits / total, total, nll)


def negative_log_likelihood(logits: Array, truth: NDArray[np.bool_], weight: Array) -> float:
    """Mean of -log P(label), in nats."""
    signed = np.where(truth, logits, -logits)
    return float((weight * np.logaddexp(0.0, -signed)).sum())


def fit_temperature(logits: Array, truth: NDArray[np.bool_], weight: Array) -> float:
    """The temperature in 0.05...20 whose scaled logits have the least likelihood loss.

    The loss is convex in 1 / T, so it has one minimum in log T.
    """
    best = minimize_scalar(
        lambda log_t: negative_log_likelihood(logits / np.exp(log_t), truth, weight),
        bounds=tuple(np.log(TEMPERATURES)),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return float(np.exp(best.x))


def stops(judge: JudgeRun, config: StoppingConfig) -> pd.DataFrame:
    """Where a rule halts on each curve: path, corruption, depth, crossed.

    ``config.max_depth`` and ``config.horizon`` are depths, also where only some were
    judged. Raises :class:`MissingRun` for curves that end before them.
    """
    *_, last = (i for i, depth in enumerate(judge.depths) if depth <= config.max_depth)
    if judge.depths[0] != 0 or last < 1:
        raise MissingRun(f"{judge.name} was not judged from depth 0 to {config.max_depth}.")
    asked = replace(config, max_depth=last, horizon=None)
    if config.horizon is not None:
        if judge.depths[-1] < config.horizon:
            raise MissingRun(f"{judge.name} was not judged to the horizon, depth {config.horizon}.")
        reach = max(i for i, depth in enumerate(judge.depths) if depth <= config.horizon)
        asked = replace(asked, horizon=reach)
    rows = []
    for name, curves in zip(judge.corruptions, judge.logits, strict=True):
        for path, curve in zip(judge.paths, curves, strict=True):
            stop = choose_depth(curve, asked)
            rows.append((path, name, judge.depths[stop.t_star], stop.crossed))
    return pd.DataFrame(rows, columns=["path", "corruption", "depth", "crossed"])
