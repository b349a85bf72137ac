"""Accuracy by fixed depth: whether depth is well spent per image."""

from matplotlib.axes import Axes

from dga.analysis.depth_controls import DepthControls
from dga.analysis.names import MEAN, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.tables.depths import list_control_methods
from dga.corruptions import CLEAN
from dga.figures.panels import ACCENT, DEPTH, FAMILY, NEUTRAL, Plot, create_panels, styled


@styled
def draw_accuracy_by_depth(pooled: PooledRuns) -> Plot:
    """Accuracy at each fixed depth; the adaptive point and its permuted control on it."""
    controls = pooled.controls
    title = (
        f"Accuracy by fixed depth, {method_title(controls.sweep.adaptive)}, "
        f"severity {pooled.severity}"
    )
    figure, panels = create_panels(title, len(controls.groups))
    for axes, group in zip(panels, controls.groups, strict=True):
        _draw_group(axes, controls, group)
    return Plot(
        title,
        "Line: everything at one depth, with 95 % intervals; filled mark: each image at its own "
        "t*, drawn at the mean t*; hollow: the same depths permuted within a corruption. A filled "
        "mark above the hollow one and the line is depth well spent per image.",
        figure,
        pooled.commands(list_control_methods(pooled)),
    )


def _draw_group(axes: Axes, controls: DepthControls, group: str) -> None:
    depths = controls.sweep.depths
    fixed = [controls.rows[f"depth={k}"].accuracy[group] for k in depths]
    color = FAMILY.get(group, NEUTRAL)
    low, high = [100 * e.low for e in fixed], [100 * e.high for e in fixed]
    axes.fill_between(depths, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(depths, [100 * e.value for e in fixed], color=color)
    place = controls.mean_depth[group]
    permuted = controls.rows["permuted"].accuracy[group]
    axes.plot(place, 100 * permuted.value, "D", color=ACCENT, mfc="white")
    adaptive = controls.rows["adaptive"].accuracy[group]
    arms = [[100 * (adaptive.value - adaptive.low)], [100 * (adaptive.high - adaptive.value)]]
    axes.errorbar(place, 100 * adaptive.value, arms, fmt="D", color=ACCENT)
    corruptions = [name for name in controls.sweep.corruptions if name != CLEAN]
    axes.set_title(f"Mean of {len(corruptions)}" if group == MEAN else group_title(group))
    axes.set_xlabel(DEPTH)
    axes.set_ylabel("accuracy (%)")
