"""``python -m dga train``: one model."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dga.commands import common


@dataclass(frozen=True)
class ConfigOptions:
    """Options that change a model's usual training."""

    images: Annotated[int | None, typer.Option(help="Pictures shown in all.")] = None
    batch: Annotated[int | None, typer.Option(help="Pictures a step.")] = None
    lr: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None
    ema: Annotated[float | None, typer.Option(help="Decay of the weights' moving average.")] = None
    seed: Annotated[int | None, typer.Option(help="Fixes initial weights and every batch.")] = None
    bf16: Annotated[bool | None, typer.Option(help="bfloat16 autocast.")] = None
    windows: Annotated[
        float | None, typer.Option(help="Share of pictures that are windows of --photographs.")
    ] = None


@dataclass(frozen=True)
class StudyOptions:
    """Options of a discriminator's study, by the names of its fields."""

    source: Annotated[
        str, typer.Option(help="Discriminator's source class: images, generated or crossed.")
    ] = "images"
    corruptions: Annotated[
        str, typer.Option(help="Its other class: all, a family, extra or comma-separated names.")
    ] = "all"
    input: Annotated[str, typer.Option(help="What it judges: x_t or x0_hat.")] = "x_t"
    diffusion: Annotated[
        Path | None, typer.Option(help="Diffusion weights behind samples and x0_hat.")
    ] = None
    samples: Annotated[int, typer.Option(help="Generated pictures, 100 passes each.")] = 1024
    shards: Annotated[
        Path | None, typer.Option(help="Folder of generated pictures, for several runs.")
    ] = None
    precision: Annotated[str, typer.Option(help="The diffusion model's: float32 or bfloat16.")] = (
        "float32"
    )
    explanations: Annotated[
        bool, typer.Option(help="Show the discriminator right and wrong inverses as well.")
    ] = False


@common.command
def train(
    model: Annotated[str, typer.Argument(help="diffusion, classifier or discriminator.")],
    data: common.DataOption,
    out: Annotated[Path, typer.Option(help="Checkpoints and weights; resumed if it has some.")],
    profile: common.ProfileOption = "everyday16",
    config: ConfigOptions = ConfigOptions(),
    init: Annotated[
        Path | None,
        typer.Option(help="Weights to continue from: a folder, or a guided-diffusion classifier."),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(help="Train the diffusion model mostly at depths up to this one.")
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="A packaged classifier whose features the diffusion model shall keep."),
    ] = None,
    photographs: Annotated[
        list[Path] | None,
        typer.Option(help="Folders or zips of photographs; damaged whole, then windows are cut."),
    ] = None,
    study: StudyOptions = StudyOptions(),
    workers: Annotated[int, typer.Option(help="Processes that read and corrupt ahead.")] = 0,
    device: common.DeviceOption = None,
) -> None:
    """Train a model; killed at any moment, the same command goes on."""
    from dga.corruptions import parse_corruptions
    from dga.networks.compute import Compute
    from dga.training import run
    from dga.training.discriminator.studies import Study

    changes = {name: value for name, value in vars(config).items() if value is not None}
    corruptions = parse_corruptions(study.corruptions)
    run.train(
        model,
        profile,
        data,
        out,
        config=dataclasses.replace(run.get_defaults(model), **changes),
        device=Compute.choose(device, "float32").device,
        init=init,
        study=Study(**{**vars(study), "corruptions": corruptions}),
        workers=workers,
        max_depth=max_depth,
        photographs=photographs or (),
        features=features,
    )
    typer.echo(f"Weights: {out}")
