"""The paper's Fig. 3: the discriminator's F1 by depth.

Drawn with matplotlib, never through pyplot.
"""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.style import context

from dga.corruptions import CLEAN, FAMILIES
from dga.lab.analysis.names import format_group, shorten_title
from dga.lab.analysis.saved_runs import Run

INK = "#161A23"
FAMILY = {"noise": "#D55E00", "blur": "#0072B2", "weather": "#009E73", "digital": "#CC79A7"}
"""Okabe and Ito's: colour-blind readers tell them apart."""
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2)))
"""Line styles of the corruptions of a family, which share its colour."""
WIDTH = 4.33
"""The width of a figure in inches: on a phone, words of 9 points can still be read."""


def compute_f1(judge: Run) -> pd.DataFrame:
    """F1 in [0, 1], with a row for each corruption and a column for each depth.

    Positives are the pictures under that corruption, and negatives are the same pictures clean, at
    the same depth. A confidence of 0.5 or more calls a picture corrupted.
    """
    lines = judge.lines
    is_positive = pd.DataFrame(lines["logits"].tolist(), columns=judge.config["depths"]) >= 0
    called = is_positive.groupby(lines["corruption"], sort=False).sum()
    hits, alarms = called.drop(CLEAN), called.loc[CLEAN]
    return 2 * hits / (hits + alarms + lines["path"].nunique())


@context(["seaborn-v0_8-whitegrid", {"font.size": 9, "axes.titlesize": 9, "legend.fontsize": 7}])
def draw_f1_by_depth(judge: Run, title: str) -> Figure:
    """A curve for each corruption and a panel for each family that was judged."""
    f1 = 100 * compute_f1(judge)
    families = [family for family, names in FAMILIES.items() if f1.index.isin(names).any()]
    rows, columns = -(-len(families) // 2), min(2, len(families))
    figure = Figure(figsize=(WIDTH, 0.6 + 2.2 * rows), dpi=160, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=INK, fontweight="bold", wrap=True)
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, family in zip(panels, families, strict=False):
        for name, dash in zip(FAMILIES[family], DASHES, strict=False):
            if name in f1.index:
                curve = f1.loc[name]
                axes.plot(curve, color=FAMILY[family], linestyle=dash, label=shorten_title(name))
        axes.set(title=format_group(family), xlabel="depth (steps of 100)", ylabel="F1 (%)")
        axes.set_ylim(min(50, f1.min(axis=None) - 2), 101)
        axes.legend()
    for axes in panels:  # of three families the fourth panel is left
        axes.set_axis_off()
    return figure
