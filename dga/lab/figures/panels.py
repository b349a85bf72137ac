"""Panels of a figure in matplotlib, never through pyplot, and their colours."""

from dataclasses import dataclass
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# These hold on white, also for colour-blind readers; families are Okabe and Ito's.
INK = "#161A23"
WORDS = "#4E5566"
NEUTRAL = "#767D8C"
GRID = "#DFE2E9"
ACCENT = "#D64A8A"
FAMILY = {"noise": "#D55E00", "blur": "#0072B2", "weather": "#009E73", "digital": "#CC79A7"}
# A family's corruptions share its colour and differ in these.
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2)))

WIDTH = 4.33  # inches: on a phone, words of 9 points can still be read
DEPTH = "depth (steps of 100)"
styled = rc_context(
    {
        "font.size": 9,
        "text.color": WORDS,
        "axes.labelcolor": WORDS,
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.edgecolor": GRID,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": GRID,
        "xtick.color": WORDS,
        "ytick.color": WORDS,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "legend.fontsize": 7,
        "legend.frameon": False,
    }
)
"""Decorates a function that draws a figure."""


@dataclass(frozen=True)
class Plot:
    """``caption``: how to read it; ``commands`` made its data."""

    title: str
    caption: str
    figure: Figure
    commands: tuple[str, ...]

    def write(self, folder: Path, name: str) -> dict[str, Path]:
        """``NAME.png`` in ``folder``, of the same bytes for the same figure; its path by ending."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        self.figure.savefig(path, format="png", facecolor="white", metadata={"Software": "dga"})
        return {"png": path}


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
