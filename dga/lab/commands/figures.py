"""``python -m dga figures``: tables and figures from results."""

from pathlib import Path
from typing import Annotated

import typer

from dga import command_line


@command_line.command
def figures(
    results: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")],
    out: Annotated[
        Path,
        typer.Option(
            help="Where tables/, figures/ and index.json go; NAME.json: the one file that the "
            "app's page Results reads."
        ),
    ],
    readings: Annotated[
        bool, typer.Option(help="Beside NAME.json every reading, as NAME-readings.json.")
    ] = False,
) -> None:
    """Write every table and figure that the runs allow; say which runs are left out."""
    from dga.lab.analysis.report import write_report
    from dga.lab.analysis.saved_runs import read_runs
    from dga.lab.figures.exhibits import publish

    if out.suffix == ".json":
        report = write_report(read_runs(results), out, readings)
        for exhibit in report["exhibits"]:
            typer.echo(f"{exhibit['key']}: {len(exhibit['rows'])} rows")
        for sentence in report["left_out"]:
            typer.echo(f"left out: {sentence}")
        return
    index = publish(read_runs(results), out)
    for entry in index["exhibits"]:
        typer.echo("  ".join(str(out / file) for file in entry["files"].values()))
    for sentence in index["missing"]:
        typer.echo(f"left out: {sentence}")
