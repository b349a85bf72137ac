"""Is the depth really per image? The controls that decide it, from a fixed-depth sweep.

Every control uses the same images and the same swept depths, so that they differ in
nothing but how an image's depth is picked:

- ``measured``: the adaptive method as it ran, without rounding;
- ``adaptive``: the image's own t*, rounded to the nearest swept depth;
- ``permuted``: the t* of an image drawn from those of the same corruption, in
  expectation over all permutations (exact, not sampled);
- ``median``: the corruption's median t* (the lower one of two), for all its images;
- ``global``: one depth for everything, the one that is best on these very images,
  which favours it;
- ``oracle``: right if the image is right at any swept depth;
- ``depth=k``: each swept depth.

Best depth of an image, for Spearman's correlation: the shallowest swept depth at which
it is classified correctly. Images that are right, or wrong, at every swept depth say
nothing about depth and are left out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dga.corruptions import CLEAN, FAMILIES
from dga.lab.analysis.names import MEAN, SOURCE, find_sweep, format_group, format_method
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.statistics import (
    Draws,
    Estimate,
    draw_means,
    draw_resamples,
    make_interval,
)
from dga.lab.analysis.table import Cells, Table, format_estimate, format_points

SWEPT = "dga-guided"
"""The method whose depths are compared with the controls."""
ROUNDING = 1e-6
"""A product of variances of ranks up to this is 0 but for rounding."""
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
    """The controls of :data:`SWEPT`, by group.

    The groups are the mean of all corruptions, and each family of which every corruption was swept.
    """

    images: pd.DataFrame
    """A row for each image, as :func:`_read_sweep` returns them."""
    accuracy: dict[str, dict[str, Estimate]]
    """The accuracy of each control, by group, in [0, 1]."""
    lead: dict[str, dict[str, Estimate]]
    """The accuracy of ``adaptive`` minus that of each control, by group."""
    best_depth: int
    """The depth of the control ``global``."""
    mean_depth: dict[str, float]
    """The mean of the unrounded t*, by group."""

    @property
    def depths(self) -> list[int]:
        """The swept depths; at depth 0 a picture is not changed."""
        return [column for column in self.images if isinstance(column, int)]

    @property
    def corruptions(self) -> list[str]:
        """The corruptions under which the images were swept."""
        return list(self.images.index.unique("corruption"))


def compute_controls(lines: pd.DataFrame) -> DepthControls:
    """Compute all controls from lines of :data:`SWEPT` as it is and at fixed depths.

    A fixed depth is a method such as ``dga-guided:depth=8``; source-only stands for depth 0. Only
    damaged images count that were run with every one of them. Raises :class:`MissingRun` naming
    what the sweep lacks.
    """
    images = _read_sweep(lines)
    draws, best_depth = _draw_accuracies(images)
    controls = DepthControls(images, {n: {} for n in draws}, {n: {} for n in draws}, best_depth, {})
    for group, names in {MEAN: controls.corruptions, **FAMILIES}.items():
        if not set(names) <= set(controls.corruptions):
            continue
        members = [controls.corruptions.index(name) for name in names]
        part = images.loc[list(names)]
        count = part.index.get_level_values("path").nunique()
        controls.mean_depth[group] = float(part["t_star"].mean())
        for name, draw in draws.items():
            accuracy = draw[:, members].mean(axis=1)
            controls.accuracy[name][group] = make_interval(accuracy, count)
            if name != "adaptive":
                gap = (draws["adaptive"] - draw)[:, members].mean(axis=1)
                controls.lead[name][group] = make_interval(gap, count)
    return controls


def _read_sweep(lines: pd.DataFrame) -> pd.DataFrame:
    """A row for each damaged image, indexed by corruption and path.

    The column of each depth, and ``measured`` for the depth that the method chose itself, hold 1
    where the image was classified correctly, else 0. ``t_star`` is the depth that it chose.
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
    return images


def _draw_accuracies(images: pd.DataFrame) -> tuple[dict[str, Draws], int]:
    """Accuracies of every control, and the depth that is best over all corruptions.

    Accuracies are ``[R, C]``: by resample (the sample itself first) and by corruption.
    """
    depths = [column for column in images if isinstance(column, int)]
    fixed = images[depths]
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
    draws |= {f"depth={k}": by_depth[:, :, i] for i, k in enumerate(depths)}
    return draws, depths[best]


def correlate_depths(controls: DepthControls) -> tuple[int, Estimate | None, Estimate | None]:
    """Spearman's correlation of t* with an image's best depth.

    Returns how many images are right at some depths only, which alone count; the correlation over
    all of these; and the mean of the correlations within each corruption, weighted by the number of
    its images. A correlation is None where it is not defined.
    """
    images = controls.images
    is_right = images[controls.depths].to_numpy() > 0
    is_informative = is_right.any(axis=1) & ~is_right.all(axis=1)
    photographs = images.index.unique("path").sort_values()
    weights = draw_resamples(len(photographs)).astype(np.float64)
    informative = images[["t_star"]].assign(best=is_right.argmax(axis=1))[is_informative]
    if informative.empty:
        return 0, None, None

    def correlate(part: pd.DataFrame) -> Draws:
        """The correlation ``[R]`` by resample of photographs; ranks are those of the sample."""
        drawn = weights[:, photographs.get_indexer(part.index.get_level_values("path"))]
        ranks = part.rank()
        a, b = (ranks - ranks.mean()).to_numpy().T
        count, sum_a, sum_b = drawn.sum(axis=1), drawn @ a, drawn @ b
        covariance = count * (drawn @ (a * b)) - sum_a * sum_b
        spread = (count * (drawn @ a**2) - sum_a**2) * (count * (drawn @ b**2) - sum_b**2)
        return covariance / np.sqrt(np.where(spread > ROUNDING, spread, np.nan))

    parts = [part for _, part in informative.groupby(level="corruption")]
    each = np.stack([correlate(part) for part in parts], axis=1)  # [R, C]
    share = np.where(np.isfinite(each), [len(part) for part in parts], 0.0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(each * share, axis=1) / share.sum(axis=1)
    count = informative.index.get_level_values("path").nunique()
    overall = correlate(informative)
    return (
        len(informative),
        make_interval(overall, count) if np.isfinite(overall[0]) else None,
        make_interval(within, count) if np.isfinite(within[0]) else None,
    )


def make_controls_table(pooled: PooledRuns) -> Table:
    """A table of the accuracy of each control, and of how far ``adaptive`` is ahead of it.

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
    informative, *rhos = correlate_depths(controls)
    rho, rho_within = (format_points(estimate, scale=1, digits=2) for estimate in rhos)
    photographs = controls.images.index.unique("path")
    return Table(
        f"Is the depth per image? {format_method(SWEPT)}, severity {pooled.severity}",
        f"Mean of {len(controls.corruptions)} corruptions on {len(photographs)} photographs, "
        f"every image at depths {', '.join(map(str, controls.depths))}, with 95 % intervals. The "
        "depth is per image if adaptive is ahead of t* permuted. The best single depth was chosen "
        "on these images. Spearman correlation of t* with an image's best depth (the shallowest "
        f"at which it is right; {informative} images that are right at some depths only): "
        f"{rho} in all, {rho_within} within a corruption.",
        rows,
        list_sweep_commands(pooled),
    )


def list_sweep_commands(pooled: PooledRuns) -> tuple[str, ...]:
    """The commands of the runs that the controls rest on."""
    fixed = find_sweep(pooled.methods, SWEPT, "depth").values()
    return pooled.list_commands([SOURCE, SWEPT, *fixed])
