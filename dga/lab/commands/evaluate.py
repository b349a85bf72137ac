"""``python -m dga evaluate``: accuracy of methods on labelled pictures."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dga import command_line
from dga.lab.evaluation.plan_options import DataOption, PlanOptions

METHODS_HELP = (
    "Comma-separated: source, tent, memo, diffpure, dda, dga, dga-guided, dga-plus ... "
    "(dga/lab/evaluation/README.md), and any pair of a repair and a reader that adapts: "
    "dga-plus+tent. A setting is changed like this: dga-guided:tau=0.3."
)
STREAM_HELP = (
    "One mixed stream of clean pictures and all severities instead of one corruption after the "
    "other: wild (shuffled), sorted (by label) or single (one picture at a time)."
)


@command_line.command
def evaluate(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder for the results; resumed if it has some.")],
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "source,dga,dga-guided,dda",
    corruptions: Annotated[
        str, typer.Option(help="all, a family, extra, everyday, clean or comma-separated names.")
    ] = "all",
    stream: Annotated[str | None, typer.Option(help=STREAM_HELP)] = None,
    batch: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    address: Annotated[
        str | None, typer.Option(help="A Ray cluster to work on: local, auto or HOST:6379.")
    ] = None,
    plan: PlanOptions = PlanOptions(),
    models: command_line.ModelOptions = command_line.ModelOptions(precision="float32"),
) -> None:
    """Measure accuracy, depths and seconds of methods on labelled pictures."""
    from dga.io.parsing import split_list
    from dga.lab.analysis.tables import summarise_accuracy
    from dga.lab.data.imagenet_c import parse_corruptions
    from dga.lab.evaluation.cluster import check_precision, start_on_cluster
    from dga.lab.evaluation.plan import Plan
    from dga.lab.evaluation.run import EvaluationWorker
    from dga.lab.evaluation.run import evaluate as measure

    if address:
        check_precision(models.precision)
    names = parse_corruptions(corruptions, has_clean=True)
    asked = Plan(data=tuple(data), corruptions=names, stream=stream, **vars(plan))
    worker = EvaluationWorker(models, split_list(methods), asked)
    with start_on_cluster(address) if address else nullcontext(map) as run:
        results = measure(worker, out, batch, command_line.read_command_line(), run)
    typer.echo(summarise_accuracy(results.lines, is_stream=stream is not None))
    command_line.print_names(results.unreadable)
