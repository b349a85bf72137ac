"""``python -m dga photographs``: how well whole photographs are repaired."""

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import ModelOptions, command, command_line


@command
def photographs(
    out: Annotated[Path, typer.Option(help="Folder for the results; gone on with if it has some.")],
    split: Annotated[
        str, typer.Option(help="tune (scikit-image's) or report (other packages').")
    ] = "report",
    side: Annotated[int, typer.Option(help="Of the middle square, in pixels.")] = 256,
    models: ModelOptions = ModelOptions(),
) -> None:
    """Measure the repair of photographs that installed packages bring, rivals and controls."""
    from dga.evaluation.photographs import measure, summary
    from dga.io.files import exclusive

    with exclusive(out):
        if side < 128:
            raise ValueError("A photograph has at least 128 pixels a side.")
        typer.echo(summary(measure(models.load(), split, out, side, command_line())))
