"""A chart as a matplotlib figure, for PNG. Never through pyplot."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dga.analysis.tables.table import MINUS
from dga.figures.chart import TEXT, WIDTH, Axis, Chart, Panel, Series
from dga.figures.labels import Label, place_labels
from dga.figures.palette import INK, NEUTRAL

PIXEL = 1 / 90  # inches
POINT = 72 * PIXEL
DPI = 160
WORDS = "#4E5566"
MARKS = {
    "circle": "o",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "square": "s",
    "cross": "P",
    "x": "X",
    "star": "*",
}
DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (4, 2)),
    "dot": (0, (1, 1.5)),
    "dashdot": (0, (4, 1.5, 1, 1.5)),
    "longdash": (0, (8, 2)),
}


def to_matplotlib(chart: Chart) -> Figure:
    """A matplotlib figure of the chart, a telephone wide, on white."""
    height = chart.rows * (chart.height + 26) + 70 + 20 * chart.legend
    figure = Figure(figsize=(WIDTH * PIXEL, height * PIXEL), dpi=DPI, layout="constrained")
    figure.suptitle(
        chart.title, fontsize=13 * POINT, color=INK, fontweight="bold", x=0.01, ha="left", wrap=True
    )
    grid = figure.subplots(chart.rows, chart.columns, squeeze=False)
    for axes in grid.flat[len(chart.panels) :]:
        axes.set_axis_off()
    for index, panel in enumerate(chart.panels):
        _draw(grid[chart.place(index)], chart, index, panel)
    if chart.legend:
        handles, names = grid[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, names, loc="outside lower left", ncols=2, frameon=False,
            fontsize=TEXT * POINT, labelcolor=WORDS,
        )  # fmt: skip
    return figure


def _draw(axes: Axes, chart: Chart, index: int, panel: Panel) -> None:
    bottoms: dict[float, float] = {}
    for series in panel.series:
        _series(axes, series, bottoms)
    for rule in panel.rules:
        line = axes.axvline if rule.axis == "x" else axes.axhline
        line(rule.value, color=NEUTRAL, lw=1 * POINT, ls=":", zorder=1)
    _axis(axes, panel.x, "x", chart.shows_x(index), chart.columns)
    _axis(axes, panel.y, "y", chart.shows_y(index), chart.columns)
    if not panel.x.bare:
        axes.grid(True, color="#DFE2E9", lw=0.8 * POINT)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if panel.title:
        axes.set_title(
            panel.title, fontsize=TEXT * POINT, color=WORDS, fontweight="bold", loc="left", pad=3
        )
    for label in place_labels(panel, chart.panel_width, chart.height):
        _label(axes, label)


def _axis(axes: Axes, axis: Axis, which: str, shown: bool, columns: int) -> None:
    inner = axes.xaxis if which == "x" else axes.yaxis
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
        inner.set_minor_locator(NullLocator())
    if axis.marks:
        inner.set_major_locator(FixedLocator([value for value, _ in axis.marks]))
        texts = dict(axis.marks)
        inner.set_major_formatter(FuncFormatter(lambda value, _: texts.get(value, "")))
    else:
        inner.set_major_locator(MaxNLocator(5 if columns < 3 else 3, steps=[1, 2, 2.5, 5, 10]))
        inner.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", MINUS)))
    if axis.limits:
        axes.set(**{f"{which}lim": axis.limits})
    inner.set_tick_params(
        which="both", length=0, labelsize=TEXT * POINT, labelcolor=WORDS,
        **{("labelbottom" if which == "x" else "labelleft"): shown and not axis.bare},
    )  # fmt: skip
    if shown:
        inner.set_label_text(axis.title, fontsize=TEXT * POINT, color=WORDS)


def _series(axes: Axes, series: Series, bottoms: dict[float, float]) -> None:
    x, y, color = series.x, series.y, series.color
    if series.kind == "bars":
        below = [bottoms.get(position, 0.0) for position in x]
        bottoms.update({p: b + v for p, b, v in zip(x, below, y, strict=True)})
        axes.bar(
            x, y, series.width, below, color=color, alpha=series.opacity, label=series.name,
            linewidth=0,
        )  # fmt: skip
    elif series.kind == "line":
        if series.low:
            axes.fill_between(x, series.low, series.high, color=color, alpha=0.18, linewidth=0)
        axes.plot(
            x, y, color=color, lw=series.width * POINT, ls=DASHES[series.dash],
            alpha=series.opacity, label=series.name,
        )  # fmt: skip
    else:
        _points(axes, series)


def _points(axes: Axes, series: Series) -> None:
    spread: dict[str, Any] = {}
    if series.low:
        arms = [(c - low, high - c) for c, low, high in series.intervals]
        spread = {f"{series.along}err": list(zip(*arms, strict=True))}
    axes.errorbar(
        series.x, series.y, **spread, fmt=MARKS[series.mark], color=series.color,
        ms=series.size * POINT, mfc="white" if series.open else series.color,
        mew=(2 if series.open else 0) * POINT, elinewidth=series.width * POINT,
        alpha=series.opacity, label=series.name, clip_on=False, zorder=3,
    )  # fmt: skip


def _label(axes: Axes, label: Label) -> None:
    roots = {"right": (0, 0.5), "left": (1, 0.5), "center": (0.5, 0.5)}
    leader = {
        "arrowstyle": "-", "color": label.color, "lw": 0.8 * POINT, "shrinkA": 0,
        "relpos": roots[label.side],
    }  # fmt: skip
    axes.annotate(
        label.text,
        (1.0 if label.edge else label.x, label.y),
        (label.dx * POINT, -label.dy * POINT),
        textcoords="offset points",
        fontsize=TEXT * POINT,
        color=WORDS,
        xycoords=("axes fraction" if label.edge else "data", "data"),
        ha=label.anchor,
        va="center",
        arrowprops=leader if abs(label.dy) > 2 and label.side != "center" else None,
        annotation_clip=False,
    )
