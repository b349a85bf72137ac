"""Pictures in a grid, and any matplotlib figure as PNG."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from dga.figures.palette import INK
from dga.images import Pixels


def picture_grid(pictures: Sequence[Pixels], captions: Sequence[str], columns: int) -> Figure:
    """Pictures, uint8 ``[H, W, 3]``, row by row, each over its caption ("" for none)."""
    cell = 0.9  # inches
    rows = -(-len(pictures) // columns)
    text = 0.0 if not any(captions) else 0.32
    figure = Figure(figsize=(columns * (cell + 0.08), rows * (cell + 0.08 + text)), dpi=110)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, picture, caption in zip(axes.flat, pictures, captions, strict=False):
        axis.imshow(picture, interpolation="nearest")
        axis.set_title(caption, fontsize=6, color=INK, pad=2)
    figure.subplots_adjust(
        left=0.005, right=0.995, bottom=0.005, top=0.95 if text else 0.995, wspace=0.06,
        hspace=0.06 + text / cell,
    )  # fmt: skip
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG; the same figure gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="png", facecolor="white", metadata={"Software": "dga"})
    return path
