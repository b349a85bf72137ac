"""Whether cost grows linearly with the depth and with the number of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import linregress

from dga.figures.chart import Axis, Chart, Panel, Series, rounded
from dga.figures.palette import ACCENT, NEUTRAL
from dga.networks.models import Models
from dga.speed.timing import Done, TimingPlan, Work, best_seconds
from dga.speed.workload import Workload

AT_ONCE = 4
"""Pictures rebuilt together; more of them are several batches."""
SHORT = 5
"""Depth at which the number of pictures is varied."""


@dataclass(frozen=True)
class LinearFit:
    """Measured seconds over ``x``, and the straight line closest to them.

    ``fit``: the share of the variance that the line explains (R squared).
    """

    x: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float
    start: float
    fit: float

    @classmethod
    def through(cls, x: Sequence[int], seconds: Sequence[float]) -> LinearFit:
        """The least-squares line."""
        line = linregress(x, seconds)
        return cls(
            tuple(x), tuple(seconds), float(line.slope), float(line.intercept), line.rvalue**2
        )


@dataclass(frozen=True)
class Scaling:
    """Seconds of guided reconstruction: a batch by depth t*, and by number of pictures."""

    depth: LinearFit
    pictures: LinearFit


def measure_scaling(models: Models, plan: TimingPlan, done: Done = lambda share: None) -> Scaling:
    """Run guided reconstructions from several depths and of several numbers of pictures."""
    guidance, together = models.profile.ancestral.guidance, Workload(models, AT_ONCE)
    depths = {str(depth): together.rebuilding(depth, guidance) for depth in plan.depths}
    counts = {str(count): _in_batches(models, count) for count in plan.counts}
    together.rebuilding(1, guidance)()  # the first run pays for what is set up once
    by_depth, by_count = (
        best_seconds(work, plan.repeats, models.device, plan.enough, lambda share: done(share / 2))
        for work in (depths, counts)
    )
    return Scaling(
        LinearFit.through(plan.depths, list(by_depth.values())),
        LinearFit.through(plan.counts, list(by_count.values())),
    )


def _in_batches(models: Models, count: int) -> Work:
    sizes = [min(AT_ONCE, count - first) for first in range(0, count, AT_ONCE)]
    guidance = models.profile.ancestral.guidance
    parts = [Workload(models, size).rebuilding(SHORT, guidance) for size in sizes]
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


def _panel(line: LinearFit, title: str, says: str) -> Panel:
    ends = (0, max(line.x))
    fitted = Series(
        "line", ends, rounded(line.start + line.slope * x for x in ends), NEUTRAL, dash="dash"
    )
    points = Series("points", rounded(line.x), rounded(line.seconds), ACCENT)
    top = 1.1 * max(line.seconds)
    return Panel((fitted, points), Axis(title), Axis("seconds", limits=(0, top)), title=says)
