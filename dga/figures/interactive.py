"""A chart as a plotly figure: transparent, readable in light and dark."""

import math
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dga.figures.chart import TEXT, WIDTH, Axis, Chart, Panel, Series
from dga.figures.labels import Label, place_labels
from dga.figures.palette import GRID, NEUTRAL

FONT = "'IBM Plex Sans', Inter, system-ui, sans-serif"
ROW_GAP, TITLE, AXIS_WORDS, LEGEND_ROW = 14, 20, 42, 22
HOVER = "%{x:.4~g}, %{y:.4~g}"


def to_plotly(chart: Chart) -> Any:
    """A plotly ``Figure`` of the chart, as wide as its container.

    Its words have a grey that stands out from white and from a dark card.
    """
    names = {s.name for s in chart.panels[0].series if s.name} if chart.legend else set()
    lines = [panel.title.count("\n") + 1 for panel in chart.panels if panel.title]
    title = TITLE * max(lines, default=0)
    inner = any(chart.shows_x(i) for i in range((chart.rows - 1) * chart.columns))
    between = ROW_GAP + title + AXIS_WORDS * inner
    body = chart.rows * chart.height + (chart.rows - 1) * between
    top, bottom = title + 8, 52 + LEGEND_ROW * -(-len(names) // 2)
    shared = all(not chart.shows_y(i) for i in range(len(chart.panels)) if i % chart.columns)
    cells: list[dict | None] = [
        {} if i < len(chart.panels) else None for i in range(chart.rows * chart.columns)
    ]
    figure = make_subplots(
        chart.rows,
        chart.columns,
        horizontal_spacing=(18 if shared else 44) / (WIDTH - 60) if chart.columns > 1 else None,
        vertical_spacing=between / body if chart.rows > 1 else None,
        specs=[cells[i : i + chart.columns] for i in range(0, len(cells), chart.columns)],
    )
    figure.update_layout(
        template=go.layout.Template(),
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": TEXT, "color": NEUTRAL},
        hovermode="closest",
        barmode="stack",
        height=body + top + bottom,
        margin={"l": 8, "r": _right_margin(chart), "t": top, "b": bottom, "pad": 2},
        showlegend=chart.legend,
    )
    if chart.legend:
        figure.update_layout(legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": -46 / body, "yanchor": "top",
            "font": {"size": TEXT},
        })  # fmt: skip
    for index, panel in enumerate(chart.panels):
        row, column = chart.place(index)
        place = {"row": row + 1, "col": column + 1}
        figure.update_xaxes(_axis(panel.x, chart.shows_x(index), chart.columns), **place)
        figure.update_yaxes(_axis(panel.y, chart.shows_y(index), chart.columns), **place)
        for words in _words(chart, panel):
            figure.add_annotation(words, **place)
        for series in panel.series:
            for trace in _traces(series, chart.legend and index == 0):
                figure.add_trace(trace, **place)
        for rule in panel.rules:
            line = {"line": {"color": NEUTRAL, "width": 1, "dash": "dot"}, "layer": "below"}
            draw = figure.add_vline if rule.axis == "x" else figure.add_hline
            draw(rule.value, **line, **place)
    return figure


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


def _words(chart: Chart, panel: Panel) -> list[dict[str, Any]]:
    """A panel's title and labels, as annotations."""
    words = [_label(panel, at) for at in place_labels(panel, chart.panel_width, chart.height)]
    if panel.title:
        title = panel.title.replace("\n", "<br>")
        words.append(
            {
                "text": f"<b>{title}</b>", "showarrow": False, "xref": "x domain",
                "yref": "y domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom",
                "align": "left",
            }
        )  # fmt: skip
    return words


def _label(panel: Panel, label: Label) -> dict[str, Any]:
    return {
        "text": label.text,
        "xref": "x domain" if label.edge else "x",
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


def _traces(series: Series, legend: bool) -> list[Any]:
    common: dict[str, Any] = {
        "x": list(series.x),
        "y": list(series.y),
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
        band = [_band(series)] if series.low else []
        return [*band, go.Scatter(**common, mode="lines", line=line)]
    symbol = f"{series.mark}-open" if series.open else series.mark
    line = {"width": 2 if series.open else 0}
    marker = {"color": series.color, "symbol": symbol, "size": series.size, "line": line}
    error: dict[str, Any] = {}
    if series.low:
        texts = [f"{c:.4g} ({low:.4g} to {high:.4g})" for c, low, high in series.intervals]
        error = {f"error_{series.along}": _error(series), "text": texts}
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


def _band(series: Series) -> Any:
    return go.Scatter(
        x=[*series.x, *reversed(series.x)],
        y=[*series.high, *reversed(series.low)],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=series.color,
        opacity=0.18,
        hoverinfo="skip",
        showlegend=False,
    )
