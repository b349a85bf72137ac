"""``python -m dga evaluate``: the bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import (
    DataOption,
    DeviceOption,
    PrecisionOption,
    ProfileOption,
    WeightsOption,
    app,
    load,
    sentences,
)


@app.command()
def evaluate(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Results; resumed if it has some.")],
    methods: Annotated[
        str, typer.Option(help="Comma-separated: source, dga, dga-guided, dda.")
    ] = "source,dga,dga-guided,dda",
    corruptions: Annotated[str, typer.Option(help="all, clean or comma-separated names.")] = "all",
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5,
    per_class: Annotated[int, typer.Option(help="Pictures of each class.")] = 10,
    split: Annotated[
        str, typer.Option(help="tune (for choices), report (for tables) or all.")
    ] = "report",
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0,
    batch: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    settings: Annotated[
        str, typer.Option(help="Changes such as max_depth=40,scale=3,rule=quantile.")
    ] = "",
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "float32",
) -> None:
    """Measure accuracy and depths on labelled pictures; killed, it resumes."""
    from dga import evaluation

    with sentences():
        models = evaluation.with_settings(
            load(profile, weights, device, precision), evaluation.parse_settings(settings)
        )
        plan = evaluation.Plan(
            data=tuple(map(str, data)),
            methods=evaluation.parse_methods(methods),
            corruptions=evaluation.parse_corruptions(corruptions),
            severity=severity,
            per_class=per_class,
            split=split,
            seed=seed,
        )
        lines = evaluation.evaluate(models, plan, out, batch)
        typer.echo(evaluation.summarise(lines))
