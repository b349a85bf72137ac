"""``python -m dga adapt``: one picture, by the paper's methods, DDA and DGA+."""

import json
from pathlib import Path
from typing import Annotated

import typer

from dga import command_line


@command_line.command
def adapt(
    image: Annotated[Path, typer.Argument(help="A picture; cropped to a square and resized.")],
    corruption: Annotated[
        str | None, typer.Option(help="Such as fog, or rain. Default: none.")
    ] = None,
    severity: Annotated[int | None, typer.Option(help="1 to 5. Default: 3.")] = None,
    seed: Annotated[int, typer.Option(help="Fixes corruption and noise.")] = 0,
    methods: Annotated[
        str,
        typer.Option(
            help="Comma-separated. A setting is changed like this: dga-guided:steps=12:tau=0.3."
        ),
    ] = "dga,dga-guided,dda,dga-plus",
    out: Annotated[Path | None, typer.Option(help="Where the pictures go.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    models: command_line.ModelOptions = command_line.ModelOptions(),
) -> None:
    """Adapt one picture: write every image, print t*, the curve and the predictions."""
    from dga import adaptation, adaptation_record
    from dga.corruptions import CORRUPTIONS, check_corruption, corrupt
    from dga.images import to_pixels, to_square
    from dga.io.files import RECORD, write_json
    from dga.io.parsing import split_list
    from dga.profiles import get_profile
    from dga.systems import parse, parse_all, require_repair

    if image.is_dir():
        raise ValueError(f"{image} is a folder: python -m dga repair takes folders.")
    if severity is not None and corruption is None:
        raise ValueError("--severity is a corruption's: name one with --corruption.")
    strength = 3 if severity is None else severity
    check_corruption(corruption or CORRUPTIONS[0], strength)
    chosen = parse_all(get_profile(models.profile), split_list(methods), parse)
    systems = list(chosen.values())
    for system in systems:
        require_repair(system)
    folder = adaptation_record.choose_folder(out, image, systems)
    picture = command_line.read_picture(image)
    loaded = models.load()
    pixels = to_pixels(to_square(picture.image, loaded.profile.image_size))
    damaged = corrupt(pixels, corruption, strength, seed) if corruption else pixels
    run = adaptation.adapt(loaded, damaged, seed, systems)
    written = adaptation_record.save_pictures(run, folder, pixels if corruption else None)
    asked = {"corruption": corruption, "severity": strength if corruption else None}
    record = {**adaptation_record.make_record(run), **asked, "pictures": written}
    write_json(folder / RECORD, record)
    typer.echo(json.dumps(record) if as_json else adaptation_record.format_record(record))
