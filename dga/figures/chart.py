"""What a figure shows, said once, for every renderer.

A chart is panels of series, as plain numbers. Lengths are CSS pixels at a width of
:data:`WIDTH`, a telephone's: what is readable there is readable anywhere.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dga.figures.palette import Dash, Mark

WIDTH = 390
TEXT = 12


def rounded(values: Iterable[float], digits: int = 4) -> tuple[float, ...]:
    """Plain floats of few digits."""
    return tuple(round(float(value), digits) for value in values)


@dataclass(frozen=True)
class Series:
    """Numbers drawn as one line, as points or as bars.

    ``low`` and ``high`` bound a band about a line, or bars about points along
    ``along``. ``labels`` stand beside the points, "" for none; a line's label is its
    last point's. ``name`` shows on hovering, and in the legend where the chart has
    one. ``size`` is a mark's, ``width`` a line's or a bar about a point's, in pixels;
    bars are ``width`` units of x wide. Open marks are hollow.
    """

    kind: Literal["line", "points", "bars"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    color: str
    name: str = ""
    labels: tuple[str, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    along: Literal["x", "y"] = "y"
    dash: Dash = "solid"
    mark: Mark = "circle"
    open: bool = False
    size: float = 8
    width: float = 2
    opacity: float = 1

    def __post_init__(self) -> None:
        for values in (self.y, self.low or self.x, self.high or self.x, self.labels or self.x):
            if len(values) != len(self.x):
                raise ValueError(f"The series {self.name!r} has columns of different lengths.")

    @property
    def intervals(self) -> list[tuple[float, float, float]]:
        """Centre, lower and upper end of each point's bar on the axis it lies ``along``."""
        centre = self.x if self.along == "x" else self.y
        return list(zip(centre, self.low, self.high, strict=True)) if self.low else []


@dataclass(frozen=True)
class Axis:
    """``limits`` as numbers on the axis; a logarithmic one must have them.

    ``ticks``: (position, words) instead of numbers. A bare axis has no ticks at all.
    """

    title: str = ""
    limits: tuple[float, float] | None = None
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    bare: bool = False

    def __post_init__(self) -> None:
        if self.log and (self.limits is None or self.limits[0] <= 0):
            raise ValueError("A logarithmic axis needs limits above 0.")

    @property
    def marks(self) -> tuple[tuple[float, str], ...]:
        """Its ticks; on a logarithmic axis 1, 2 and 5 of each decade within the limits."""
        if self.ticks or not self.log or self.limits is None:
            return self.ticks
        low, high = self.limits
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        values = (float(f"{digit}e{power}") for power in decades for digit in (1, 2, 5))
        return tuple((value, f"{value:g}") for value in values if low <= value <= high)


@dataclass(frozen=True)
class Rule:
    """A thin reference line across the panel, at a value of one axis."""

    axis: Literal["x", "y"]
    value: float


@dataclass(frozen=True)
class Panel:
    """Series that share axes, under a title of a few words."""

    series: tuple[Series, ...]
    x: Axis
    y: Axis
    title: str = ""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Chart:
    """Panels, row by row in ``columns``, ``height`` pixels each.

    ``name`` is the files'; ``caption`` one sentence that says how to read it; ``commands``
    made its data.
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 1
    height: int = 260
    legend: bool = False
    commands: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return -(-len(self.panels) // self.columns)

    def place(self, index: int) -> tuple[int, int]:
        """Row and column of a panel."""
        return divmod(index, self.columns)

    @property
    def panel_width(self) -> float:
        """About how many pixels a panel has on a page of :data:`WIDTH`, within its margins."""
        return (WIDTH - 126) / self.columns - 8

    def shows_y(self, index: int) -> bool:
        """Whether a panel needs words on its y axis: the first of a row, or another scale."""
        first = index % self.columns == 0
        return first or not same_scale(self.panels[index].y, self.panels[index - 1].y)

    def shows_x(self, index: int) -> bool:
        """Whether a panel needs words on its x axis: the last of a column, or another scale."""
        below = index + self.columns
        last = below >= len(self.panels)
        return last or not same_scale(self.panels[index].x, self.panels[below].x)


def same_scale(a: Axis, b: Axis) -> bool:
    """Whether positions on both axes mean the same; without limits nobody knows."""
    return a == b and a.limits is not None
