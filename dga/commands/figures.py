"""``python -m dga figures``: tables and figures from results."""

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import command


@command
def figures(
    results: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")],
    out: Annotated[Path, typer.Option(help="Where tables/, figures/ and index.json go.")],
) -> None:
    """Draw every table and figure that the runs allow; say what is missing."""
    from dga.analysis.results import read_runs
    from dga.figures.exhibits import publish

    published = publish(read_runs(results), out)
    for entry in published.entries:
        typer.echo("  ".join(str(out / file) for file in entry["files"].values()))
    for name, reason in published.missing:
        typer.echo(f"{name}: {reason}")
