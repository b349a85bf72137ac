"""Results as figures: each described once, drawn by plotly and by matplotlib.

Reads records, never a network.
"""

from dga.figures.chart import Axis, Chart, Panel, Rule, Series
from dga.figures.exhibits import publish
from dga.figures.interactive import to_plotly
from dga.figures.pictures import picture_grid, save
from dga.figures.raster import to_matplotlib

__all__ = [
    "Axis",
    "Chart",
    "Panel",
    "Rule",
    "Series",
    "picture_grid",
    "publish",
    "save",
    "to_matplotlib",
    "to_plotly",
]
