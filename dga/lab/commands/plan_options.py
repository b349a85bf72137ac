"""Options that ``evaluate`` and ``judge`` share: which labelled pictures are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dga.lab.evaluation.plan import Plan

DataOption = Annotated[list[Path], typer.Option(help="Folders or zips of class/picture files.")]


@dataclass(frozen=True)
class PlanOptions:
    """Options that say which labelled pictures are measured, and how they were corrupted."""

    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5
    per_class: Annotated[int | None, typer.Option(help="Pictures a class. Default: all.")] = None
    most: Annotated[
        int | None, typer.Option(help="Pictures in all, the first of the shuffled ones.")
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
        typer.Option(help="Save every picture as JPEG of this quality first; ImageNet-C: 85."),
    ] = None

    def make_plan(
        self, data: Sequence[Path], corruptions: Sequence[str], stream: str | None = None
    ) -> Plan:
        """The plan, at absolute paths. Raises ``ValueError`` naming what is allowed."""
        from dga.lab.evaluation.plan import Plan

        corrupted = str(self.corrupted.absolute()) if self.corrupted else None
        options = {**vars(self), "corrupted": corrupted, "stream": stream}
        return Plan(tuple(str(path.absolute()) for path in data), tuple(corruptions), **options)
