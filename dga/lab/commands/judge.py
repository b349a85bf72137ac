"""``python -m dga judge``: one discriminator's curves."""

from pathlib import Path
from typing import Annotated

import typer

from dga import command_line
from dga.lab.evaluation.plan_options import DataOption, PlanOptions


@command_line.command
def judge(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder for the curves; resumed if it has some.")],
    corruptions: Annotated[
        str, typer.Option(help="all, a family, extra or comma-separated names; clean is added.")
    ] = "all",
    depths: Annotated[str, typer.Option(help="all or comma-separated depths.")] = "all",
    plan: PlanOptions = PlanOptions(),
    models: command_line.ModelOptions = command_line.ModelOptions(precision="float32"),
) -> None:
    """Judge clean and corrupted pictures at every depth; killed, the same command goes on."""
    from dga.io.files import LINES
    from dga.io.parsing import parse_numbers
    from dga.lab.data.imagenet_c import parse_corruptions
    from dga.lab.evaluation.curves import judge_pictures
    from dga.lab.evaluation.plan import Plan

    asked = Plan(data=tuple(data), corruptions=parse_corruptions(corruptions), **vars(plan))
    chosen_depths = () if depths == "all" else parse_numbers("Depths", depths)
    typed = command_line.read_command_line()
    judge_pictures(models.load(), asked, out, chosen_depths, typed)
    typer.echo(f"Curves: {out / LINES}")
