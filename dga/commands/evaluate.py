"""``python -m dga evaluate``: the bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import (
    ClassifierOption,
    DataOption,
    DeviceOption,
    DiffusionOption,
    DiscriminatorOption,
    PrecisionOption,
    ProfileOption,
    WeightsOption,
    YesOption,
    app,
    command_line,
    load,
    say_skipped,
    sentences,
)

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
        str | None,
        typer.Option(help="Folder in ImageNet-C's layout, read where it has a corruption."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0,
    batch: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    resume: Annotated[bool, typer.Option(help="Go on with what --out already holds.")] = False,
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
    from dga import evaluation
    from dga.corruptions import parse_corruptions
    from dga.methods import build_methods
    from dga.summary import summarise

    with sentences():
        plan = evaluation.Plan(
            data=tuple(str(path) for path in data),
            corruptions=parse_corruptions(corruptions, clean=True),
            severity=severity,
            per_class=per_class,
            split=split,
            seed=seed,
            corrupted=corrupted,
        )
        models = load(
            profile, weights, device, precision, diffusion, discriminator, classifier, yes
        )
        chosen = build_methods(models, [m.strip() for m in methods.split(",") if m.strip()])
        results = evaluation.evaluate(models, chosen, plan, out, batch, resume, command_line())
        typer.echo(summarise(results.lines))
        say_skipped(results.unreadable)
