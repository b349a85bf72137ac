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
from dga.lab.analysis.names import MEAN, SOURCE, find_sweep, format_group, format_method
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.statistics import (
    Draws,
    Estimate,
    Floats,
    draw_means,
    draw_resamples,
    make_interval,
)
from dga.lab.analysis.table import Cells, Table, format_estimate, format_points

SWEPT = "dga-guided"
"""The method whose depths are looked at."""
ROUNDING = 1e-6
"""Of a product of variances of ranks that is 0."""
TITLES = {
    "measured": "Adaptive, as run",
    "adaptive": "Adaptive, nearest swept depth",
    "permuted": "t* permuted within a corruption",
    "median": "Median t* of the corruption",
    "global": "Best single depth",
    "oracle": "Best depth of each image (oracle)",
}


@dataclass(frozen=True)
class DepthControls:
    """Controls of :data:`SWEPT`, by group: the mean of all corruptions, families swept whole."""

    depths: tuple[int, ...]
    """Of which 0 is no change."""
    corruptions: tuple[str, ...]
    photographs: int
    accuracy: dict[str, dict[str, Estimate]]
    """Of each control, by group, in [0, 1]."""
    lead: dict[str, dict[str, Estimate]]
    """Adaptive minus each control, by group."""
    best_depth: int
    mean_depth: dict[str, float]
    """Of the unrounded t*, by group."""
    informative: int
    """Images that are right at some depths only."""
    spearman: Estimate | None
    """Of t* and best depth, over all informative images; None without any."""
    spearman_within: Estimate | None
    """The mean of the corruptions' own, weighted by their informative images."""


def compute_controls(lines: pd.DataFrame) -> DepthControls:
    """All controls of :data:`SWEPT`, run at fixed depths, too (``dga-guided:depth=8``).

    Source-only stands for depth 0. Only damaged images that every one of them has are taken.
    Raises :class:`MissingRun` naming what the sweep lacks.
    """
    images, depths = _read_sweep(lines)
    corruptions = tuple(images.index.unique("corruption"))
    photographs = images.index.unique("path").sort_values()
    draws, best = _draw_accuracies(images, depths)
    accuracy: dict[str, dict[str, Estimate]] = {name: {} for name in draws}
    lead: dict[str, dict[str, Estimate]] = {name: {} for name in draws}
    mean_depth = {}
    for group, names in {MEAN: corruptions, **FAMILIES}.items():
        if not set(names) <= set(corruptions):
            continue
        members = [corruptions.index(name) for name in names]
        part = images.loc[list(names)]
        count = part.index.get_level_values("path").nunique()
        mean_depth[group] = float(part["t_star"].mean())
        for name, draw in draws.items():
            accuracy[name][group] = make_interval(draw[:, members].mean(axis=1), count)
            if name != "adaptive":
                gap = (draws["adaptive"] - draw)[:, members].mean(axis=1)
                lead[name][group] = make_interval(gap, count)
    is_right = images[list(depths)].to_numpy() > 0
    is_informative = is_right.any(axis=1) & ~is_right.all(axis=1)
    informative = pd.DataFrame({
        "t_star": images["t_star"],
        "best": is_right.argmax(axis=1),
        "photograph": photographs.get_indexer(images.index.get_level_values("path")),
    })[is_informative]  # fmt: skip
    return DepthControls(
        depths, corruptions, len(photographs), accuracy, lead, depths[best], mean_depth,
        len(informative), *_correlate_depths(informative, draw_resamples(len(photographs))),
    )  # fmt: skip


def _read_sweep(lines: pd.DataFrame) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """A row for each damaged image, by corruption and path, and the swept depths.

    Columns: for each depth and for ``measured`` (at the method's own) 1 where it was right;
    ``t_star``.
    """
    lines = lines[lines["corruption"] != CLEAN]
    fixed = find_sweep(lines["method"].unique(), SWEPT, "depth")
    swept = {0: SOURCE} | {int(depth): name for depth, name in fixed.items() if depth > 0}
    if len(swept) < 3:
        raise MissingRun(f"no run of {SWEPT} at fixed depths ({SWEPT}:depth=4, ...)")
    for name in (SOURCE, SWEPT):
        if name not in set(lines["method"]):
            raise MissingRun(f"no run of {name} on the images of {SWEPT}:depth={max(swept)}")
    columns = {name: depth for depth, name in swept.items()} | {SWEPT: "measured"}
    wide = lines.pivot(index=["corruption", "path"], columns="method", values="correct")
    images = wide[list(columns)].rename(columns=columns).dropna().astype(np.float32)
    if images.empty:
        raise MissingRun(f"no image that was run with {SWEPT} and at all of its depths")
    own = lines[lines["method"] == SWEPT].set_index(["corruption", "path"])
    images["t_star"] = own["depth"].astype(int)
    return images, tuple(swept)


def _draw_accuracies(images: pd.DataFrame, depths: tuple[int, ...]) -> tuple[dict[str, Draws], int]:
    """Accuracies ``[R, C]`` of every control, and which depth is best over all corruptions."""
    fixed = images[list(depths)]
    distances = np.abs(images["t_star"].to_numpy()[:, None] - np.array(depths))
    picked = np.eye(len(depths), dtype=np.float32)[distances.argmin(axis=1)]  # [images, K]

    def draw(outcomes: Any) -> Draws:
        by_corruption = pd.Series(outcomes, images.index).unstack("path")
        return draw_means(by_corruption.to_numpy(np.float32))

    by_depth = np.stack([draw(fixed[depth]) for depth in depths], axis=-1)  # [R, C, K]
    shares = np.stack([draw(column) for column in picked.T], axis=-1)
    best = int(by_depth[0].mean(axis=0).argmax())
    median = (shares.cumsum(-1) >= 0.5 - 1e-9).argmax(-1)
    draws = {
        "measured": draw(images["measured"]),
        "adaptive": draw((picked * fixed).sum(axis=1)),
        # An image's expected outcome under a random permutation is its mean over the
        # corruption's t*; their mean is the product of the two averages, depth by depth.
        "permuted": (shares * by_depth).sum(-1),
        "median": np.take_along_axis(by_depth, median[..., None], axis=-1)[..., 0],
        "global": by_depth[:, :, best],
        "oracle": draw(fixed.max(axis=1)),
    }
    return draws | {f"depth={k}": by_depth[:, :, i] for i, k in enumerate(depths)}, best


def _correlate_depths(
    informative: pd.DataFrame, weights: Floats
) -> tuple[Estimate | None, Estimate | None]:
    """Spearman's rho of t* and best depth, over all corruptions and within them."""
    if informative.empty:
        return None, None

    def correlate(part: pd.DataFrame) -> Draws:
        return correlate_ranks(part["t_star"], part["best"], part["photograph"], weights)

    parts = [part for _, part in informative.groupby(level="corruption")]
    each = np.stack([correlate(part) for part in parts], axis=1)  # [R, C]
    share = np.where(np.isfinite(each), [len(part) for part in parts], 0.0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(each * share, axis=1) / share.sum(axis=1)
    count = informative["photograph"].nunique()
    overall, inside = (
        make_interval(draw, count) if np.isfinite(draw[0]) else None
        for draw in (correlate(informative), within)
    )
    return overall, inside


def correlate_ranks(x: Any, y: Any, photograph: NDArray[np.int64], weights: Floats) -> Draws:
    """Spearman's rho ``[R]`` of two variables ``[N]``, each image drawn with its photograph.

    Ranks are those of the sample, in its resamples, too; ties get their mean rank. NaN where a
    variable has one value only.
    """
    ranks = pd.DataFrame({"x": np.asarray(x), "y": np.asarray(y)}).rank()
    a, b = (ranks - ranks.mean()).to_numpy().T

    def total(values: NDArray[np.float64]) -> Draws:
        by_photograph = np.bincount(photograph, values, weights.shape[1])
        return weights.astype(np.float64) @ by_photograph

    count, sum_a, sum_b = total(np.ones_like(a)), total(a), total(b)
    covariance = count * total(a * b) - sum_a * sum_b
    spread = (count * total(a * a) - sum_a**2) * (count * total(b * b) - sum_b**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > ROUNDING, covariance / np.sqrt(spread), np.nan)


def make_controls_table(pooled: PooledRuns) -> Table:
    """Is the depth really per image? Accuracy of each control; adaptive minus it.

    Raises :class:`MissingRun` naming what the sweep lacks.
    """
    controls, rows = compute_controls(pooled.lines), list[Cells]()
    for name, accuracy in controls.accuracy.items():
        title = TITLES.get(name, name.replace("=", " ").capitalize())
        rows.append({
            "Depth": f"{title} ({controls.best_depth})" if name == "global" else title,
            "Accuracy (%)": format_estimate(accuracy[MEAN]),
            "Own depth minus this": format_points(controls.lead[name].get(MEAN)),
            **{format_group(g): format_estimate(accuracy[g]) for g in accuracy if g != MEAN},
        })  # fmt: skip
    rho, rho_within = (
        format_points(estimate, scale=1, digits=2)
        for estimate in (controls.spearman, controls.spearman_within)
    )
    return Table(
        f"Is the depth per image? {format_method(SWEPT)}, severity {pooled.severity}",
        f"Mean of {len(controls.corruptions)} corruptions on {controls.photographs} photographs, "
        f"every image at depths {', '.join(map(str, controls.depths))}, with 95 % intervals. The "
        "depth is per image if adaptive is ahead of t* permuted. The best single depth was chosen "
        "on these images. Spearman correlation of t* with an image's best depth (the shallowest "
        f"at which it is right; {controls.informative} images that are right at some depths only): "
        f"{rho} in all, {rho_within} within a corruption.",
        rows,
        list_sweep_commands(pooled),
    )


def list_sweep_commands(pooled: PooledRuns) -> tuple[str, ...]:
    """The commands of the runs that the controls rest on."""
    fixed = find_sweep(pooled.methods, SWEPT, "depth").values()
    return pooled.list_commands([SOURCE, SWEPT, *fixed])
