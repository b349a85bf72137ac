"""Figures of accuracy: by fixed depth, by time, by control and by corruption."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from dga.analysis.depth_controls import DepthControls
from dga.analysis.names import MEAN, MethodName, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import Estimate
from dga.analysis.tables.depths import control_methods, control_title
from dga.corruptions import CLEAN, FAMILIES, family_of
from dga.figures.chart import Axis, Chart, Panel, Rule, Series, rounded
from dga.figures.palette import ACCENT, FAMILY, NEUTRAL, Mark, method_style
from dga.titles import SYSTEMS

ACCURACY = "accuracy (%)"
ROW = 24
Style = tuple[str, Mark]


def percent(values: Iterable[float]) -> tuple[float, ...]:
    """From shares of 1, with two decimals."""
    return rounded((100 * value for value in values), 2)


def estimate_point(
    place: float,
    estimate: Estimate,
    style: Style,
    name: str,
    along: Literal["x", "y"] = "y",
    **look: Any,
) -> Series:
    """An estimate in percent with its interval ``along`` an axis, at ``place`` on the other."""
    value, low, high = (percent([v]) for v in (estimate.value, estimate.low, estimate.high))
    x, y = (value, (place,)) if along == "x" else ((place,), value)
    color, mark = style
    return Series(
        "points", x, y, color, name=name, low=low, high=high, along=along, mark=mark, **look
    )


def accuracy_by_depth(pooled: PooledRuns) -> Chart:
    """Accuracy at each fixed depth; the adaptive point and its permuted control on it."""
    controls = pooled.controls
    return Chart(
        "accuracy-depth",
        f"Accuracy by fixed depth, {method_title(controls.sweep.adaptive)}, "
        f"severity {pooled.severity}",
        "Line: everything at one depth; filled mark: each image at its own t*, drawn at the mean "
        "t*; hollow: the same depths permuted within a corruption. A filled mark above the "
        "hollow one and the line is depth well spent per image.",
        tuple(_depth_panel(controls, group) for group in controls.groups),
        columns=min(2, len(controls.groups)),
        height=170,
        commands=pooled.commands(control_methods(pooled)),
    )


def _depth_panel(controls: DepthControls, group: str) -> Panel:
    depths = controls.sweep.depths
    fixed = [controls.rows[f"depth={k}"].accuracy[group] for k in depths]
    line = Series(
        "line",
        rounded(depths, 0),
        percent(e.value for e in fixed),
        FAMILY.get(group, NEUTRAL),
        name="fixed depth",
        low=percent(e.low for e in fixed),
        high=percent(e.high for e in fixed),
    )
    permuted, adaptive = (
        estimate_point(
            round(controls.mean_depth[group], 2),
            controls.rows[name].accuracy[group],
            method_style(controls.sweep.adaptive),
            name,
            labels=(name,) if group == MEAN else (),
            size=9,
        )
        for name in ("permuted", "adaptive")
    )
    hollow = replace(permuted, low=(), high=(), open=True)
    x = Axis("depth (steps of 100)", (-0.5, depths[-1] + 0.5))
    names = [name for name in controls.sweep.corruptions if name != CLEAN]
    title = f"Mean of {len(names)}" if group == MEAN else group_title(group)
    return Panel((line, hollow, adaptive), x, Axis(ACCURACY), title)


def accuracy_by_time(pooled: PooledRuns) -> Chart:
    """Accuracy against seconds an image, a mark a method."""
    series = tuple(
        _method_point(name, seconds, estimate)
        for name in pooled.compared
        if (estimate := pooled.correct.accuracy(name, MEAN)) is not None
        and (seconds := pooled.seconds(name))
    )
    if not series:
        raise MissingRun("no method was run on all fifteen corruptions")
    times = [point.x[0] for point in series]
    heights = [bound for point in series for bound in (*point.low, *point.high)]
    margin = 0.08 * (max(heights) - min(heights)) + 0.5
    x = Axis("seconds an image", (min(times) / 2, max(times) * 2), log=True)
    y = Axis(ACCURACY, (round(min(heights) - margin, 2), round(max(heights) + margin, 2)))
    return Chart(
        "accuracy-time",
        f"Accuracy against time, severity {pooled.severity}",
        "Mean accuracy of the 15 corruptions with its 95 % interval against seconds an image on "
        "the machine of the run (median at each depth); further up is better, further left is "
        "cheaper. Hollow: variants of a system.",
        (Panel(series, x, y),),
        height=400,
        commands=pooled.commands(pooled.compared),
    )


def _method_point(name: str, seconds: float, estimate: Estimate) -> Series:
    method = MethodName.parse(name)
    return estimate_point(
        round(seconds, 4),
        estimate,
        method_style(name),
        method.title,
        labels=(method.title,),
        open=method.base != method.system,
        size=10,
        width=1,
    )


def dots(rows: Sequence[tuple[str, Estimate | None, Style]], title: str, top: str) -> Panel:
    """Estimates with intervals, a row each from the top.

    Rows without an estimate keep their place.
    """
    series = tuple(
        estimate_point(float(-i), estimate, style, name, along="x")
        for i, (name, estimate, style) in enumerate(rows)
        if estimate is not None
    )
    ticks = tuple((float(-i), name) for i, (name, *_) in enumerate(rows))
    return Panel(series, Axis(title), Axis(limits=(0.6 - len(rows), 0.6), ticks=ticks), top)


def differences(rows: Sequence[tuple[str, Estimate | None, Style]], top: str) -> Panel:
    """:func:`dots` in points, about a rule at 0."""
    return replace(dots(rows, "points", top), rules=(Rule("x", 0),))


def controls_figure(pooled: PooledRuns) -> Chart:
    """The controls as dots: accuracy, and adaptive minus each."""
    controls = pooled.controls
    names = ("adaptive", "permuted", "median", "global", "depth=0", "oracle")
    titles = {name: control_title(name, controls) for name in names}
    titles["depth=0"] = SYSTEMS["source"]
    ours = method_style(controls.sweep.adaptive)
    neutral: Style = (NEUTRAL, "circle")
    accuracy = [
        (titles[name], controls.rows[name].accuracy[MEAN], ours if name == "adaptive" else neutral)
        for name in names
    ]
    gain = [
        (titles[name], controls.rows[name].adaptive_minus.get(MEAN), ours)
        for name in names
        if name not in ("adaptive", "oracle")
    ]
    return Chart(
        "controls",
        f"Is the depth per image? {method_title(controls.sweep.adaptive)}, "
        f"severity {pooled.severity}",
        "The same images and depths, picked in different ways, with 95 % intervals: above 0, each "
        "image's own t* beats the control; beating “permuted” is what makes the depth per image.",
        (dots(accuracy, ACCURACY, "Accuracy"), differences(gain, "Own depth minus this")),
        height=ROW * len(names) + 10,
        commands=pooled.commands(control_methods(pooled)),
    )


def gains(pooled: PooledRuns) -> Chart:
    """Gain of our best method over source and over the best DDA, by corruption."""
    method = next((name for name in ("dga-plus", "dga-guided") if name in pooled.methods), None)
    if method is None:
        raise MissingRun("no run of dga-plus or dga-guided")
    rivals = [rival for rival in ("source", best_dda(pooled)) if rival in pooled.methods]
    if not rivals:
        raise MissingRun("no run of source or DDA")
    groups = [MEAN, *(group for item in FAMILIES.items() for group in (item[0], *item[1]))]
    panels = []
    for rival in rivals:
        rows = [
            (
                group_title(group) + (", mean" if group in FAMILIES else ""),
                pooled.correct.difference(method, rival, group),
                _style(group),
            )
            for group in groups
        ]
        panels.append(differences(rows, f"over {method_title(rival)}".replace(" (", "\n(")))
    return Chart(
        "gains",
        f"Gain of {method_title(method)} by corruption, severity {pooled.severity}",
        "Difference in accuracy in points with its 95 % interval; right of 0 is a gain. Diamonds "
        "are means. DDA is the variant with the best mean here.",
        tuple(panels),
        columns=len(panels),
        height=20 * len(groups) + 12,
        commands=pooled.commands(pooled.compared),
    )


def best_dda(pooled: PooledRuns) -> str:
    """The DDA variant with the best mean of 15; "" where none was run."""
    found = {
        name: estimate.value
        for name in pooled.compared
        if MethodName.parse(name).system == "dda"
        and (estimate := pooled.correct.accuracy(name, MEAN)) is not None
    }
    return max(found, key=lambda name: found[name], default="")


def _style(group: str) -> Style:
    if group == MEAN:
        return ACCENT, "diamond"
    if group in FAMILIES:
        return FAMILY[group], "diamond"
    return FAMILY[family_of(group)], "circle"
