"""A chart as a plotly figure: transparent, readable in light and dark."""

from __future__ import annotations

import math
from typing import Any, Literal

import plotly.graph_objects as go

from dga.figures.chart import TEXT, WIDTH, Axis, Chart, Panel, Rule, Series
from dga.figures.labels import Label, place_labels
from dga.figures.palette import GRID, NEUTRAL

FONT = "'IBM Plex Sans', Inter, system-ui, sans-serif"
Theme = Literal["both", "light", "dark"]
WORDS = {"both": NEUTRAL, "light": "#4E5566", "dark": "#B3BAC9"}
ROW_GAP, TITLE, AXIS_WORDS, LEGEND_ROW = 14, 20, 42, 22
HOVER = "%{x:.4~g}, %{y:.4~g}"


def to_plotly(chart: Chart, theme: Theme = "both") -> Any:
    """A plotly ``Figure`` of the chart, as wide as its container.

    Theme "both" has words in a grey that stands out from white and from a dark card.
    """
    layout: dict[str, Any] = {
        "template": go.layout.Template(),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": TEXT, "color": WORDS[theme]},
        "hovermode": "closest",
        "barmode": "stack",
        "shapes": [],
        "annotations": [],
        **_frame(chart),
    }
    traces: list[Any] = []
    for index, panel in enumerate(chart.panels):
        axes = _axis_names(index)
        layout |= _axes(chart, index)
        layout["shapes"] += [_rule(rule, axes) for rule in panel.rules]
        layout["annotations"] += _words(chart, index, WORDS[theme])
        for series in panel.series:
            traces += _traces(series, axes, chart.legend and index == 0)
    return go.Figure(data=traces, layout=layout)


def _axis_names(index: int) -> tuple[str, str]:
    number = "" if index == 0 else str(index + 1)
    return f"x{number}", f"y{number}"


def _row_gap(chart: Chart) -> int:
    """Pixels between rows of panels: room for titles, and for x axes where they show."""
    inner = any(
        chart.shows_x(i) for i in range(len(chart.panels)) if chart.place(i)[0] < chart.rows - 1
    )
    return ROW_GAP + _title_height(chart) + AXIS_WORDS * inner


def _title_height(chart: Chart) -> int:
    """Pixels for the longest of the panels' titles, which may have several lines."""
    lines = [panel.title.count("\n") + 1 for panel in chart.panels if panel.title]
    return TITLE * max(lines, default=0)


def _frame(chart: Chart) -> dict[str, Any]:
    """Height, margins and legend."""
    body = chart.rows * chart.height + (chart.rows - 1) * _row_gap(chart)
    names = {s.name for s in chart.panels[0].series if s.name} if chart.legend else set()
    legend = LEGEND_ROW * -(-len(names) // 2)
    top = _title_height(chart) + 8
    bottom = 52 + legend
    frame: dict[str, Any] = {
        "height": body + top + bottom,
        "margin": {"l": 8, "r": _right_margin(chart), "t": top, "b": bottom, "pad": 2},
        "showlegend": chart.legend,
    }
    if chart.legend:
        frame["legend"] = {
            "orientation": "h", "x": 0, "xanchor": "left", "y": -46 / body, "yanchor": "top",
            "font": {"size": TEXT},
        }  # fmt: skip
    return frame


def _right_margin(chart: Chart) -> int:
    """Room for the labels of line ends in the last column."""
    ends = [
        text
        for panel in chart.panels
        for series in panel.series
        if series.kind == "line"
        for text in series.labels
    ]
    return 12 + int(0.6 * TEXT * max(map(len, ends), default=0)) + (8 if ends else 0)


def _domains(chart: Chart, index: int) -> tuple[list[float], list[float]]:
    """The panel's place on the paper, as fractions."""
    row, column = chart.place(index)
    shared = all(not chart.shows_y(i) for i in range(len(chart.panels)) if i % chart.columns)
    gap = (18 if shared else 44) / (WIDTH - 60)
    width = (1 - gap * (chart.columns - 1)) / chart.columns
    between = _row_gap(chart)
    body = chart.rows * chart.height + (chart.rows - 1) * between
    top = 1 - row * (chart.height + between) / body
    left = column * (width + gap)
    x, y = [left, left + width], [max(0.0, top - chart.height / body), top]
    return [round(v, 4) for v in x], [round(v, 4) for v in y]


def _axes(chart: Chart, index: int) -> dict[str, Any]:
    panel = chart.panels[index]
    x, y = _axis_names(index)
    across, up = _domains(chart, index)
    return {
        x.replace("x", "xaxis"): {
            **_axis(panel.x, chart.shows_x(index), chart.columns), "domain": across, "anchor": y,
        },
        y.replace("y", "yaxis"): {
            **_axis(panel.y, chart.shows_y(index), chart.columns), "domain": up, "anchor": x,
        },
    }  # fmt: skip


def _axis(axis: Axis, shown: bool, columns: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "gridcolor": GRID,
        "linecolor": GRID,
        "zeroline": False,
        "automargin": True,
        "showticklabels": shown and not axis.bare,
        "showgrid": not axis.bare,
        "nticks": 6 if columns < 3 else 3,
    }
    if axis.title and shown:
        made["title"] = {"text": axis.title, "standoff": 6, "font": {"size": TEXT}}
    if axis.log:
        made["type"] = "log"
    if axis.limits:
        made["range"] = [_on_axis(axis, value) for value in axis.limits]
    if axis.marks:
        made["tickvals"] = [value for value, _ in axis.marks]
        made["ticktext"] = [text for _, text in axis.marks]
    return made


def _on_axis(axis: Axis, value: float) -> float:
    """Where plotly counts a value of this axis."""
    return round(math.log10(value), 5) if axis.log else value


def _rule(rule: Rule, axes: tuple[str, str]) -> dict[str, Any]:
    x, y = axes
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    v = rule.value
    ends: dict[str, Any]
    if rule.axis == "x":
        ends = {"x0": v, "x1": v, "y0": 0, "y1": 1, "xref": x, "yref": f"{y} domain"}
    else:
        ends = {"x0": 0, "x1": 1, "y0": v, "y1": v, "xref": f"{x} domain", "yref": y}
    return {"type": "line", "line": line, "layer": "below", **ends}


def _words(chart: Chart, index: int, color: str) -> list[dict[str, Any]]:
    """A panel's title and labels, as annotations."""
    panel, (x, y) = chart.panels[index], _axis_names(index)
    words = [
        _label(panel, label, x, y) for label in place_labels(panel, chart.panel_width, chart.height)
    ]
    if panel.title:
        title = panel.title.replace("\n", "<br>")
        words.append(
            {
                "text": f"<b>{title}</b>", "showarrow": False, "font": {"color": color},
                "xref": f"{x} domain", "yref": f"{y} domain", "x": 0, "y": 1,
                "xanchor": "left", "yanchor": "bottom", "align": "left",
            }
        )  # fmt: skip
    return words


def _label(panel: Panel, label: Label, x: str, y: str) -> dict[str, Any]:
    return {
        "text": label.text,
        "xref": f"{x} domain" if label.edge else x,
        "yref": y,
        "x": 1 if label.edge else _on_axis(panel.x, label.x),
        "y": _on_axis(panel.y, label.y),
        "ax": label.dx,
        "ay": label.dy,
        "xanchor": label.anchor,
        "yanchor": "middle",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1 if label.side != "center" else 0.1,
        "arrowcolor": label.color,
        "standoff": 3,
        "borderpad": 1,
    }


def _traces(series: Series, axes: tuple[str, str], legend: bool) -> list[Any]:
    common: dict[str, Any] = {
        "x": list(series.x),
        "y": list(series.y),
        "xaxis": axes[0],
        "yaxis": axes[1],
        "name": series.name,
        "opacity": series.opacity,
        "showlegend": legend and bool(series.name),
        "hovertemplate": f"{HOVER}<extra>{series.name}</extra>",
    }
    marker: dict[str, Any]
    if series.kind == "bars":
        marker = {"color": series.color, "line": {"width": 0}}
        return [go.Bar(**common, marker=marker, width=series.width)]
    if series.kind == "line":
        line = {"color": series.color, "width": series.width, "dash": series.dash}
        band = [_band(series, axes)] if series.low else []
        return [*band, go.Scatter(**common, mode="lines", line=line)]
    symbol = f"{series.mark}-open" if series.open else series.mark
    line = {"width": 2 if series.open else 0}
    marker = {"color": series.color, "symbol": symbol, "size": series.size, "line": line}
    error: dict[str, Any] = {}
    if series.low:
        said = [f"{c:.4g} ({low:.4g} to {high:.4g})" for c, low, high in series.intervals]
        error = {f"error_{series.along}": _error(series), "text": said}
        common["hovertemplate"] = f"%{{text}}<extra>{series.name}</extra>"
    return [go.Scatter(**common, mode="markers", marker=marker, **error, cliponaxis=False)]


def _error(series: Series) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(high - c, 4) for c, _, high in series.intervals],
        "arrayminus": [round(c - low, 4) for c, low, _ in series.intervals],
        "color": series.color,
        "thickness": series.width,
        "width": 0,
    }


def _band(series: Series, axes: tuple[str, str]) -> Any:
    return go.Scatter(
        x=[*series.x, *reversed(series.x)],
        y=[*series.high, *reversed(series.low)],
        xaxis=axes[0],
        yaxis=axes[1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=series.color,
        opacity=0.18,
        hoverinfo="skip",
        showlegend=False,
    )
