"""Where pictures halt, by corruption."""

from __future__ import annotations

import pandas as pd

from dga.analysis.pooled import PooledRuns
from dga.analysis.tables.depths import halted
from dga.corruptions import CLEAN, CORRUPTIONS, family_of
from dga.figures.chart import Axis, Chart, Panel, Series, rounded
from dga.figures.palette import FAMILY, NEUTRAL
from dga.titles import short

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def depth_spread(pooled: PooledRuns, rule: str) -> Chart:
    """Median, quartiles and 5 to 95 % of t* under a stopping rule, a row a corruption."""
    method, rows = halted(pooled, rule)
    depths = dict(iter(rows.groupby("corruption")["depth"]))
    names = [name for name in (CLEAN, *CORRUPTIONS) if name in depths]
    series = [s for i, name in enumerate(names) for s in _row(-i, name, depths[name])]
    ticks = tuple((float(-i), short(name)) for i, name in enumerate(names))
    y = Axis(limits=(0.6 - len(names), 0.6), ticks=ticks)
    return Chart(
        "depths",
        f"Depth t* by corruption, {rule} rule, severity {pooled.severity}",
        "Dot: median; thick line: the middle half of the pictures; thin line: 5 to 95 % of them.",
        (Panel(tuple(series), Axis("t* (steps of 100)"), y),),
        height=22 * len(names) + 10,
        commands=pooled.commands([method]),
    )


def _row(place: int, name: str, depth: pd.Series) -> list[Series]:
    """A thin line, and a thick one with the median's dot."""
    low, first, middle, third, high = depth.quantile(list(QUANTILES), interpolation="lower")
    color = NEUTRAL if name == CLEAN else FAMILY[family_of(name)]
    return [
        Series(
            "points",
            rounded([middle]),
            (float(place),),
            color,
            name=short(name),
            low=rounded([below]),
            high=rounded([above]),
            along="x",
            size=size,
            width=width,
        )
        for below, above, width, size in ((low, high, 1.5, 0), (first, third, 6, 12))
    ]
