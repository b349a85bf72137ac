"""Figures of accuracy: by fixed depth, by time, by control and by corruption."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dga.analysis.controls import Controls
from dga.analysis.names import MEAN, MethodName, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import Estimate
from dga.analysis.tables.depths import control_title
from dga.corruptions import FAMILIES, family_of
from dga.figures.chart import Axis, Chart, Panel, Rule, Series, rounded
from dga.figures.palette import ACCENT, FAMILY, NEUTRAL, Mark, method_style

ACCURACY = "accuracy (%)"
ROW = 24


def accuracy_by_depth(controls: Controls) -> Chart:
    """Accuracy at each fixed depth; the adaptive point and its permuted control on it."""
    groups = [group for group in (MEAN, *FAMILIES) if group in controls.rows[0].accuracy]
    return Chart(
        "accuracy-depth",
        f"Accuracy by fixed depth, {method_title(controls.sweep.adaptive)}",
        "Line: everything at one depth; filled mark: each image at its own t*, drawn at the mean "
        "t*; hollow: the same depths permuted within a corruption. A filled mark above the "
        "hollow one and the line is depth well spent per image.",
        tuple(_depth_panel(controls, group) for group in groups),
        columns=min(2, len(groups)),
        height=170,
    )


def _depth_panel(controls: Controls, group: str) -> Panel:
    depths = controls.sweep.depths
    fixed = [controls.row(f"depth={k}").accuracy[group] for k in depths]
    color, mark = method_style(controls.sweep.adaptive)
    line = Series(
        "line",
        rounded(depths, 0),
        _percent(e.value for e in fixed),
        FAMILY.get(group, NEUTRAL),
        name="fixed depth",
        low=_percent(e.low for e in fixed),
        high=_percent(e.high for e in fixed),
    )
    at = controls.mean_depth[group]
    points = [
        _point(at, controls.row(name).accuracy[group], (color, mark), name, group == MEAN)
        for name in ("permuted", "adaptive")
    ]
    x = Axis("depth (steps of 100)", (-0.5, depths[-1] + 0.5))
    names = [name for name in controls.sweep.corruptions if name != "clean"]
    title = f"Mean of {len(names)}" if group == MEAN else group_title(group)
    return Panel((line, *points), x, Axis(ACCURACY), title)


def _point(
    x: float, estimate: Estimate, style: tuple[str, Mark], name: str, labelled: bool
) -> Series:
    """The adaptive point with its interval, or the hollow permuted one without."""
    hollow = name == "permuted"
    return Series(
        "points",
        rounded([x], 2),
        _percent([estimate.value]),
        style[0],
        name=name,
        labels=(name,) if labelled else (),
        low=() if hollow else _percent([estimate.low]),
        high=() if hollow else _percent([estimate.high]),
        mark=style[1],
        open=hollow,
        size=9,
    )


def _percent(values: Iterable[float]) -> tuple[float, ...]:
    return rounded((100 * value for value in values), 2)


def accuracy_by_time(pooled: PooledRuns) -> Chart:
    """Accuracy against seconds an image, a mark a method."""
    series = tuple(
        _method_point(name, seconds, estimate)
        for name in pooled.compared
        if (estimate := pooled.outcomes.accuracy(name, MEAN)) is not None
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
    )


def _method_point(name: str, seconds: float, estimate: Estimate) -> Series:
    method, (color, mark) = MethodName.parse(name), method_style(name)
    return Series(
        "points",
        rounded([seconds]),
        _percent([estimate.value]),
        color,
        name=method.title,
        labels=(method.title,),
        low=_percent([estimate.low]),
        high=_percent([estimate.high]),
        mark=mark,
        open=method.base != method.system,
        size=10,
        width=1,
    )


def dots(rows: Sequence[tuple[str, Estimate | None, str, Mark]], title: str, top: str) -> Panel:
    """Estimates with intervals, a row each from the top; colours and marks are given.

    Rows without an estimate keep their place.
    """
    ticks = tuple((float(-i), name) for i, (name, *_) in enumerate(rows))
    series = [
        Series(
            "points",
            _percent([estimate.value]),
            (float(-i),),
            color,
            name=name,
            low=_percent([estimate.low]),
            high=_percent([estimate.high]),
            along="x",
            mark=mark,
        )
        for i, (name, estimate, color, mark) in enumerate(rows)
        if estimate is not None
    ]
    y = Axis(limits=(0.6 - len(rows), 0.6), ticks=ticks)
    return Panel(tuple(series), Axis(title), y, top)


def controls_figure(controls: Controls) -> Chart:
    """The controls as dots: accuracy, and adaptive minus each."""
    names = ["adaptive", "permuted", "median", "global", "depth=0", "oracle"]
    color, mark = method_style(controls.sweep.adaptive)
    rows = [(controls.row(name), control_title(name, controls)) for name in names]
    rows = [(row, "No change (source)" if row.name == "depth=0" else text) for row, text in rows]
    styles: list[tuple[str, Mark]] = [
        (color, mark) if row.name == "adaptive" else (NEUTRAL, "circle") for row, _ in rows
    ]
    accuracy = dots(
        [
            (text, row.accuracy[MEAN], *style)
            for (row, text), style in zip(rows, styles, strict=True)
        ],
        ACCURACY,
        "Accuracy",
    )
    compared = [(row, text) for row, text in rows if row.name not in ("adaptive", "oracle")]
    gain = dots(
        [(text, row.adaptive_minus.get(MEAN), color, mark) for row, text in compared],
        "points",
        "Adaptive minus it",
    )
    gain = Panel(gain.series, gain.x, gain.y, gain.title, (Rule("x", 0),))
    return Chart(
        "controls",
        f"Is the depth per image? {method_title(controls.sweep.adaptive)}",
        "The same images and depths, picked in different ways, with 95 % intervals: above 0, each "
        "image's own t* beats the control; beating “permuted” is what makes the depth per image.",
        (accuracy, gain),
        height=ROW * len(names) + 10,
    )


def gains(pooled: PooledRuns, method: str = "dga-guided") -> Chart:
    """Gain over source and over the best DDA, by corruption."""
    if method not in pooled.methods:
        raise MissingRun(f"no run of {method}")
    rivals = [rival for rival in ("source", best_dda(pooled)) if rival in pooled.methods]
    if not rivals:
        raise MissingRun("no run of source or DDA")
    groups = [MEAN]
    for family, names in FAMILIES.items():
        groups += [family, *names]
    panels = []
    for rival in rivals:
        rows = [
            (_gain_title(g), pooled.outcomes.difference(method, rival, g), *_group_style(g))
            for g in groups
        ]
        panel = dots(rows, "points", f"over {method_title(rival)}".replace(" (", "\n("))
        panels.append(Panel(panel.series, panel.x, panel.y, panel.title, (Rule("x", 0),)))
    return Chart(
        "gains",
        f"Gain of {method_title(method)} by corruption, severity {pooled.severity}",
        "Difference in accuracy in points with its 95 % interval; right of 0 is a gain. Diamonds "
        "are means. DDA is the variant with the best mean here.",
        tuple(panels),
        columns=len(panels),
        height=20 * len(groups) + 12,
    )


def best_dda(pooled: PooledRuns) -> str:
    """The DDA variant with the best mean of 15; "" where none was run."""
    found = {
        name: estimate.value
        for name in pooled.compared
        if MethodName.parse(name).system == "dda"
        and (estimate := pooled.outcomes.accuracy(name, MEAN)) is not None
    }
    return max(found, key=lambda name: found[name], default="")


def _gain_title(group: str) -> str:
    return f"{group_title(group)}, mean" if group in FAMILIES else group_title(group)


def _group_style(group: str) -> tuple[str, Mark]:
    if group == MEAN:
        return ACCENT, "diamond"
    if group in FAMILIES:
        return FAMILY[group], "diamond"
    return FAMILY[family_of(group)], "circle"
