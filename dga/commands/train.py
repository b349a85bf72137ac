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
        str, typer.Option(help="Discriminator's source class: images, generated or crossed.")
    ] = "images",
    corruptions: Annotated[
        str, typer.Option(help="Its other class: all, a family, extra or comma-separated names.")
    ] = "all",
    input: Annotated[str, typer.Option(help="What it judges: x_t or x0_hat.")] = "x_t",
    diffusion: Annotated[
        Path | None, typer.Option(help="Diffusion weights behind samples and x0_hat.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Generated pictures, 100 passes each.")] = 1024,
    shards: Annotated[
        Path | None, typer.Option(help="Folder of generated pictures, for several runs.")
    ] = None,
    precision: Annotated[
        str, typer.Option(help="The diffusion model's: float32 or bfloat16.")
    ] = "float32",
    device: DeviceOption = None,
) -> None:
    """Train a model; killed at any moment, the same command goes on."""
    from dga.compute import Compute
    from dga.corruptions import parse_corruptions
    from dga.training import run
    from dga.training.studies import Study

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
        study = Study(
            source, parse_corruptions(corruptions), input, diffusion, samples, shards, precision
        )
        written = run.train(model, profile, data, out, config, where, init, study)
        typer.echo(f"Weights: {written}")
