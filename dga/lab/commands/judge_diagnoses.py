"""``python -m dga judge-diagnoses``: diagnoses against damage that is known."""

from pathlib import Path
from typing import Annotated

import typer

from dga import command_line


@command_line.command
def judge_diagnoses(
    report: Annotated[Path, typer.Argument(help="The folder that diagnose wrote.")],
    labels: Annotated[
        Path, typer.Argument(help="A CSV of path, corruption (clean: none) and strength.")
    ],
) -> None:
    """Say what was found of known damage; REPORT/labelled.json holds the same."""
    from dga.diagnosis import SURE
    from dga.folders.records import read_lines, read_run_config
    from dga.io.files import CONFIG, LINES
    from dga.lab.analysis import labelled_diagnoses

    known = labelled_diagnoses.read_labels(labels)
    if not (report / LINES).is_file():
        raise ValueError(f"{report} holds no diagnoses: write them by python -m dga diagnose.")
    lines = read_lines(report / LINES, ("path",))
    tables = labelled_diagnoses.compare_with_labels(lines, known, SURE)
    has_networks = read_run_config(report / CONFIG).get("networks", True)
    typed = command_line.read_command_line()
    labelled_diagnoses.write_comparison(tables, report, typed, has_networks)
    typer.echo(labelled_diagnoses.format_comparison(tables))
