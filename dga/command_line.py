"""What all commands share: the Typer application, groups of options, errors as sentences."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from dga.data.picture_files import StoredPicture
    from dga.networks.models import Models
    from dga.weights.sources import Sources

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Discriminator-guided adaptive diffusion: frozen models against corrupted pictures.",
)

ProfileOption = Annotated[
    str, typer.Option(help="photo (224 px), everyday16 (64 px) or imagenet (256 px).")
]
DeviceOption = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 ... Default: a GPU.")]
PrecisionOption = Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")]
WeightsOption = Annotated[
    Path | None, typer.Option(help="Folder with PROFILE/diffusion, ... instead of the shipped one.")
]


@dataclass(frozen=True)
class ModelOptions:
    """Options that name the networks and say where they run."""

    profile: ProfileOption = "photo"
    weights: WeightsOption = None
    diffusion: Annotated[
        Path | None,
        typer.Option(help="The diffusion model: its folder, or a .pt of guided-diffusion."),
    ] = None
    discriminator: Annotated[Path | None, typer.Option(help="The discriminator: its folder.")] = (
        None
    )
    explainer: Annotated[
        Path | None, typer.Option(help="DGA+'s own discriminator: its folder.")
    ] = None
    conditional: Annotated[
        Path | None, typer.Option(help="The denoiser that sees the damaged picture: its folder.")
    ] = None
    dewarper: Annotated[
        Path | None, typer.Option(help="The denoiser for warped pictures: its folder.")
    ] = None
    classifier: Annotated[
        Path | None,
        typer.Option(
            help="The classifier: a folder, timm's .safetensors or .pth, or timm's name of one."
        ),
    ] = None
    architecture: Annotated[
        str | None, typer.Option(help="timm's name of that file's architecture.")
    ] = None
    classes: Annotated[
        Path | None, typer.Option(help="A file of its classes in order, one a line.")
    ] = None
    input_size: Annotated[
        int | None, typer.Option(help="Pixels a side that it expects. Default: timm's.")
    ] = None
    mean: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Mean of its pixels in [0, 1]: 0.485 0.456 0.406. Default: timm's."),
    ] = None
    std: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Deviation of its pixels. Default: timm's."),
    ] = None
    activation: Annotated[
        str | None,
        typer.Option(help="softmax; sigmoid: several labels a picture; none: it has its own."),
    ] = None
    device: DeviceOption = None
    precision: PrecisionOption = "auto"

    @property
    def sources(self) -> Sources:
        """The weights that these options name."""
        from dga.weights.sources import Sources

        names = {field.name for field in dataclasses.fields(Sources)} & set(vars(self))
        return Sources(self.weights, **{name: getattr(self, name) for name in names})

    def load(self) -> Models:
        """Load the models. Raises ``WeightsError`` naming what is missing or does not fit."""
        from dga.networks.compute import Compute
        from dga.networks.models import load_models

        compute = Compute.choose(self.device, self.precision)
        return load_models(self.profile, self.sources, compute)


@contextmanager
def report_user_errors() -> Iterator[None]:
    """Report expected errors in one sentence on stderr, with exit status 2.

    Where ``DGA_TRACEBACK`` is set, they are raised with Python's traceback instead.
    """
    from dga.weights.checkpoints import WeightsError

    try:
        yield
    except (ValueError, OSError, MemoryError, FloatingPointError, WeightsError) as error:
        if os.environ.get("DGA_TRACEBACK"):
            raise
        sentence = f"{error}"
        if isinstance(error, OSError) and error.filename:
            sentence = f"{error.filename}: {error.strerror}."
        typer.echo(f"dga: {sentence}", err=True)
        raise typer.Exit(2) from error


class Command(TyperCommand):
    """A command that reports expected errors in one sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty argument, which Python would take for the current folder."""
        with report_user_errors():
            if "" in args:
                raise ValueError(
                    "An argument is empty: name a file or a folder, or leave the option out."
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # The name of a file may have bytes that are not valid text.
            sys.stdout.reconfigure(errors="backslashreplace")
        with report_user_errors():
            return super().invoke(ctx)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a function as a command.

    A parameter whose default is a dataclass of options is replaced by all of them on the command
    line; the function gets the dataclass with the user's values.
    """
    signature = inspect.signature(function, eval_str=True)
    groups, options = dict[str, Any](), list[inspect.Parameter]()
    for parameter in signature.parameters.values():
        group, kind = parameter.default, parameter.KEYWORD_ONLY
        if not dataclasses.is_dataclass(group):
            options.append(parameter.replace(kind=kind))
            continue
        groups[parameter.name] = group
        hints = get_type_hints(type(group), include_extras=True)
        options += [
            parameter.replace(name=name, kind=kind, default=value, annotation=hints[name])
            for name, value in vars(group).items()
        ]

    @functools.wraps(function)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            chosen = {field: values.pop(field) for field in vars(group)}
            values[name] = dataclasses.replace(group, **chosen)
        function(**values)

    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return app.command(cls=Command)(run)


MOST_NAMES = 50
"""Most pictures that are named one by one on stderr."""


def read_picture(path: Path) -> StoredPicture:
    """Read a picture file. Raises ``ValueError``, which names it, where it cannot be read."""
    from dga.data.picture_files import StoredPicture

    with name_unreadable_picture(path):
        return StoredPicture.read(path)


@contextmanager
def name_unreadable_picture(path: Path) -> Iterator[None]:
    """Put the path of a picture before the error that it cannot be read."""
    from dga.data.uploads import UploadError

    try:
        yield
    except UploadError as error:
        raise ValueError(f"{path}: {error}") from None


def read_command_line() -> str:
    """Return the command line as it was typed, to be kept beside its results."""
    return shlex.join(["python", "-m", "dga", *sys.argv[1:]])


def print_names(names: Sequence[str], words: str = "Skipped {} that could not be read") -> None:
    """Print on stderr ``words``, with the number of pictures, and the first names.

    Nothing is printed where there are no names.
    """
    from dga.io.numbers import count_pictures
    from dga.io.parsing import first_names

    if names:
        begin = words.format(count_pictures(len(names)))
        typer.echo(f"{begin}: {first_names(names, MOST_NAMES)}", err=True)


NOT_KEPT = "Not everything of {} is kept"
NOT_REPAIRED = "Skipped {} that could not be repaired"
