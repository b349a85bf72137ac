"""What the commands share: the Typer application, options, errors as sentences."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Discriminator-guided adaptive diffusion: frozen models against corrupted pictures.",
)

ProfileOption = Annotated[str, typer.Option(help="everyday16 (64 px) or imagenet (256 px).")]
WeightsOption = Annotated[
    Path | None, typer.Option(help="Folder with PROFILE/diffusion, ... instead of the shipped one.")
]
DiffusionOption = Annotated[
    Path | None, typer.Option(help="The diffusion model: its folder, or a .pt of guided-diffusion.")
]
DiscriminatorOption = Annotated[
    Path | None, typer.Option(help="The discriminator: its folder, or the authors' checkpoint.")
]
ClassifierOption = Annotated[
    Path | None, typer.Option(help="The classifier: its folder, or timm's .safetensors or .pth.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Fetch public weights without asking.")]
DeviceOption = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 ... Default: a GPU.")]
PrecisionOption = Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")]
FrameOption = Annotated[
    str,
    typer.Option(help="ImageNet-C's 224 px: resize (to 256) or raw (kept, borders mirrored)."),
]
DataOption = Annotated[list[Path], typer.Option(help="Folders or zips of class/picture files.")]

NAMED = 50
"""Unreadable pictures that are named one by one."""


@contextmanager
def sentences() -> Any:
    """Expected errors become one sentence on stderr and exit status 2."""
    from dga.weights.checkpoints import WeightsError

    try:
        yield
    except (ValueError, OSError, MemoryError, FloatingPointError, WeightsError) as error:
        typer.echo(f"dga: {error}", err=True)
        raise typer.Exit(2) from error


def load(
    profile: str,
    weights: Path | None,
    device: str | None,
    precision: str,
    diffusion: Path | None = None,
    discriminator: Path | None = None,
    classifier: Path | None = None,
    yes: bool = False,
) -> Any:
    """A profile's models, as the options ask for them; public weights are fetched if wanted."""
    from dga.networks.compute import Compute
    from dga.networks.models import load_models

    compute = Compute.choose(device, precision)
    make_sure(profile, weights, diffusion, discriminator, classifier, yes)
    models = load_models(
        profile, weights, compute, discriminator, diffusion=diffusion, classifier=classifier
    )
    say_pace(models)
    return models


def make_sure(
    profile: str,
    weights: Path | None,
    diffusion: Path | None,
    discriminator: Path | None,
    classifier: Path | None,
    yes: bool,
) -> None:
    """Public weights are fetched if wanted; one sentence names whatever is missing."""
    from dga.profiles import get_profile
    from dga.weights.fetch import obtain
    from dga.weights.sources import Sources

    obtain(get_profile(profile), Sources(weights, diffusion, discriminator, classifier), yes)


def absolute(path: Path | None) -> Path | None:
    """The same place, whatever folder another process works in."""
    return path and path.absolute()


def say_pace(models: Any) -> None:
    """Say on stderr how long a picture will take, where that is long."""
    from dga.speed.pace import slow_pace, warning

    if (pace := slow_pace(models)) is not None:
        typer.echo(warning(models.profile, pace), err=True)


def command_line() -> str:
    """This command as it was typed, to be kept beside its results."""
    return shlex.join(["python", "-m", "dga", *sys.argv[1:]])


def say_skipped(unreadable: Sequence[str]) -> None:
    """Name on stderr the pictures that could not be read, if there are any."""
    if unreadable:
        names = ", ".join(unreadable[:NAMED])
        more = f" and {len(unreadable) - NAMED} more" if len(unreadable) > NAMED else ""
        typer.echo(
            f"Skipped {len(unreadable)} pictures that could not be read: {names}{more}", err=True
        )
