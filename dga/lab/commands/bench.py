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
    from dga.networks.models import load_models
    from dga.profiles import get_profile
    from dga.weights.sources import Sources

    if random and weights:
        raise ValueError("--random loads nothing: leave --weights out.")
    sizes, compute = parse_numbers("Batch sizes", batches), Compute.choose(device, precision)
    if random:
        models = make_random_models(get_profile(profile), compute)
    else:
        models = load_models(profile, Sources(weights), compute)
    table = measure(models, sizes)
    typer.echo(table.to_string(index=False, na_rep="-", float_format="{:.4f}".format))
