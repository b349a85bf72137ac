"""``python -m dga cost``: what a large evaluation takes, from measured seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import app, sentences


@app.command()
def cost(
    results: Annotated[
        Path | None, typer.Argument(help="A folder of evaluate's results: its seconds count.")
    ] = None,
    seconds: Annotated[
        str, typer.Option(help="Or measured seconds a picture: dga-guided=0.7,dda=1.1.")
    ] = "",
    pictures: Annotated[
        int, typer.Option(help="Pictures a method. Default: ImageNet-C at one severity.")
    ] = 750_000,
    workers: Annotated[str, typer.Option(help="Numbers of GPUs or other workers.")] = "1,8,64",
) -> None:
    """Work out hours for many pictures on many workers, from what was measured."""
    from dga.evaluation import cost

    with sentences():
        rates = cost.measured(results) if results else {}
        rates |= cost.parse_rates(seconds)
        if not rates:
            raise ValueError("Name a folder of results, or --seconds METHOD=SECONDS.")
        typer.echo(cost.table(rates, pictures, cost.parse_counts(workers)))
