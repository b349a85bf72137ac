"""Where words stand beside points and line ends without covering one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product, repeat
from typing import Literal

import numpy as np
from numpy.typing import NDArray
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


def place_labels(panel: Panel, width: float, height: float) -> list[Label]:
    """Every label of a panel of ``width`` by ``height`` pixels; wider only gives more room.

    A line's stands outside the panel, at its right; a point's beside it.
    """
    canvas = _Canvas(panel, width, height)
    return [*_line_ends(canvas), *_beside_points(canvas)]


@dataclass(frozen=True)
class _Canvas:
    """A panel in pixels from its top left."""

    panel: Panel
    width: float
    height: float

    @cached_property
    def _spans(self) -> dict[str, tuple[float, float]]:
        """Each axis's limits, or else the range of what is drawn."""
        panel, spans = self.panel, {}
        for which, axis in (("x", panel.x), ("y", panel.y)):
            drawn = [value for series in panel.series for value in getattr(series, which)]
            spans[which] = axis.limits or (min(drawn), max(drawn))
        return spans

    def left(self, x: float) -> float:
        """Pixels from the left edge to a value of the x axis."""
        return self.width * fraction(self.panel.x, x, self._spans["x"])

    def top(self, y: float) -> float:
        """Pixels from the upper edge to a value of the y axis."""
        return self.height * (1 - fraction(self.panel.y, y, self._spans["y"]))

    def box(self, series: Series, x: float, y: float) -> Box:
        """What a point's mark covers."""
        left, top = self.left(x), self.top(y)
        half = (series.size if series.kind == "points" else series.width) / 2 + 1
        return left - half, top - half, left + half, top + half

    def fits(self, box: Box, taken: Sequence[Box]) -> bool:
        """Whether a box is inside the panel and free."""
        left, top, right, bottom = box
        if left < 0 or right > self.width or top < 0 or bottom > self.height:
            return False
        return not any(left < r and right > x and top < b and bottom > y for x, y, r, b in taken)


def spread(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions at least ``gap`` apart and within low...high, moved as little as possible.

    Least squares in the order of the values; where they cannot all fit, they keep
    their gap and start at ``low``.
    """
    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(values))
    free = isotonic_regression(np.asarray(values, float)[order] - steps).x
    placed = np.clip(free, low, max(low, high - gap * (len(values) - 1))) + steps
    back = np.empty(len(values))
    back[order] = placed
    return [float(value) for value in back]


def _line_ends(canvas: _Canvas) -> list[Label]:
    ends = [
        (text, x, y, series.color)
        for series in canvas.panel.series
        if series.kind == "line"
        for text, x, y in zip(series.labels, series.x, series.y, strict=False)
        if text
    ]
    tops = [canvas.top(y) for _, _, y, _ in ends]
    placed = spread(tops, GAP, GAP / 2, canvas.height - GAP / 2) if ends else []
    return [
        Label(text, x, y, AWAY, round(new - top, 1), "right", color, edge=True)
        for (text, x, y, color), top, new in zip(ends, tops, placed, strict=True)
    ]


def _beside_points(canvas: _Canvas) -> list[Label]:
    """Beside its point, or as near as there is room; from the top down."""
    drawn = [
        (series, text, x, y, canvas.box(series, x, y))
        for series in canvas.panel.series
        if series.kind != "bars"
        for text, x, y in zip(series.labels or repeat(""), series.x, series.y, strict=False)
    ]
    taken = [box for *_, box in drawn] if len(drawn) <= CROWD else []
    labels = []
    named = (entry for entry in drawn if entry[1] and entry[0].kind == "points")
    for series, text, x, y, own in sorted(named, key=lambda entry: entry[4][1]):
        others = [box for box in taken if box != own]
        place = min(
            (place for place in _places(text, own) if canvas.fits(place.box, others)),
            key=lambda place: place.cost(own, others),
            default=next(_places(text, own)),
        )
        taken.append(place.box)
        labels.append(Label(text, x, y, place.dx, place.dy, place.side, series.color))
    return labels


@dataclass(frozen=True)
class _Place:
    """Where words could stand, and what they would cover there."""

    side: Side
    dx: float
    dy: float
    box: Box

    def cost(self, own: Box, others: Sequence[Box]) -> float:
        """Distance in pixels; a leader across something else counts as a hundred."""
        if self.side == "center":
            return abs(self.dy)
        x, y = (own[0] + own[2]) / 2, (own[1] + own[3]) / 2
        steps = np.linspace(0, 1, 12)[:, None]
        path = np.array([x, y]) + steps * np.array([self.dx, self.dy])
        crossed = sum(_inside(path, box) for box in others)
        return abs(self.dy) + 100 * crossed + 2 * (self.side == "left")


def _inside(path: NDArray[np.float64], box: Box) -> bool:
    left, top, right, bottom = box
    x, y = path.T
    return bool(((x > left) & (x < right) & (y > top) & (y < bottom)).any())


def _places(text: str, own: Box) -> Iterator[_Place]:
    """Right and left of the point, above and below it, then further up and down."""
    x, y = (own[0] + own[2]) / 2, (own[1] + own[3]) / 2
    long = LETTER * len(text)
    shifts = [0.0, *chain.from_iterable((-d, d) for d in np.arange(GAP / 2, 9 * GAP, GAP / 2))]
    lefts: dict[Side, float] = {"right": x + AWAY, "left": x - AWAY - long}
    for dy, (side, left) in product(map(float, shifts), lefts.items()):
        dx = float(AWAY if side == "right" else -AWAY)
        yield _Place(side, dx, dy, (left, y + dy - GAP / 2, left + long, y + dy + GAP / 2))
    for dy in (-GAP - 2.0, GAP + 2.0):
        box = (x - long / 2, y + dy - GAP / 2, x + long / 2, y + dy + GAP / 2)
        yield _Place("center", 0.0, dy, box)


def fraction(axis: Axis, value: float, span: tuple[float, float]) -> float:
    """How far along the axis a value lies, 0 to 1."""
    low, high = span
    if axis.log:
        low, high, value = (math.log10(v) for v in (low, high, value))
    return (value - low) / (high - low) if high > low else 0.5
