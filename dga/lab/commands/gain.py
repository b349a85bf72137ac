"""``python -m dga gain``: whether repair helps a classifier of one's own, and where."""

import zlib
from pathlib import Path
from typing import Annotated

import typer

from dga import command_line


@command_line.command
def gain(
    data: Annotated[
        Path, typer.Argument(help="Pictures: class/picture (folder or zip), or a folder of any.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Results; the same command goes on. None: in runs/gain.")
    ] = None,
    pictures: Annotated[int, typer.Option(min=1, help="How many, at most.")] = 40,
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5,
    corruptions: Annotated[
        str, typer.Option(help="all, a family, extra, everyday or comma-separated names.")
    ] = "all",
    models: command_line.ModelOptions = command_line.ModelOptions(),
) -> None:
    """Measure whether repair helps a classifier: --classifier FILE, or timm's name of it.

    Without labels, what it reads in the undamaged picture counts as right.
    """
    from dga.data.uploads import list_pictures
    from dga.lab.data.imagenet_c import parse_corruptions
    from dga.lab.evaluation.gain import has_class_folders, measure_gain, summarise_gain

    names = parse_corruptions(corruptions)
    if not list_pictures(data):  # before the networks are loaded
        raise ValueError(f"No pictures in {data}.")
    out = out or Path("runs/gain") / f"{data.stem}-{zlib.crc32(bytes(data.resolve())):08x}"
    loaded, typed = models.load(), command_line.read_command_line()
    results = measure_gain(loaded, data, out, pictures, severity, names, typed)
    has_labels = has_class_folders(data, loaded.profile.classifier.classes)
    typer.echo(summarise_gain(results.lines, has_labels))
    command_line.print_names(results.unreadable)
