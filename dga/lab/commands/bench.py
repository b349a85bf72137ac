"""``python -m dga bench``: what an image costs here."""

from typing import Annotated

import typer

from dga import command_line


@command_line.command
def bench(
    batches: Annotated[str, typer.Option(help="Comma-separated batch sizes.")] = "1,8,32",
    random: Annotated[
        bool, typer.Option("--random", help="Random weights: same speed, nothing to load.")
    ] = False,
    profile: command_line.ProfileOption = "everyday16",
    weights: command_line.WeightsOption = None,
    device: command_line.DeviceOption = None,
    precision: command_line.PrecisionOption = "auto",
) -> None:
    """Seconds an image, here."""
    from dga.io.parsing import parse_numbers
    from dga.lab.speed.bench import bench as measure
    from dga.lab.speed.bench import make_random_models
    from dga.networks.compute import Compute
    from dga.profiles import get_profile

    if random and weights:
        raise ValueError("--random loads nothing: leave --weights out.")
    sizes = parse_numbers("Batch sizes", batches)
    if 0 in sizes:
        raise ValueError("Batches are whole numbers from 1 up.")
    if random:
        models = make_random_models(get_profile(profile), Compute.choose(device, precision))
    else:
        options = command_line.ModelOptions(profile, weights, device=device, precision=precision)
        models = options.load()
    typer.echo(f"{'method':12}{'batch':>6}{'precision':>10}{'seconds':>9}")
    for method, batch, seconds in measure(models, sizes):
        typer.echo(f"{method:12}{batch:6}{models.compute.precision:>10}{seconds:9.4f}")
