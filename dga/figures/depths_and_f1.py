"""Fig. 3 and Fig. 4 of the paper: F1 by depth, and where pictures halt."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dga.analysis.judges import compute_f1
from dga.analysis.names import group_title
from dga.analysis.saved_runs import JudgeRun, MissingRun
from dga.corruptions import FAMILIES
from dga.figures.panels import DASHES, DEPTH, FAMILY, NEUTRAL, Plot, create_panels, styled
from dga.sentences import short


@styled
def draw_f1_by_depth(judge: JudgeRun) -> Plot:
    """Fig. 3: F1 against depth, a curve a corruption, a panel a family."""
    f1 = 100 * compute_f1(judge)
    families = [family for family, names in FAMILIES.items() if f1.index.isin(names).any()]
    title = "Fig. 3. Discriminator: F1 by depth"
    figure, panels = create_panels(title, len(families))
    for axes, family in zip(panels, families, strict=True):
        for name, dash in zip(FAMILIES[family], DASHES, strict=False):
            if name in f1.index:
                curve = f1.loc[name]
                axes.plot(curve, color=FAMILY[family], linestyle=dash, label=short(name))
        axes.set_title(group_title(family))
        axes.set_xlabel(DEPTH)
        axes.set_ylabel("F1 (%)")
        axes.set_ylim(min(50, f1.min(axis=None) - 2), 101)
        axes.legend()
    return Plot(
        title,
        f"How well corrupted and clean pictures ({len(judge.paths)} of each, severity "
        f"{judge.config.get('severity')}) are told apart at the same depth: the further a curve "
        "stays up, the deeper its corruption survives; 67 % is what calling everything corrupted "
        "gives.",
        figure,
        (judge.command,),
    )


@styled
def draw_depths_and_f1(judge: JudgeRun, halts: pd.DataFrame, commands: tuple[str, ...]) -> Plot:
    """Fig. 4: t* histogram with the F1 curve, a panel a family.

    ``halts``: columns corruption, depth, crossed; ``commands`` made both. Families none of whose
    corruptions has both are left out. Raises :class:`MissingRun` if that leaves nothing.
    """
    deepest = min(max(judge.depths), max(40, 2 * int(halts["depth"].max())))
    f1 = 100 * compute_f1(judge).loc[:, :deepest]
    both = f1.index.intersection(halts["corruption"].unique())
    families = [family for family, names in FAMILIES.items() if both.isin(names).any()]
    if not families:
        raise MissingRun("no corruption with both depths and judged curves")
    title = "Fig. 4. Depth t* and F1 by family"
    figure, panels = create_panels(title, len(families))
    for axes, family in zip(panels, families, strict=True):
        members = both[both.isin(FAMILIES[family])]
        _draw_histogram(axes, halts[halts["corruption"].isin(members)], FAMILY[family])
        axes.plot(f1.loc[members].mean(), color=NEUTRAL)
        axes.set(title=group_title(family), xlabel=DEPTH, ylabel="%")
        axes.set(xlim=(0, deepest), ylim=(0, 101))
    return Plot(
        title,
        "Bars: share of pictures that halt there, pale where they went to the maximum depth "
        "without crossing tau; line: the discriminator's F1 at that depth. Bars belong where "
        "the line falls.",
        figure,
        commands,
    )


def _draw_histogram(axes: Axes, rows: pd.DataFrame, color: str) -> None:
    """Shares of pictures by t*: crossed, and not crossed on top of it."""
    width = 2 if rows["depth"].max() <= 40 else 5
    crossed = rows["crossed"].astype(bool)
    edges = np.arange(0, rows["depth"].max() + 2 * width, width)
    share = 100 / len(rows)
    halted, _ = np.histogram(rows["depth"][crossed], edges)
    deepest, _ = np.histogram(rows["depth"][~crossed], edges)
    axes.bar(edges[:-1], share * halted, width, align="edge", color=color)
    axes.bar(
        edges[:-1], share * deepest, width, share * halted, align="edge", color=color, alpha=0.45
    )
