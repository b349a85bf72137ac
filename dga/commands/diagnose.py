"""``python -m dga diagnose``: what is wrong with one's pictures."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dga import command_line


@command_line.command
def diagnose(
    pictures: Annotated[
        list[Path],
        typer.Argument(help="Folders, zips, pictures, or a .txt with a path a line."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for lines, table and report.")],
    only: Annotated[
        str | None, typer.Option(help="Kinds that count, such as noise,blur. Default: all.")
    ] = None,
    min_strength: Annotated[
        str | None, typer.Option(help="Weaker damage does not count: noise=0.1,blur=3.")
    ] = None,
    fail_above: Annotated[
        str | None, typer.Option(help="End with status 3 if more are damaged than, say, 5%.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Measure alone, ask no network.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair exactly these, below OUT/repaired.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    address: Annotated[
        str | None, typer.Option(help="A Ray cluster to work on: local, auto or HOST:6379.")
    ] = None,
    models: command_line.ModelOptions = command_line.ModelOptions(),
) -> None:
    """Find which pictures are damaged, how, and how badly; with --classifier, how it reads them.

    Ends with status 1 if some could not be read or repaired. A command that was killed goes on when
    it is run again.
    """
    from dga.folders import diagnoses
    from dga.folders.diagnosis_report import Criteria
    from dga.folders.picture_folder import Worker
    from dga.folders.workers import make_task_map
    from dga.io.parsing import parse_share
    from dga.lab.evaluation.cluster import check_precision, start_on_cluster

    if address and jobs > 1:
        raise ValueError("--jobs is for this machine alone: leave it out, or --address.")
    if address and (repair or not fast):
        check_precision(models.precision)
    if fast and models.classifier:
        raise ValueError("--fast asks no network: leave --classifier out, or --fast.")
    criteria = Criteria.parse(only, min_strength)
    most = None if fail_above is None else parse_share(fail_above)
    worker = Worker(models, fast, bool(models.classifier))
    command = command_line.read_command_line()
    with start_on_cluster(address) if address else nullcontext(make_task_map(jobs)) as run:
        summary = diagnoses.diagnose_all(pictures, out, worker, run, criteria, repair, command)
    typer.echo(f"{summary} {out / diagnoses.REPORT}")
    command_line.print_names(summary.losses, command_line.NOT_KEPT)
    command_line.print_names(summary.errors)
    command_line.print_names(summary.failed, command_line.NOT_REPAIRED)
    if most is not None and summary.share > most:
        raise typer.Exit(3)
    if summary.errors or summary.failed:
        raise typer.Exit(1)
