"""Where words stand beside points and line ends without covering one another."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from dga.figures.chart import TEXT, Axis, Panel, Series

GAP = TEXT + 2
AWAY = 12
LETTER = 0.56 * TEXT
# With more points than this, words may stand on some: there is no other place.
CROWD = 40
Side = Literal["left", "right", "center"]
_OPPOSITE: dict[Side, Side] = {"right": "left", "left": "right", "center": "center"}
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Label:
    """``text`` stands ``dx`` pixels right of and ``dy`` below the point (x, y).

    At the ``edge``, x counts no more: the point is where y meets the panel's right side.
    """

    text: str
    x: float
    y: float
    dx: float
    dy: float
    side: Side
    color: str
    edge: bool = False

    @property
    def anchor(self) -> Side:
        """The end of the words that is nearest to the point."""
        return _OPPOSITE[self.side]


class _Point(NamedTuple):
    """One point of a series: pixels from the panel's top left, what its mark and bar cover."""

    series: Series
    text: str
    x: float
    y: float
    left: float
    top: float
    box: Box
    bar: Box


def place_labels(panel: Panel, width: float, height: float) -> list[Label]:
    """Every label of a panel of ``width`` by ``height`` pixels; wider, one may reach a bar.

    A line's stands outside the panel, at its right; a point's beside it.
    """
    points = [
        point
        for series in panel.series
        if series.kind != "bars"
        for point in _points(panel, series, width, height)
    ]
    return [*_line_ends(points, height), *_beside_points(points, width, height)]


def _points(panel: Panel, series: Series, width: float, height: float) -> Iterator[_Point]:
    across = _span(panel, "x"), _span(panel, "y")
    half = (series.size if series.kind == "points" else series.width) / 2 + 1
    ends = series.along == "y" and series.kind == "points" and series.low
    lows, highs = (series.low, series.high) if ends else (series.y, series.y)
    texts = series.labels or repeat("")
    for text, x, y, low, high in zip(texts, series.x, series.y, lows, highs, strict=False):
        left = width * fraction(panel.x, x, across[0])
        top = height * (1 - fraction(panel.y, y, across[1]))
        box = (left - half, top - half, left + half, top + half)
        down, up = (height * (1 - fraction(panel.y, end, across[1])) for end in (low, high))
        bar = (left - 1, up, left + 1, down)
        yield _Point(series, text, x, y, left, top, box, bar)


def _span(panel: Panel, which: Literal["x", "y"]) -> tuple[float, float]:
    """An axis's limits, or else the range of what is drawn."""
    axis: Axis = getattr(panel, which)
    drawn = [value for series in panel.series for value in getattr(series, which)]
    return axis.limits or (min(drawn), max(drawn))


def spread(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions at least ``gap`` apart and within low...high, moved as little as possible.

    Least squares in the order of the values; where they cannot all fit, they keep
    their gap and start at ``low``.
    """
    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(values))
    free = isotonic_regression(np.asarray(values, float)[order] - steps).x
    back = np.empty(len(values))
    back[order] = np.clip(free, low, max(low, high - gap * (len(values) - 1))) + steps
    return [float(value) for value in back]


def _line_ends(points: Sequence[_Point], height: float) -> list[Label]:
    ends = [point for point in points if point.text and point.series.kind == "line"]
    tops = [point.top for point in ends]
    placed = spread(tops, GAP, GAP / 2, height - GAP / 2) if ends else []
    return [
        Label(
            at.text, at.x, at.y, AWAY, round(new - at.top, 1), "right", at.series.color, edge=True
        )
        for at, new in zip(ends, placed, strict=True)
    ]


def _beside_points(points: Sequence[_Point], width: float, height: float) -> list[Label]:
    """Beside its point, or as near as there is room; from the top down."""
    taken = [box for at in points for box in (at.box, at.bar)] if len(points) <= CROWD else []
    labels = []
    named = (point for point in points if point.text and point.series.kind == "points")
    for at in sorted(named, key=lambda point: point.box[1]):
        others = [box for box in taken if box != at.box]
        side, dx, dy, box = next(
            (place for place in _places(at) if _fits(place[3], others, width, height)),
            next(_places(at)),
        )
        taken.append(box)
        labels.append(Label(at.text, at.x, at.y, dx, dy, side, at.series.color))
    return labels


def _fits(box: Box, taken: Sequence[Box], width: float, height: float) -> bool:
    """Whether a box is inside the panel and free."""
    left, top, right, bottom = box
    if left < 0 or right > width or top < 0 or bottom > height:
        return False
    return not any(left < r and right > x and top < b and bottom > y for x, y, r, b in taken)


def _places(at: _Point) -> Iterator[tuple[Side, float, float, Box]]:
    """Right and left of the point, above and below it, then further up and down."""
    long = LETTER * len(at.text)
    sides: tuple[tuple[Side, float, float], ...] = (("right", AWAY, 0), ("left", -AWAY, -long))
    for step in range(18):
        for dy in (-step * GAP / 2, step * GAP / 2):
            for side, dx, shift in sides:
                left, top = at.left + dx + shift, at.top + dy - GAP / 2
                yield side, dx, dy, (left, top, left + long, top + GAP)
        if step == 2:
            for dy in (-GAP - 2.0, GAP + 2.0):
                left, top = at.left - long / 2, at.top + dy - GAP / 2
                yield "center", 0.0, dy, (left, top, left + long, top + GAP)


def fraction(axis: Axis, value: float, span: tuple[float, float]) -> float:
    """How far along the axis a value lies, 0 to 1."""
    low, high = span
    if axis.log:
        low, high, value = (math.log10(v) for v in (low, high, value))
    return (value - low) / (high - low) if high > low else 0.5
