"""Figures of the discriminator: Fig. 3 and Fig. 4 of the paper, calibration, studies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dga.analysis.discrimination import Calibration, calibration, scores
from dga.analysis.names import group_title
from dga.analysis.results import JudgeRun, MissingRun
from dga.corruptions import FAMILIES, family_of
from dga.figures.chart import Axis, Chart, Panel, Rule, Series, rounded
from dga.figures.palette import ACCENT, DASHES, FAMILY, NEUTRAL, Dash
from dga.titles import short

DEPTH = "depth (steps of 100)"
# Depths of the reliability curves, where they were judged.
RELIABILITY_DEPTHS = (0, 5, 10, 20, 40)
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", ACCENT, "#B7791F", "#2496C8", NEUTRAL)


def curve(
    x: tuple[float, ...], y: tuple[float, ...], color: str, name: str, dash: Dash = "solid"
) -> Series:
    """A line with its name at its end."""
    labels = ("",) * (len(x) - 1) + (name,)
    return Series("line", x, y, color, name=name, labels=labels, dash=dash)


def f1_by_depth(judge: JudgeRun) -> Chart:
    """Fig. 3: F1 against depth, a curve a corruption, a panel a family."""
    table = scores(judge)
    known = set(table["corruption"])
    groups = {
        family: [
            _f1_curve(table[table["corruption"] == name], name) for name in names if name in known
        ]
        for family, names in FAMILIES.items()
    }
    lowest = min(min(s.y) for series in groups.values() for s in series)
    axis = Axis("F1 (%)", (min(50.0, lowest - 2), 101))
    panels = tuple(
        Panel(tuple(series), _depth_axis(judge), axis, title=group_title(family))
        for family, series in groups.items()
        if series
    )
    return Chart(
        "discriminator-f1",
        "Fig. 3. Discriminator: F1 by depth",
        f"How well corrupted and clean pictures ({len(judge.paths)} of each, severity "
        f"{judge.config.get('severity')}) are told apart at the same depth: the further a curve "
        "stays up, the deeper its corruption survives; 67 % is what calling everything corrupted "
        "gives.",
        panels,
        columns=2,
        height=180,
        commands=(judge.command,),
    )


def _f1_curve(rows: pd.DataFrame, name: str) -> Series:
    family = family_of(name)
    dash = DASHES[FAMILIES[family].index(name)]
    f1 = rounded(100 * rows["f1"], 1)
    return curve(rounded(rows["depth"], 0), f1, FAMILY[family], short(name), dash)


def _depth_axis(judge: JudgeRun) -> Axis:
    return Axis(DEPTH, (0, float(max(judge.depths))))


def depths_and_f1(judge: JudgeRun, halted: pd.DataFrame) -> Chart:
    """Fig. 4: t* histogram with the F1 curve, a panel a family.

    ``halted``: columns corruption, depth, crossed. Families none of whose corruptions
    has both are left out. Raises :class:`MissingRun` if that leaves nothing.
    """
    table = scores(judge)
    known = set(table["corruption"]) & set(halted["corruption"])
    groups = {family: [n for n in names if n in known] for family, names in FAMILIES.items()}
    deepest = min(max(judge.depths), max(40, 2 * int(halted["depth"].max())))
    axis = Axis(DEPTH, (0, float(deepest)))
    panels = tuple(
        _depth_panel(table, halted, family, members, axis)
        for family, members in groups.items()
        if members
    )
    if not panels:
        raise MissingRun("no corruption with both depths and judged curves")
    return Chart(
        "depths-f1-families",
        "Fig. 4. Depth t* and F1 by family",
        "Bars: share of pictures that halt there, pale where they went to the maximum depth "
        "without crossing tau; line: the discriminator's F1 at that depth. Bars belong where "
        "the line falls.",
        panels,
        columns=2,
        height=150,
    )


def _depth_panel(
    table: pd.DataFrame, halted: pd.DataFrame, family: str, members: Sequence[str], axis: Axis
) -> Panel:
    rows = halted[halted["corruption"].isin(members)]
    f1 = table[table["corruption"].isin(members)].groupby("depth")["f1"].mean()
    f1 = f1[f1.index <= (axis.limits or (0, f1.index.max()))[1]]
    x, y = rounded(f1.index, 0), rounded(100 * f1, 1)
    line = Series("line", x, y, NEUTRAL, name=f"F1, {group_title(family)}")
    bars = _histogram(rows, FAMILY[family])
    return Panel((*bars, line), axis, Axis("%", (0, 101)), title=group_title(family))


def _histogram(rows: pd.DataFrame, color: str) -> list[Series]:
    """Shares of pictures by t*: crossed, and not crossed on top of it."""
    width = 2 if int(rows["depth"].max()) <= 40 else 5
    crossed = rows["crossed"].to_numpy(bool)
    place = rows["depth"].to_numpy(int) // width
    bars = []
    for which, name, opacity in ((crossed, "halted", 1.0), (~crossed, "at the maximum", 0.45)):
        found, counts = np.unique(place[which], return_counts=True)
        if len(found):
            bars.append(
                Series(
                    "bars",
                    rounded(found * width + width / 2, 1),
                    rounded(100 * counts / len(rows), 1),
                    color,
                    name=name,
                    opacity=opacity,
                    width=width,
                )
            )
    return bars


def calibration_by_depth(judge: JudgeRun) -> Chart:
    """Calibration error and best temperature by depth; reliability at a few depths."""
    found = calibration(judge)
    depths = rounded((c.reliability.depth for c in found), 0)
    before = rounded((100 * c.reliability.error for c in found), 2)
    after = rounded((100 * c.error_scaled for c in found), 2)
    axis = _depth_axis(judge)
    lines = (
        curve(depths, before, ACCENT, "as it is"),
        curve(depths, after, NEUTRAL, "rescaled", "dot"),
    )
    error = Panel(lines, axis, Axis("points"), "Calibration error")
    heat = Series(
        "line", depths, rounded((c.temperature for c in found), 3), ACCENT, name="temperature"
    )
    limits = min(0.5, *heat.y) / 1.1, max(2.0, *heat.y) * 1.1
    warm = Panel((heat,), axis, Axis(limits=limits, log=True), "Best temperature", (Rule("y", 1),))
    return Chart(
        "calibration",
        "Calibration of the discriminator by depth",
        "Error is the mean distance between confidence and the share of corrupted pictures, with "
        "clean and corrupted weighing the same (rescaled: at that depth's best temperature); in "
        "the last panel, points under the dotted diagonal are "
        "confidences that are too high.",
        (error, warm, _reliability_panel(found)),
        height=200,
        commands=(judge.command,),
    )


def _reliability_panel(found: Sequence[Calibration]) -> Panel:
    chosen = [c.reliability for c in found if c.reliability.depth in RELIABILITY_DEPTHS]
    curves = tuple(
        curve(
            rounded(100 * r.confidence, 1),
            rounded(100 * r.corrupted, 1),
            COLORS[i],
            f"depth {r.depth}",
            DASHES[i],
        )
        for i, r in enumerate(chosen)
    )
    diagonal = Series("line", (0, 100), (0, 100), NEUTRAL, name="calibrated", dash="dot", width=1)
    scale = (-3.0, 103.0)
    x, y = Axis("confidence (%)", scale), Axis("corrupted (%)", scale)
    return Panel((diagonal, *curves), x, y, "Reliability")


def studies(judges: Sequence[JudgeRun]) -> Chart:
    """Mean F1 by depth, a curve a study."""
    if len(judges) < 2:
        raise MissingRun("no second judge run to compare with")
    series = []
    for i, judge in enumerate(judges):
        mean = scores(judge).groupby("depth")["f1"].mean()
        color, dash = COLORS[i % len(COLORS)], DASHES[i % len(DASHES)]
        x, y = rounded(mean.index, 0), rounded(100 * mean, 1)
        series.append(Series("line", x, y, color, name=judge.study, dash=dash))
    deepest = float(max(max(judge.depths) for judge in judges))
    panel = Panel(tuple(series), Axis(DEPTH, (0, deepest)), Axis("F1 (%)", (0, 101)))
    return Chart(
        "studies",
        "Discriminator studies: F1 by depth",
        "Mean F1 of the judged corruptions, a curve a discriminator; 67 % is what calling "
        "everything corrupted gives.",
        (panel,),
        height=280,
        legend=True,
        commands=tuple(judge.command for judge in judges),
    )
