"""``python -m dga gallery``: the model cards' pictures."""

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import ModelOptions, command


@command
def gallery(
    out: Annotated[Path, typer.Option(help="Folder for samples.png and before-after.png.")],
    count: Annotated[int, typer.Option(help="Samples drawn.")] = 40,
    subject: Annotated[int, typer.Option(help="Which sample is corrupted and rebuilt.")] = 0,
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 3,
    seed: int = 0,
    models: ModelOptions = ModelOptions(),
) -> None:
    """Draw the model cards' pictures, from the models' own samples alone."""
    from dga.evaluation import gallery as drawing
    from dga.figures.pictures import picture_grid, save

    if not 0 <= subject < count:
        raise ValueError(f"The subject is one of the samples, 0 to {count - 1}.")
    loaded = models.load()
    drawn = drawing.samples(loaded, count, seed)
    grid = picture_grid(drawn, [""] * count, columns=10)
    typer.echo(save(grid, out / "samples.png"))
    pictures, captions = drawing.before_after(loaded, drawn[subject], severity, seed)
    grid = picture_grid(pictures, captions, columns=9)
    typer.echo(save(grid, out / "before-after.png"))
