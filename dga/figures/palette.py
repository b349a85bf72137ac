"""Colours that hold on light and on dark ground, also for colour-blind readers.

Families: Okabe and Ito's, the four of them that reach 3:1 on white and on the app's
dark card. Methods: the app's own. Colour is never alone: each method has its mark.
"""

from typing import Literal

from dga.analysis.names import MethodName

Mark = Literal[
    "circle", "diamond", "triangle-up", "triangle-down", "square", "cross", "x", "star"
]  # fmt: skip
Dash = Literal["solid", "dash", "dot", "dashdot", "longdash"]

INK = "#161A23"
# Words and axes, 4.1:1 on white and on the dark card alike.
NEUTRAL = "#767D8C"
GRID = "rgba(128, 136, 150, 0.25)"
ACCENT = "#6E67F0"
FAMILY = {"noise": "#D55E00", "blur": "#0072B2", "weather": "#009E73", "digital": "#CC79A7"}
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot", "longdash")

METHOD: dict[str, tuple[str, Mark]] = {
    "source": (NEUTRAL, "square"),
    "tent": (NEUTRAL, "cross"),
    "memo": (NEUTRAL, "x"),
    "diffpure": (NEUTRAL, "triangle-down"),
    "dda": ("#B7791F", "triangle-up"),
    "dga": ("#2496C8", "circle"),
    "dga-guided": ("#D64A8A", "diamond"),
    "dga-plus": ("#16A34A", "star"),
    "dga-plus+tent": ("#16A34A", "cross"),
}


def method_style(name: str) -> tuple[str, Mark]:
    """Colour and mark of a method; outsiders are neutral circles."""
    return METHOD.get(MethodName.parse(name).system, (NEUTRAL, "circle"))
