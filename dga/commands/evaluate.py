"""``python -m dga evaluate``: the bench."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import (
    ClassifierOption,
    DataOption,
    DeviceOption,
    DiffusionOption,
    DiscriminatorOption,
    FrameOption,
    PrecisionOption,
    ProfileOption,
    WeightsOption,
    YesOption,
    absolute,
    app,
    command_line,
    load,
    make_sure,
    say_skipped,
    sentences,
)

ENGINES = ("local", "ray")
METHODS_HELP = (
    "Comma-separated: source, tent, memo, diffpure, dda, dga, dga-guided ... (README, The bench); "
    "a setting is changed like this: dga-guided:tau=0.3."
)


@app.command()
def evaluate(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder for the results.")],
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "source,dga,dga-guided,dda",
    corruptions: Annotated[
        str, typer.Option(help="all, a family, clean or comma-separated names.")
    ] = "all",
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5,
    per_class: Annotated[int, typer.Option(help="Pictures of each class.")] = 10,
    split: Annotated[
        str, typer.Option(help="tune (for choices), report (for tables) or all.")
    ] = "report",
    corrupted: Annotated[
        Path | None,
        typer.Option(help="Folder in ImageNet-C's layout, read where it has a corruption."),
    ] = None,
    frame: FrameOption = "resize",
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0,
    batch: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    resume: Annotated[bool, typer.Option(help="Go on with what --out already holds.")] = False,
    engine: Annotated[str, typer.Option(help="local, or ray: many machines.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="A running Ray cluster: auto or HOST:6379. Default: none.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Ray workers that hold the models. Default: one a GPU.")
    ] = None,
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    diffusion: DiffusionOption = None,
    discriminator: DiscriminatorOption = None,
    classifier: ClassifierOption = None,
    yes: YesOption = False,
    device: DeviceOption = None,
    precision: PrecisionOption = "float32",
) -> None:
    """Measure accuracy, depths and seconds of methods on labelled pictures."""
    from dga.corruptions import parse_corruptions
    from dga.evaluation import Plan, cluster
    from dga.evaluation import evaluate as measure
    from dga.evaluation.summary import summarise
    from dga.files import alone
    from dga.methods import build_methods
    from dga.parsing import check_choice, split_list

    with sentences(), alone(out):
        check_choice("engine", engine, ENGINES)
        plan = Plan(
            data=tuple(str(absolute(path)) for path in data),
            corruptions=parse_corruptions(corruptions, clean=True),
            severity=severity,
            per_class=per_class,
            split=split,
            seed=seed,
            corrupted=str(absolute(corrupted)) if corrupted else None,
            frame=frame,
        )
        names = split_list(methods)
        named = (absolute(diffusion), absolute(discriminator), absolute(classifier))
        if engine == "ray":
            if precision == "auto":
                raise ValueError("Many machines need one precision: name it with --precision.")
            make_sure(profile, absolute(weights), *named, yes)
            build = partial(load, profile, absolute(weights), device, precision, *named)
            recipe, crew = cluster.Recipe(build, names, plan), cluster.Cluster(address, workers)
            results = cluster.evaluate_on_cluster(recipe, out, batch, resume, command_line(), crew)
        else:
            models = load(profile, weights, device, precision, *named, yes)
            chosen = build_methods(models, names)
            results = measure(models, chosen, plan, out, batch, resume, command_line())
        typer.echo(summarise(results.lines))
        say_skipped(results.unreadable)
