"""What the commands share: the Typer application, groups of options, errors as sentences."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import io
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from dga.data.results import StoredPicture
    from dga.data.uploads import Limits
    from dga.evaluation.folder import FolderResult
    from dga.evaluation.plan import Plan
    from dga.networks.compute import Compute
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
DataOption = Annotated[list[Path], typer.Option(help="Folders or zips of class/picture files.")]


@dataclass(frozen=True)
class ModelOptions:
    """Options that name the networks and say where they run."""

    profile: ProfileOption = "photo"
    weights: WeightsOption = None
    diffusion: Annotated[
        Path | None,
        typer.Option(help="The diffusion model: its folder, or a .pt of guided-diffusion."),
    ] = None
    discriminator: Annotated[
        Path | None, typer.Option(help="The discriminator: its folder, or the authors' checkpoint.")
    ] = None
    explainer: Annotated[
        Path | None, typer.Option(help="DGA+'s own discriminator: its folder.")
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
        Path | None, typer.Option(help="Its classes in order: one a line, or JSON.")
    ] = None
    input_size: Annotated[
        int | None, typer.Option(help="Pixels a side it expects. Default: timm's.")
    ] = None
    mean: Annotated[
        str | None,
        typer.Option(help="Of its pixels in [0, 1]: 0.485,0.456,0.406. Default: timm's."),
    ] = None
    std: Annotated[str | None, typer.Option(help="Their deviation, likewise.")] = None
    yes: Annotated[bool, typer.Option("--yes", help="Fetch public weights without asking.")] = False
    device: DeviceOption = None
    precision: PrecisionOption = "auto"

    @property
    def sources(self) -> Sources:
        """The weights that are named."""
        from dga.weights.sources import Sources

        names = {field.name for field in dataclasses.fields(Sources)} & set(vars(self))
        named = {name: getattr(self, name) for name in names}
        named["mean"] = parse_three_numbers("--mean", self.mean)
        named["std"] = parse_three_numbers("--std", self.std)
        return Sources(self.weights, **named)

    def absolute(self) -> ModelOptions:
        """The options with absolute paths, for processes that work in another folder."""
        from dga.weights.sources import package_of, packaged_checkpoint

        named: dict[str, Any] = {k: v for k, v in vars(self).items() if isinstance(v, Path)}
        if packaged_checkpoint(package_of(str(self.classifier))):
            del named["classifier"]  # a name
        return dataclasses.replace(self, **{name: path.absolute() for name, path in named.items()})

    def compute(self, begun: Path | None = None) -> Compute:
        """Where the networks will run, in the precision that results in ``begun`` have.

        Raises ``ValueError`` for what is not there.
        """
        from dga.evaluation.results_file import read_config
        from dga.networks.compute import Compute

        precision = self.precision
        if begun and precision == "auto":
            precision = read_config(begun).get("precision", precision)
        return Compute.choose(self.device, precision)

    def fetch(self) -> None:
        """Public weights are fetched if wanted; one sentence names whatever is missing."""
        from dga.profiles import get_profile
        from dga.weights.fetch import provide

        provide(get_profile(self.profile), self.sources, self.yes)

    def load(self, begun: Path | None = None, inputs: Sequence[str] = ("x_t",)) -> Models:
        """The models; public weights are fetched if wanted.

        ``begun``: a folder of results that are gone on with; ``inputs``: what the discriminator
        may have been trained to judge.
        """
        from dga.networks.models import load_models

        compute = self.compute(begun)
        self.fetch()
        return load_models(self.profile, self.sources, compute, inputs)


def parse_three_numbers(option: str, text: str | None) -> tuple[float, float, float] | None:
    """Parse one number a channel. Raises ``ValueError``."""
    if text is None:
        return None
    try:
        red, green, blue = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{option} looks like 0.485,0.456,0.406, not {text!r}.") from None
    return red, green, blue


@dataclass(frozen=True)
class PlanOptions:
    """Options that say which labelled pictures are measured, and how they were corrupted."""

    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5
    per_class: Annotated[
        int | None,
        typer.Option(help="Pictures of each class. Default: all; 10 of the project's own set."),
    ] = None
    skip: Annotated[
        int, typer.Option(help="Pictures of each class left out before them, to measure others.")
    ] = 0
    most: Annotated[
        int | None, typer.Option(help="Pictures in all, the first of the shuffled ones.")
    ] = None
    split: Annotated[
        str,
        typer.Option(
            help="tune (500 of the project's own, for choices), report (all others) or all."
        ),
    ] = "report"
    corrupted: Annotated[
        Path | None,
        typer.Option(help="Folder in ImageNet-C's layout, read where it has a corruption."),
    ] = None
    frame: Annotated[
        str,
        typer.Option(help="ImageNet-C's 224 px: resize (to 256) or raw (kept, borders mirrored)."),
    ] = "resize"
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0

    def plan(
        self, data: Sequence[Path], corruptions: Sequence[str], stream: str | None = None
    ) -> Plan:
        """The plan, at absolute paths. Raises ``ValueError`` naming what is allowed."""
        from dga.evaluation.plan import Plan

        corrupted = str(self.corrupted.absolute()) if self.corrupted else None
        options = {**vars(self), "corrupted": corrupted, "stream": stream}
        return Plan(tuple(str(path.absolute()) for path in data), tuple(corruptions), **options)


@contextmanager
def user_errors() -> Iterator[None]:
    """Expected errors become one sentence on stderr and exit status 2."""
    from dga.weights.checkpoints import WeightsError

    try:
        yield
    except (ValueError, OSError, MemoryError, FloatingPointError, WeightsError) as error:
        typer.echo(f"dga: {error}", err=True)
        raise typer.Exit(2) from error


class Command(TyperCommand):
    """A command whose expected errors are told in a sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Nothing is refused, which Python would take for the working folder."""
        with user_errors():
            if "" in args:
                raise ValueError(
                    "An argument is empty: name a file or a folder, or leave the option out."
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A file's name may have bytes that are no text.
            sys.stdout.reconfigure(errors="backslashreplace")
        with user_errors():
            return super().invoke(ctx)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command; a parameter whose default is a group of options stands for all of them."""
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if dataclasses.is_dataclass(parameter.default)
    }
    parameters = []
    for name, parameter in signature.parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(type(groups[name]), include_extras=True)
        parameters += [
            inspect.Parameter(field, parameter.KEYWORD_ONLY, default=value, annotation=hints[field])
            for field, value in vars(groups[name]).items()
        ]

    @functools.wraps(function)
    def parsed(**values: Any) -> None:
        for name, group in groups.items():
            options = {field: values.pop(field) for field in vars(group)}
            values[name] = dataclasses.replace(group, **options)
        function(**values)

    parsed.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    parsed.__annotations__ = {option.name: option.annotation for option in parameters}
    return app.command(cls=Command)(parsed)


MOST_NAMES = 50
"""Unreadable pictures that are named one by one."""
MegapixelsOption = Annotated[
    float | None, typer.Option(help="Most of a picture that is read. Default: 178.")
]


def make_limits(megapixels: float | None) -> Limits:
    """What is read of one's own files. Raises ``ValueError`` for a number below 0."""
    from dga.data.uploads import OWNER

    if megapixels is None:
        return OWNER
    if not megapixels > 0:
        raise ValueError(f"--max-megapixels is a number above 0, not {megapixels}.")
    return dataclasses.replace(OWNER, pixels=int(megapixels * 1e6))


def read_picture(path: Path, limits: Limits) -> StoredPicture:
    """A picture file. Raises ``ValueError`` for one that is no picture, naming it."""
    from dga.data.results import StoredPicture
    from dga.data.uploads import UploadError

    try:
        return StoredPicture.read(path, limits)
    except UploadError as error:
        raise ValueError(f"{path}: {error}") from None


def read_command_line() -> str:
    """The command line as it was typed, to be kept beside its results."""
    return shlex.join(["python", "-m", "dga", *sys.argv[1:]])


def say_skipped(unreadable: Sequence[str], what: str = "could not be read") -> None:
    """Name on stderr the pictures that could not be read, if there are any."""
    say_names(f"Skipped {len(unreadable)} pictures that {what}", unreadable)


def say_on_white(paths: Collection[str]) -> None:
    """Name on stderr the pictures whose transparent parts became white, if there are any."""
    say_names("What was transparent is white", sorted(paths))


def say_names(what: str, names: Sequence[str]) -> None:
    """Say on stderr what befell some pictures, if there are any."""
    from dga.io.parsing import some

    if names:
        typer.echo(f"{what}: {some(names, MOST_NAMES)}", err=True)


def run_folder(
    work: Callable[..., FolderResult],
    folder: Path,
    out: Path | None,
    models: ModelOptions,
    done: str,
) -> None:
    """Have every picture of a folder worked on, and say what became of them; again, it goes on.

    ``out``: by default the folder's name with ``done`` behind it. Ends with status 1 if some
    failed after they were read.
    """
    from dga.io.files import exclusive

    folder = folder.resolve()
    out = out or folder.with_name(f"{folder.name}-{done}")
    with exclusive(out):
        result = work(models.load(begun=out), folder, out)
    typer.echo(result.summary())
    say_skipped(sorted(result.unreadable.values()))
    say_on_white(result.on_white)
    say_skipped(sorted(result.failed.values()), "could not be repaired or written")
    if result.failed:
        raise typer.Exit(1)
