"""Is the depth really per image? The controls that decide it, from a fixed-depth sweep.

Every control uses the same images and the same swept depths, so that they differ in
nothing but how an image's depth is picked:

- ``adaptive``: the image's own t*, rounded to the nearest swept depth;
- ``permuted``: the t* of an image drawn from those of the same corruption, in
  expectation over all permutations (exact, not sampled);
- ``median``: the corruption's median t* (the lower one of two), for all its images;
- ``global``: one depth for everything, the one that is best on these very images,
  which favours it;
- ``depth=k``: each swept depth;
- ``oracle``: right if the image is right at any swept depth;
- ``measured``: the adaptive method as it ran, without rounding.

Best depth of an image, for Spearman's correlation: the shallowest swept depth at which
it is classified correctly. Images that are right, or wrong, at every swept depth say
nothing about depth and are left out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.corruptions import CLEAN, FAMILIES
from dga.lab.analysis.names import MEAN, SOURCE, find_sweep
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.statistics import Estimate, Floats, draw_resamples, make_interval

Draws = NDArray[np.float64]
ROUNDING = 1e-6
"""Of a product of variances of ranks that is 0."""


@dataclass(frozen=True)
class Sweep:
    """C corruptions, P photographs, K swept depths, the first of them 0 (no change).

    ``correct``: float32 ``[C, P, K]``, 1 or 0; ``as_run``: float32 ``[C, P]``, 1
    where the adaptive method itself was right; ``t_star``: int ``[C, P]``;
    ``measured``: bool ``[C, P]``, the images that have all of these.
    """

    adaptive: str
    depths: tuple[int, ...]
    corruptions: tuple[str, ...]
    photographs: tuple[str, ...]
    correct: Floats
    as_run: Floats
    t_star: NDArray[np.int64]
    measured: NDArray[np.bool_]

    @property
    def rounded(self) -> NDArray[np.int64]:
        """t* as positions ``[C, P]`` in ``depths``: the nearest, of two the shallower."""
        distances = np.abs(self.t_star[..., None] - np.asarray(self.depths))
        return distances.argmin(axis=-1)


def read_sweep(lines: pd.DataFrame, adaptive: str) -> Sweep:
    """An adaptive method at fixed depths (``adaptive:depth=8``) beside the depths that it chose.

    Source-only stands for depth 0. Only damaged images that every one of them has are taken.
    Raises :class:`MissingRun` where there are none.
    """
    lines = lines[lines["corruption"] != CLEAN]
    fixed = find_sweep(lines["method"].unique(), adaptive, "depth")
    swept = {0: SOURCE} | {int(depth): name for depth, name in fixed.items() if depth > 0}
    if len(swept) < 3:
        raise MissingRun(f"no run of {adaptive} at fixed depths ({adaptive}:depth=4, ...)")
    names = [*swept.values(), adaptive]
    absent = [name for name in (SOURCE, adaptive) if name not in set(lines["method"])]
    if absent:
        raise MissingRun(f"no run of {absent[0]} on the images of {adaptive}:depth={max(swept)}")
    rows = lines[lines["method"].isin(names)]
    wide = rows.pivot(index=["corruption", "path"], columns="method", values="correct")
    whole = wide[names].dropna().astype(np.float32)
    if whole.empty:
        raise MissingRun(f"no image that was run with {adaptive} and at all of its depths")
    corruptions = tuple(whole.index.unique("corruption"))
    photographs = tuple(sorted(whole.index.unique("path")))
    every = pd.MultiIndex.from_product([corruptions, photographs], names=whole.index.names)
    shape = len(corruptions), len(photographs)
    values = whole.reindex(every, fill_value=0).to_numpy().reshape(*shape, -1)  # [C, P, K + 1]
    t_star = rows[rows["method"] == adaptive].set_index(["corruption", "path"])["depth"]
    measured = every.isin(whole.index)
    return Sweep(
        adaptive, tuple(swept), corruptions, photographs, values[..., :-1], values[..., -1],
        np.where(measured, t_star.reindex(every, fill_value=0), 0).reshape(shape),
        measured.reshape(shape),
    )  # fmt: skip


@dataclass(frozen=True)
class DepthControl:
    """Accuracy in [0, 1] by group, and adaptive minus it, both with intervals."""

    accuracy: dict[str, Estimate]
    adaptive_minus: dict[str, Estimate]


@dataclass(frozen=True)
class DepthControls:
    """``rows``: by name. ``spearman``: over all informative images; ``spearman_within``: the mean
    of the corruptions' own, weighted by their informative images (``None`` if there are none).

    Groups are ``mean`` (of the corruptions that were swept), families swept whole and
    single corruptions. ``mean_depth`` is the mean of the unrounded t*, by group.
    """

    sweep: Sweep
    rows: dict[str, DepthControl]
    best_depth: int
    mean_depth: dict[str, float]
    spearman: Estimate | None
    spearman_within: Estimate | None
    informative: int

    @property
    def groups(self) -> list[str]:
        """The mean and the families swept whole."""
        return [group for group in (MEAN, *FAMILIES) if group in self.mean_depth]


def compute_controls(sweep: Sweep) -> DepthControls:
    """All controls of a sweep."""
    weights = draw_resamples(len(sweep.photographs))
    groups = list_groups(sweep)
    draws, best = _draw_accuracies(sweep, weights)
    rows = {
        name: DepthControl(
            _average_groups(draw, groups, sweep),
            {} if name == "adaptive" else _average_groups(draws["adaptive"] - draw, groups, sweep),
        )
        for name, draw in draws.items()
    }
    t_star = np.where(sweep.measured, sweep.t_star, np.nan)
    return DepthControls(
        sweep,
        rows,
        sweep.depths[best],
        {group: float(np.nanmean(t_star[members])) for group, members in groups.items()},
        *_correlate_depths(sweep, weights),
    )


def list_groups(sweep: Sweep) -> dict[str, list[int]]:
    """Groups as positions of the sweep's corruptions; families only where whole."""
    corruptions = sweep.corruptions
    groups = {MEAN: corruptions, **FAMILIES, **{name: (name,) for name in corruptions}}
    return {
        group: [corruptions.index(name) for name in members]
        for group, members in groups.items()
        if set(members) <= set(corruptions)
    }


def _average_groups(draw: Draws, groups: dict[str, list[int]], sweep: Sweep) -> dict[str, Estimate]:
    """Means of ``[R, C]`` over each group's corruptions, as estimates."""
    return {
        group: make_interval(
            draw[:, members].mean(axis=1), int(sweep.measured[members].any(axis=0).sum())
        )
        for group, members in groups.items()
    }


def _sum_photographs(weights: Floats, values: Floats) -> Draws:
    """Sums over photographs: ``[R, P]`` by ``[C, P, ...]`` to ``[R, C, ...]``."""
    return np.moveaxis(np.tensordot(values, weights, axes=(1, 1)), -1, 0).astype(np.float64)


@np.errstate(invalid="ignore")  # a corruption without images divides by 0
def _draw_accuracies(sweep: Sweep, weights: Floats) -> tuple[dict[str, Draws], int]:
    """Accuracies ``[R, C]`` of every control, and which depth is best over all corruptions."""
    picked = np.eye(len(sweep.depths), dtype=np.float32)[sweep.rounded]
    picked *= sweep.measured[..., None]  # [C, P, K]
    images = _sum_photographs(weights, sweep.measured.astype(np.float32))
    by_depth = _sum_photographs(weights, sweep.correct) / images[..., None]  # [R, C, K]
    shares = _sum_photographs(weights, picked) / images[..., None]  # [R, C, K]
    best = int(np.nanmean(by_depth[0], axis=0).argmax())
    median = (shares.cumsum(-1) >= 0.5 - 1e-9).argmax(-1)
    draws = {
        "measured": _sum_photographs(weights, sweep.as_run) / images,
        "adaptive": _sum_photographs(weights, (picked * sweep.correct).sum(-1)) / images,
        # An image's expected outcome under a random permutation is its mean over the
        # corruption's t*; their mean is the product of the two averages, depth by depth.
        "permuted": (shares * by_depth).sum(-1),
        "median": np.take_along_axis(by_depth, median[..., None], axis=-1)[..., 0],
        "global": by_depth[:, :, best],
        "oracle": _sum_photographs(weights, sweep.correct.max(-1)) / images,
    }
    draws |= {f"depth={k}": by_depth[:, :, i] for i, k in enumerate(sweep.depths)}
    return draws, best


def find_best_depths(sweep: Sweep) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Position of each image's shallowest correct depth, and which images are informative."""
    right = sweep.correct > 0
    informative = sweep.measured & right.any(-1) & ~right.all(-1)
    return right.argmax(-1), informative


def _correlate_depths(
    sweep: Sweep, weights: Floats
) -> tuple[Estimate | None, Estimate | None, int]:
    """Spearman's rho of t* and best depth, over all corruptions and within them, and images."""
    best, informative = find_best_depths(sweep)
    corruptions = list(range(len(sweep.corruptions)))

    def correlate(group: list[int]) -> Draws:
        c, photograph = informative[group].nonzero()
        t_star, depth = sweep.t_star[group][c, photograph], best[group][c, photograph]
        return correlate_ranks(t_star, depth, photograph, weights)

    counts = informative.sum(axis=1)
    each = np.stack([correlate([c]) for c in corruptions], axis=1)  # [R, C]
    share = np.where(np.isfinite(each), counts, 0.0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(each * share, axis=1) / share.sum(axis=1)
    photographs = int(informative.any(axis=0).sum())
    estimates = [
        make_interval(draw, photographs) if np.isfinite(draw[0]) else None
        for draw in (correlate(corruptions), within)
    ]
    return estimates[0], estimates[1], int(counts.sum())


def correlate_ranks(
    x: NDArray[Any], y: NDArray[Any], photograph: NDArray[np.int64], weights: Floats
) -> Draws:
    """Spearman's rho ``[R]`` of two variables ``[N]``, each image drawn with its photograph.

    Ranks are those of the sample, in its resamples, too; ties get their mean rank. NaN where a
    variable has one value only.
    """
    ranks = pd.DataFrame({"x": x, "y": y}).rank()
    rows = np.column_stack([np.ones(len(ranks)), ranks - ranks.mean()])  # [N, 3]
    moments = np.zeros((weights.shape[1], 3, 3))
    np.add.at(moments, photograph, rows[:, :, None] * rows[:, None, :])
    total = np.tensordot(weights.astype(np.float64), moments, axes=1)  # [R, 3, 3]
    covariance = total[:, 1:, 1:] * total[:, :1, :1] - total[:, 1:, :1] * total[:, :1, 1:]
    spread = covariance[:, 0, 0] * covariance[:, 1, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > ROUNDING, covariance[:, 0, 1] / np.sqrt(spread), np.nan)
