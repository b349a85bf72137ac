"""Figures of the discriminator: Fig. 3 and Fig. 4 of the paper, calibration, studies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dga.analysis.discrimination import calibration, f1_scores
from dga.analysis.names import group_title
from dga.analysis.results import JudgeRun, MissingRun
from dga.corruptions import FAMILIES
from dga.figures.chart import Axis, Chart, Panel, Rule, Series, rounded
from dga.figures.palette import ACCENT, DASHES, FAMILY, NEUTRAL, Dash
from dga.titles import short

DEPTH = "depth (steps of 100)"
# Depths of the reliability curves, where they were judged.
RELIABILITY_DEPTHS = (0, 5, 10, 20, 40)
SCALE = (-3.0, 103.0)
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", ACCENT, "#B7791F", "#2496C8", NEUTRAL)


def curve(
    x: tuple[float, ...], y: tuple[float, ...], color: str, name: str, dash: Dash = "solid"
) -> Series:
    """A line with its name at its end."""
    labels = ("",) * (len(x) - 1) + (name,)
    return Series("line", x, y, color, name=name, labels=labels, dash=dash)


def f1_by_depth(judge: JudgeRun) -> Chart:
    """Fig. 3: F1 against depth, a curve a corruption, a panel a family."""
    f1 = 100 * f1_scores(judge)
    axis = Axis("F1 (%)", (min(50.0, round(float(f1.min(axis=None)), 1) - 2), 101))
    panels = tuple(
        Panel(
            tuple(
                curve(rounded(judge.depths, 0), rounded(f1.loc[name], 1), FAMILY[family],
                      short(name), DASHES[names.index(name)])
                for name in names
                if name in f1.index
            ),
            Axis(DEPTH, (0, float(max(judge.depths)))),
            axis,
            group_title(family),
        )
        for family, names in FAMILIES.items()
        if f1.index.isin(names).any()
    )  # fmt: skip
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


def depths_and_f1(judge: JudgeRun, halted: pd.DataFrame) -> Chart:
    """Fig. 4: t* histogram with the F1 curve, a panel a family.

    ``halted``: columns corruption, depth, crossed. Families none of whose corruptions
    has both are left out. Raises :class:`MissingRun` if that leaves nothing.
    """
    deepest = float(min(max(judge.depths), max(40, 2 * int(halted["depth"].max()))))
    f1 = 100 * f1_scores(judge).loc[:, :deepest]
    both = f1.index.intersection(halted["corruption"].unique())
    panels = []
    for family, names in FAMILIES.items():
        members = both[both.isin(names)]
        if len(members):
            mean = rounded(f1.loc[members].mean(), 1)
            name = f"F1, {group_title(family)}"
            line = Series("line", rounded(f1.columns, 0), mean, NEUTRAL, name=name)
            bars = _histogram(halted[halted["corruption"].isin(members)], FAMILY[family])
            axes = Axis(DEPTH, (0, deepest)), Axis("%", (0, 101))
            panels.append(Panel((*bars, line), *axes, title=group_title(family)))
    if not panels:
        raise MissingRun("no corruption with both depths and judged curves")
    return Chart(
        "depths-f1-families",
        "Fig. 4. Depth t* and F1 by family",
        "Bars: share of pictures that halt there, pale where they went to the maximum depth "
        "without crossing tau; line: the discriminator's F1 at that depth. Bars belong where "
        "the line falls.",
        tuple(panels),
        columns=2,
        height=150,
    )


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
    after = rounded((100 * c.scaled.error for c in found), 2)
    axis = Axis(DEPTH, (0, float(max(judge.depths))))
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
    chosen = [c.reliability for c in found if c.reliability.depth in RELIABILITY_DEPTHS]
    reliable = [
        curve(rounded(100 * r.confidence, 1), rounded(100 * r.corrupted, 1), color,
              f"depth {r.depth}", dash)
        for r, color, dash in zip(chosen, COLORS, DASHES, strict=False)
    ]  # fmt: skip
    diagonal = Series("line", (0, 100), (0, 100), NEUTRAL, name="calibrated", dash="dot", width=1)
    shares = Axis("confidence (%)", SCALE), Axis("corrupted (%)", SCALE)
    return Chart(
        "calibration",
        "Calibration of the discriminator by depth",
        "Error is the mean distance between confidence and the share of corrupted pictures, with "
        "clean and corrupted weighing the same (rescaled: at that depth's best temperature); in "
        "the last panel, points under the dotted diagonal are "
        "confidences that are too high.",
        (error, warm, Panel((diagonal, *reliable), *shares, "Reliability")),
        height=200,
        commands=(judge.command,),
    )


def studies(judges: Sequence[JudgeRun]) -> Chart:
    """Mean F1 by depth, a curve a study."""
    if len(judges) < 2:
        raise MissingRun("no second judge run to compare with")
    series = []
    for i, judge in enumerate(judges):
        color, dash = COLORS[i % len(COLORS)], DASHES[i % len(DASHES)]
        x, y = rounded(judge.depths, 0), rounded(100 * f1_scores(judge).mean(), 1)
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
