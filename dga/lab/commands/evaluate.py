"""``python -m dga evaluate``: accuracy of methods on labelled pictures."""

from pathlib import Path
from typing import Annotated

import typer

from dga import command_line
from dga.lab.commands.plan_options import DataOption, PlanOptions

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
    machines: command_line.EngineOptions = command_line.EngineOptions(),
    plan: PlanOptions = PlanOptions(),
    models: command_line.ModelOptions = command_line.ModelOptions(precision="float32"),
) -> None:
    """Measure accuracy, depths and seconds of methods on labelled pictures."""
    from dga.io.parsing import split_list
    from dga.lab.analysis.tables import summarise_accuracy
    from dga.lab.data.imagenet_c import parse_corruptions
    from dga.lab.evaluation import cluster
    from dga.lab.evaluation.run import evaluate as measure
    from dga.lab.readers.systems import parse_all

    chosen_plan = plan.make_plan(data, parse_corruptions(corruptions, has_clean=True), stream)
    names, typed = split_list(methods), command_line.read_command_line()
    if machines.engine == "ray":
        machines.check_precision(models.precision)
        worker = cluster.EvaluationWorker(models, names, chosen_plan)
        results = cluster.evaluate_on_cluster(worker, out, batch, typed, machines.address)
    else:
        loaded = models.load()
        systems = parse_all(loaded.profile, names)
        results = measure(loaded, systems, chosen_plan, out, batch, typed)
    typer.echo(summarise_accuracy(results.lines, is_stream=stream is not None))
    command_line.print_names(results.unreadable)
