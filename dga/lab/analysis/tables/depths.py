"""Where pictures halt, and the table that says whether it is per image."""

import pandas as pd

from dga.lab.analysis.depth_controls import DepthControls
from dga.lab.analysis.names import MEAN, SOURCE, find_sweep, group_title, method_title
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.tables.table import Cells, Table, format_estimate, format_points

# Both halt at the same depths: guidance comes after t*.
ADAPTIVE = ("dga-guided", "dga")
CONTROL_TITLES = {
    "measured": "Adaptive, as run",
    "adaptive": "Adaptive, nearest swept depth",
    "permuted": "t* permuted within a corruption",
    "median": "Median t* of the corruption",
    "global": "Best single depth",
    "oracle": "Best depth of each image (oracle)",
}


def select_adaptive_lines(pooled: PooledRuns) -> tuple[str, pd.DataFrame]:
    """DGA + G or else DGA, and its lines. Raises :class:`MissingRun`."""
    for name in ADAPTIVE:
        if name in pooled.methods:
            return name, pooled.lines[pooled.lines["method"] == name]
    raise MissingRun(f"no run of {' or '.join(ADAPTIVE)}")


def make_controls_table(pooled: PooledRuns) -> Table:
    """Is the depth really per image? Accuracy of each control; adaptive minus it.

    Raises :class:`MissingRun` naming what the sweep lacks.
    """
    controls = pooled.controls
    rows = list[Cells]()
    for name, row in controls.rows.items():
        title = CONTROL_TITLES.get(name, name.replace("=", " ").capitalize())
        others = [group for group in controls.groups if group != MEAN]
        rows.append({
            "Depth": f"{title} ({controls.best_depth})" if name == "global" else title,
            "Accuracy (%)": format_estimate(row.accuracy[MEAN]),
            "Own depth minus this": format_points(row.adaptive_minus.get(MEAN)),
            **{group_title(g): format_estimate(row.accuracy[g]) for g in others},
        })  # fmt: skip
    return Table(
        f"Is the depth per image? {method_title(controls.sweep.adaptive)}, "
        f"severity {pooled.severity}",
        _controls_caption(controls),
        rows,
        pooled.commands(list_control_methods(pooled)),
    )


def list_control_methods(pooled: PooledRuns) -> list[str]:
    """The methods whose lines the controls rest on."""
    base = pooled.controls.sweep.adaptive
    return [SOURCE, base, *find_sweep(pooled.methods, base, "depth").values()]


def _controls_caption(controls: DepthControls) -> str:
    sweep = controls.sweep
    rho, rho_within = (
        format_points(estimate, scale=1, digits=2)
        for estimate in (controls.spearman, controls.spearman_within)
    )
    return (
        f"Mean of {len(sweep.corruptions)} corruptions on {len(sweep.photographs)} photographs, "
        f"every image at depths {', '.join(map(str, sweep.depths))}, with 95 % intervals. The "
        "depth is per image if adaptive is ahead of t* permuted. The best single depth was chosen "
        "on these images. Spearman correlation of t* with an image's best depth (the shallowest "
        f"at which it is right; {controls.informative} images that are right at some depths only): "
        f"{rho} in all, {rho_within} within a corruption."
    )
