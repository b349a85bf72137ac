"""``python -m dga bench``: what an image costs here."""

from functools import partial
from typing import Annotated

import typer

from dga.commands import common


@common.command
def bench(
    batches: Annotated[str, typer.Option(help="Comma-separated batch sizes.")] = "1,8,32",
    steps: Annotated[int, typer.Option(help="Denoising steps of an image.")] = 50,
    random: Annotated[
        bool, typer.Option("--random", help="Random weights: same speed, nothing to load.")
    ] = False,
    profile: common.ProfileOption = "everyday16",
    weights: common.WeightsOption = None,
    device: common.DeviceOption = None,
    precision: common.PrecisionOption = "auto",
) -> None:
    """Seconds an image, here."""
    from dga.io.parsing import whole_numbers
    from dga.lab.speed.measure import bench as measure
    from dga.lab.speed.measure import make_random_models
    from dga.networks.compute import Compute
    from dga.networks.models import load_models
    from dga.profiles import get_profile
    from dga.weights.sources import Sources

    sizes = whole_numbers(batches, "Batch sizes", "1,8,32")
    shape = get_profile(profile)
    load = make_random_models if random else partial(load_models, sources=Sources(weights))
    models = load(shape, compute=Compute.choose(device, precision))
    table = measure(models, sizes, steps)
    typer.echo(table.to_string(index=False, na_rep="-", float_format="{:.4f}".format))
