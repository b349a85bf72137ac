"""The paper's figures: the discriminator's F1 by depth, and where pictures halt.

Drawn with matplotlib, never through pyplot.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.style import context

from dga.corruptions import FAMILIES
from dga.lab.analysis.judges import compute_f1, has_same_discriminator
from dga.lab.analysis.names import format_group, shorten_title
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun, Run

INK = "#161A23"
NEUTRAL = "#767D8C"
FAMILY = {"noise": "#D55E00", "blur": "#0072B2", "weather": "#009E73", "digital": "#CC79A7"}
"""Okabe and Ito's: colour-blind readers tell them apart."""
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2)))
"""Line styles of the corruptions of a family, which share its colour."""
WIDTH = 4.33
"""The width of a figure in inches: on a phone, words of 9 points can still be read."""
DEPTH = "depth (steps of 100)"

styled = context(
    ["seaborn-v0_8-whitegrid", {"font.size": 9, "axes.titlesize": 9, "legend.fontsize": 7}]
)
"""Decorates a function that draws a figure."""
ADAPTIVE = ("dga-guided", "dga")
"""The first of these that was run shows where pictures halt; guidance comes after t*."""


@dataclass(frozen=True)
class Plot:
    """A figure. ``caption``: how to read it; ``commands``: those that made its data."""

    kind, ending = "figure", "png"

    title: str
    caption: str
    figure: Figure
    commands: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write a PNG, of the same bytes for the same figure."""
        self.figure.savefig(path, format="png", facecolor="white", metadata={"Software": "dga"})


def create_panels(title: str, count: int) -> tuple[Figure, list[Axes]]:
    """``count`` empty panels, two a row."""
    columns = min(2, count)
    rows = -(-count // columns)
    size = WIDTH, 0.6 + 2.2 * rows
    figure = Figure(figsize=size, dpi=160, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=INK, fontweight="bold", wrap=True)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    return figure, list(grid.flat[:count])


@styled
def draw_f1_by_depth(judge: Run) -> Plot:
    """The paper's Fig. 3: F1 by depth, a curve for each corruption and a panel for each family."""
    f1 = 100 * compute_f1(judge)
    families = [family for family, names in FAMILIES.items() if f1.index.isin(names).any()]
    title = "Fig. 3. Discriminator: F1 by depth"
    figure, panels = create_panels(title, len(families))
    for axes, family in zip(panels, families, strict=True):
        for name, dash in zip(FAMILIES[family], DASHES, strict=False):
            if name in f1.index:
                curve = f1.loc[name]
                axes.plot(curve, color=FAMILY[family], linestyle=dash, label=shorten_title(name))
        axes.set(title=format_group(family), xlabel=DEPTH, ylabel="F1 (%)")
        axes.set_ylim(min(50, f1.min(axis=None) - 2), 101)
        axes.legend()
    return Plot(
        title,
        f"How well corrupted and clean pictures ({judge.lines['path'].nunique()} of each, severity "
        f"{judge.config.get('severity')}) are told apart at the same depth: the further a curve "
        "stays up, the deeper its corruption survives; 67 % is what calling everything corrupted "
        "gives.",
        figure,
        (judge.command,),
    )


@styled
def draw_depths_and_f1(judge: Run, pooled: PooledRuns | None) -> Plot:
    """The paper's Fig. 4: histograms of t* and the discriminator's F1, a panel for each family.

    The depths are those of DGA + G, or else of DGA. Families of which no corruption has both depths
    and F1 are left out. Raises :class:`MissingRun` if that
    leaves nothing, and for runs of another discriminator.
    """
    if pooled is None or not has_same_discriminator(judge, pooled):
        raise MissingRun(f"no evaluation run by the discriminator of {judge.name}")
    method = next((name for name in ADAPTIVE if name in pooled.methods), None)
    if method is None:
        raise MissingRun(f"no run of {' or '.join(ADAPTIVE)}")
    halts = pooled.lines[pooled.lines["method"] == method]
    deepest = min(max(judge.config["depths"]), max(40, 2 * int(halts["depth"].max())))
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
        axes.set(title=format_group(family), xlabel=DEPTH, ylabel="%")
        axes.set(xlim=(0, deepest), ylim=(0, 101))
    return Plot(
        title,
        "Bars: share of pictures that halt there, pale where they went to the maximum depth "
        "without crossing tau; line: the discriminator's F1 at that depth. Bars belong where "
        "the line falls.",
        figure,
        (judge.command, *pooled.list_commands([method])),
    )


def _draw_histogram(axes: Axes, rows: pd.DataFrame, color: str) -> None:
    """Draw the shares of pictures by t*, on top those whose confidence never fell below tau."""
    width = 2 if rows["depth"].max() <= 40 else 5
    crossed = rows["crossed"].astype(bool)
    edges = np.arange(0, rows["depth"].max() + 2 * width, width).tolist()
    depths = [rows["depth"][crossed], rows["depth"][~crossed]]
    shares = [np.full(len(part), 100 / len(rows)) for part in depths]
    axes.hist(depths, edges, weights=shares, stacked=True, color=[color, (color, 0.45)])
