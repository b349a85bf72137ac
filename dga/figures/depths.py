"""Where pictures halt, by corruption."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.names import method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.tables.depths import at_severities, halted
from dga.corruptions import CLEAN, CORRUPTIONS, SEVERITIES, family_of
from dga.figures.chart import Axis, Chart, Panel, Series, rounded
from dga.figures.palette import FAMILY, NEUTRAL, Dash
from dga.titles import short

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def depth_spread(pooled: PooledRuns) -> Chart:
    """Median, quartiles and 5 to 95 % of t*, a row a corruption."""
    method, rows = halted(pooled)
    depths = dict(iter(rows.groupby("corruption")["depth"]))
    names = [name for name in (CLEAN, *CORRUPTIONS) if name in depths]
    series = [s for i, name in enumerate(names) for s in _row(-i, name, depths[name])]
    ticks = tuple((float(-i), short(name)) for i, name in enumerate(names))
    y = Axis(limits=(0.6 - len(names), 0.6), ticks=ticks)
    return Chart(
        "depths",
        f"Depth t* by corruption, severity {pooled.severity}",
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


def depths_by_severity(severities: Sequence[PooledRuns]) -> Chart:
    """Median t* by severity for every corruption, and the entry depth k0 where there is one."""
    method, lines, commands = at_severities(severities)
    enters = bool((lines["entry"] > 0).any())
    deepest = float(lines.groupby(["corruption", "severity"])["depth"].quantile(0.75).max())
    panels = [
        Panel(
            (
                _medians(rows, "depth", "t*", FAMILY[family_of(name)]),
                *([_medians(rows, "entry", "k0", NEUTRAL, "dash")] if enters else []),
            ),
            Axis("severity", (0.8, 5.2), ticks=tuple((float(s), str(s)) for s in SEVERITIES)),
            Axis("t*", (-0.5, deepest + 1)),
            short(name),
        )
        for name in CORRUPTIONS
        if len(rows := lines[lines["corruption"] == name])
    ]
    entry = "; dashed: entry depth k0, where its own noise puts it" if enters else ""
    return Chart(
        "depths-by-severity",
        f"Depth t* by severity, {method_title(method)}",
        f"Line: median t* (steps of 100) of the pictures, band: their middle half{entry}.",
        tuple(panels),
        columns=3,
        height=96,
        legend=enters,
        commands=commands,
    )


def _medians(
    rows: pd.DataFrame, column: str, name: str, color: str, dash: Dash = "solid"
) -> Series:
    """Medians by severity with a band of the middle half; of two in the middle the lower."""
    groups = rows.groupby("severity")[column]
    low, middle, high = (groups.quantile(q, interpolation="lower") for q in (0.25, 0.5, 0.75))
    return Series(
        "line",
        rounded(middle.index),
        rounded(middle),
        color,
        name=name,
        low=rounded(low) if column == "depth" else (),
        high=rounded(high) if column == "depth" else (),
        dash=dash,
    )
