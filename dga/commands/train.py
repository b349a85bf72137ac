"""``python -m dga train``: one model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from dga.commands.common import DataOption, DeviceOption, ProfileOption, app, sentences


@app.command()
def train(
    model: Annotated[str, typer.Argument(help="diffusion, classifier or discriminator.")],
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Checkpoints and weights; resumed if it has some.")],
    profile: ProfileOption = "everyday16",
    images: Annotated[int | None, typer.Option(help="Pictures shown in all.")] = None,
    batch: Annotated[int | None, typer.Option(help="Pictures a step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None,
    ema: Annotated[float | None, typer.Option(help="Decay of the weights' moving average.")] = None,
    seed: Annotated[int | None, typer.Option(help="Fixes initial weights and every batch.")] = None,
    bf16: Annotated[bool | None, typer.Option(help="bfloat16 autocast.")] = None,
    init: Annotated[Path | None, typer.Option(help="Weights folder to continue from.")] = None,
    source: Annotated[
        str, typer.Option(help="Discriminator's source class: images or generated.")
    ] = "images",
    diffusion: Annotated[
        Path | None, typer.Option(help="Diffusion weights that --source generated samples from.")
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Train a model; killed at any moment, the same command goes on."""
    from dga.compute import Compute
    from dga.training import run

    with sentences():
        given: dict[str, Any] = {
            "images": images,
            "batch": batch,
            "lr": lr,
            "ema": ema,
            "seed": seed,
            "bf16": bf16,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        config = dataclasses.replace(run.defaults(model), **chosen)
        where = Compute.choose(device, "float32").device
        options = run.Sources(init, source, diffusion)
        typer.echo(f"Weights: {run.train(model, profile, data, out, config, where, options)}")
