"""``python -m dga train``: one model."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dga import command_line


@dataclass(frozen=True)
class ConfigOptions:
    """Options that change a model's usual training, by the names of its fields."""

    images: Annotated[int | None, typer.Option(help="Pictures shown in all.")] = None
    batch: Annotated[int | None, typer.Option(help="Pictures a step.")] = None
    lr: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None
    ema: Annotated[float | None, typer.Option(help="Decay of the weights' moving average.")] = None
    seed: Annotated[int | None, typer.Option(help="Fixes initial weights and every batch.")] = None
    bf16: Annotated[bool | None, typer.Option(help="bfloat16 autocast.")] = None
    window_share: Annotated[
        float | None, typer.Option("--windows", help="Share of pictures cut from --photographs.")
    ] = None
    corruptions: Annotated[
        str | None,
        typer.Option(
            help="A discriminator's class 1: all, a family, extra or comma-separated names."
        ),
    ] = None
    explanations: Annotated[
        bool | None, typer.Option(help="Show a discriminator right and wrong inverses as well.")
    ] = None
    max_depth: Annotated[
        int | None, typer.Option(help="Train the diffusion model mostly at depths up to this one.")
    ] = None
    features: Annotated[
        str | None,
        typer.Option(help="A packaged classifier whose features the diffusion model shall keep."),
    ] = None
    chains: Annotated[
        str | None,
        typer.Option(help="Of --conditional: noise=0.5:worst_jpeg=7 (dga/lab/training)."),
    ] = None


@command_line.command
def train(
    model: Annotated[str, typer.Argument(help="diffusion, classifier, discriminator or dewarper.")],
    out: Annotated[Path, typer.Option(help="Checkpoints and weights; resumed if it has some.")],
    data: Annotated[
        list[Path] | None, typer.Option(help="Folders or zips of class/picture files.")
    ] = None,
    profile: command_line.ProfileOption = "everyday16",
    config: ConfigOptions = ConfigOptions(),
    init: Annotated[Path | None, typer.Option(help="Weights to continue from: a folder.")] = None,
    photographs: Annotated[
        list[Path] | None,
        typer.Option(help="Folders or zips of photographs; damaged whole, then windows are cut."),
    ] = None,
    conditional: Annotated[
        bool,
        typer.Option("--conditional", help="A diffusion model that sees the damaged picture."),
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes that read and corrupt ahead.")] = 0,
    device: command_line.DeviceOption = None,
) -> None:
    """Train a model; killed at any moment, the same command goes on."""
    from dga.lab.data.imagenet_c import parse_corruptions
    from dga.lab.training import run
    from dga.lab.training.loop import Training
    from dga.networks.compute import Compute
    from dga.profiles import get_profile

    name = run.choose_model(model, conditional)
    changes: dict[str, Any] = {k: v for k, v in vars(config).items() if v is not None}
    if config.corruptions is not None:
        changes["corruptions"] = parse_corruptions(config.corruptions)
    plan = dataclasses.replace(run.DEFAULTS[name], **changes)
    chosen_device = Compute.choose(device, "float32").device
    training = Training(get_profile(profile), plan, out, chosen_device, init, workers)
    run.train(name, training, data or [], photographs or [])
    typer.echo(f"Weights: {out}")
