"""``python -m dga repair``: a photograph at its own size, or a folder of them."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dga import command_line


@command_line.command
def repair(
    photo: Annotated[Path, typer.Argument(help="A picture, or a folder of them.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File, or folder for a folder. Default: PHOTO-repaired.png in the working folder, "
            "of several pages or frames .tif, .webp or .gif; FOLDER-repaired beside FOLDER."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace the file that --out names.")] = False,
    models: command_line.ModelOptions = command_line.ModelOptions(),
) -> None:
    """Repair a photograph at its own size.

    Of a file of several pages or frames each, where --out can hold them; what the result does not
    keep is said. Of a folder: every picture, with a line of JSON on each; run it again to go on.
    Ends with status 1 if some could not be read or repaired.
    """
    if not photo.is_dir():
        from dga.sentences import describe_file

        facts = _repair_file(photo, out, overwrite, models)
        sentence = f"{describe_file(facts)} {facts['file']}"
        typer.echo(json.dumps(facts) if as_json else sentence)
    elif as_json or overwrite:
        raise ValueError(f"--{'json' if as_json else 'overwrite'} is for one picture.")
    else:
        _repair_folder(photo.resolve(), out, models)


def _repair_folder(folder: Path, out: Path | None, models: command_line.ModelOptions) -> None:
    """Say what became of every picture; ends with status 1 where some could not be repaired."""
    from dga.folders.picture_folder import PictureFolder, Worker
    from dga.folders.repairs import repair_all

    out = out or folder.with_name(f"{folder.name}-repaired")
    pictures = PictureFolder.of([folder], out)
    summary = repair_all(pictures, Worker(models), map)
    typer.echo(f"{summary} {out}")
    command_line.print_names(summary.losses, command_line.NOT_KEPT)
    unreadable = [*pictures.denied, *summary.unreadable]
    command_line.print_names(unreadable)
    command_line.print_names(summary.failed, command_line.NOT_REPAIRED)
    if unreadable or summary.failed:
        raise typer.Exit(1)


def _repair_file(
    photo: Path, out: Path | None, overwrite: bool, models: command_line.ModelOptions
) -> dict[str, Any]:
    """Write one repaired picture, whole or not at all; returns its record."""
    from tqdm import tqdm

    from dga.data.formats import WRITTEN
    from dga.data.picture_files import write_picture_file
    from dga.io.files import find_unused_path
    from dga.photograph import repair_stored

    if overwrite and out is None:
        raise ValueError("--overwrite replaces the file that --out names: name one.")
    target = out or Path(f"{photo.stem}-repaired.png")
    if target.is_dir():
        file = target / f"{photo.stem}-repaired.png"
        raise ValueError(f"{target} is a folder: name a file, such as --out {file}.")
    if target.suffix.lower() not in WRITTEN:
        ending = f"not as {target.suffix}" if target.suffix else f"and {target} has no ending"
        raise ValueError(f"A picture is written as {', '.join(WRITTEN)}, {ending}.")
    if out and target.exists() and not overwrite:
        raise ValueError(f"{target} is there already: name another file, or add --overwrite.")
    picture = command_line.read_picture(photo)
    with command_line.name_unreadable_picture(photo):
        suffix = target.suffix if out else picture.default_suffix
        count = len(picture.list_writable_frames(suffix))
        with tqdm(total=count, unit="frame", disable=count == 1) as bar:
            content, facts = repair_stored(models.load(), picture, suffix, bar.update)
    target = target if out else find_unused_path(target.with_suffix(suffix))
    write_picture_file(target, content)
    return facts | {"file": str(target)}
