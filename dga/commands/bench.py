"""``python -m dga bench``: what an image costs here."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import (
    DeviceOption,
    PrecisionOption,
    ProfileOption,
    WeightsOption,
    command,
    command_line,
)


@command
def bench(
    against: Annotated[
        str | None, typer.Option(help="reference: time the published way in turn with ours.")
    ] = None,
    batches: Annotated[str, typer.Option(help="Comma-separated batch sizes.")] = "1,8,32",
    steps: Annotated[int, typer.Option(help="Denoising steps of an image.")] = 50,
    timed: Annotated[
        int | None,
        typer.Option(
            help="How many of them are run; the rest cost alike. Default: 2, --thorough: 10."
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(help="The best of so many runs counts. Default: 3, of long ones fewer."),
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="More steps and runs: many minutes, less noise."),
    ] = False,
    random: Annotated[
        bool, typer.Option("--random", help="Random weights: same speed, nothing to load.")
    ] = False,
    compiled: Annotated[bool, typer.Option("--compiled", help="Through torch.compile.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for bench.csv and bench.json.")] = None,
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "auto",
) -> None:
    """Seconds an image, share of time in the networks, memory, gain over the published way."""
    from dga.io.parsing import whole_numbers
    from dga.networks.compute import Compute
    from dga.networks.models import Models, load_models
    from dga.profiles import get_profile
    from dga.speed import measure
    from dga.speed.timing import THOROUGH, TimingPlan
    from dga.speed.workload import random_models
    from dga.weights.sources import Sources

    if against not in (None, "reference"):
        raise ValueError(f"--against takes reference, not {against!r}.")
    usual = THOROUGH if thorough else TimingPlan()
    plan = dataclasses.replace(
        usual,
        batches=whole_numbers(batches, "Batch sizes", "1,8,32"),
        steps=steps,
        timed=min(usual.timed, steps) if timed is None else timed,
        repeats=usual.repeats if repeats is None else repeats,
        enough=usual.enough if repeats is None else None,
        against=against is not None,
    )
    shape = get_profile(profile)

    def load(compute: Compute) -> Models:
        return (
            random_models(shape, compute)
            if random
            else load_models(shape, Sources(weights), compute)
        )

    models = load(Compute.choose(device, precision, compiled))
    reference = load(Compute.choose(device, "float32")) if plan.against else None
    report = measure.bench(models, plan, reference)
    typer.echo(measure.to_text(report))
    for path in measure.write(report, out, command_line()) if out else ():
        typer.echo(path, err=True)
