"""Whether cost grows linearly with the depth and with the number of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dga.figures.chart import Axis, Chart, Panel, Series, rounded
from dga.figures.palette import ACCENT, NEUTRAL
from dga.networks.models import Models
from dga.speed import tasks
from dga.speed.timing import best_seconds
from dga.speed.workload import Subject

DEPTHS = (2, 5, 10, 15, 20, 30)
COUNTS = (1, 2, 4, 8, 12, 16)
AT_ONCE = 4
"""Pictures rebuilt together; more of them are several batches."""
SHORT = 5
"""Depth at which the number of pictures is varied."""


@dataclass(frozen=True)
class Line:
    """Measured seconds over ``x``, and the straight line closest to them.

    ``fit``: the share of the variance that the line explains (R squared).
    """

    x: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float
    start: float
    fit: float

    @classmethod
    def through(cls, x: Sequence[int], seconds: Sequence[float]) -> Line:
        """The least-squares line."""
        slope, start = np.polyfit(x, seconds, 1)
        left = np.asarray(seconds) - (slope * np.asarray(x) + start)
        fit = 1 - left.var() / np.var(seconds)
        return cls(tuple(x), tuple(seconds), float(slope), float(start), float(fit))


@dataclass(frozen=True)
class Scaling:
    """Seconds of guided reconstruction: a batch by depth t*, and by number of pictures."""

    depth: Line
    pictures: Line


def measure_scaling(models: Models, repeats: int) -> Scaling:
    """Run guided reconstructions of several depths and of several numbers of pictures."""
    guidance, device = models.profile.guidance, models.device
    together = Subject(models, AT_ONCE)
    by_depth = {str(d): tasks.rebuilding(together, d, guidance) for d in DEPTHS}
    by_count = {str(n): _in_batches(models, n) for n in COUNTS}
    best_seconds({"first": tasks.rebuilding(together, 1, guidance)}, 1, device)
    depth = best_seconds(by_depth, repeats, device)
    count = best_seconds(by_count, repeats, device)
    return Scaling(
        Line.through(DEPTHS, [depth[str(d)] for d in DEPTHS]),
        Line.through(COUNTS, [count[str(n)] for n in COUNTS]),
    )


def _in_batches(models: Models, count: int) -> Callable[[], object]:
    sizes = [min(AT_ONCE, count - first) for first in range(0, count, AT_ONCE)]
    parts = [
        tasks.rebuilding(Subject(models, size), SHORT, models.profile.guidance) for size in sizes
    ]
    return lambda: [part() for part in parts]


def to_chart(scaling: Scaling, device: str) -> Chart:
    """Measured points with their straight lines."""
    panels = (
        _panel(scaling.depth, "depth t* (steps of 100)", f"{AT_ONCE} pictures together"),
        _panel(scaling.pictures, "pictures", f"from depth {SHORT}, {AT_ONCE} together"),
    )
    fits = f"R² {scaling.depth.fit:.4f} and {scaling.pictures.fit:.4f}"
    return Chart(
        "cost",
        "Cost grows with the depth and with the pictures",
        f"Seconds of guided reconstruction on {device}; the lines are straight ({fits}).",
        panels,
        height=180,
    )


def _panel(line: Line, title: str, says: str) -> Panel:
    ends = (0, max(line.x))
    fitted = Series(
        "line", ends, rounded(line.start + line.slope * x for x in ends), NEUTRAL, dash="dash"
    )
    points = Series("points", rounded(line.x), rounded(line.seconds), ACCENT)
    top = 1.1 * max(line.seconds)
    return Panel((fitted, points), Axis(title), Axis("seconds", limits=(0, top)), title=says)
