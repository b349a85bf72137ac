"""Options that ``evaluate`` and ``judge`` share: which labelled pictures are measured."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[list[Path], typer.Option(help="Folders or zips of class/picture files.")]


@dataclass(frozen=True)
class PlanOptions:
    """Which labelled pictures are measured, and how they were corrupted."""

    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5
    per_class: Annotated[
        int | None, typer.Option(min=1, help="Pictures a class. Default: all.")
    ] = None
    most: Annotated[
        int | None, typer.Option(min=1, help="Pictures in all, the first of the shuffled ones.")
    ] = None
    split: Annotated[
        str,
        typer.Option(help="tune (the project's own for choices), report (all others) or all."),
    ] = "report"
    corrupted: Annotated[
        Path | None,
        typer.Option(help="Folder in ImageNet-C's layout, read where it has a corruption."),
    ] = None
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0
    saved: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Save every picture as JPEG of this quality first; ImageNet-C: 85."
        ),
    ] = None
