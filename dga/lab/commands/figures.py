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

    saved = read_runs(results)
    if out.suffix == ".json":
        report = write_report(saved, out, readings)
        written = [f"{one['key']}: {len(one['rows'])} rows" for one in report["exhibits"]]
        left_out = report["left_out"]
    else:
        index = publish(saved, out)
        written = [str(out / file) for one in index["exhibits"] for file in one["files"].values()]
        left_out = index["missing"]
    typer.echo("\n".join([*written, *(f"left out: {sentence}" for sentence in left_out)]))
