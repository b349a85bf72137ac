"""``python -m dga adapt``: one picture, or a folder of them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dga.commands.common import (
    MegapixelsOption,
    ModelOptions,
    command,
    limits_of,
    read_picture,
    run_folder,
    say_on_white,
)

if TYPE_CHECKING:
    from dga.data.uploads import Limits


@dataclass(frozen=True)
class PictureOptions:
    """Options of one picture; a folder takes ``methods`` alone."""

    corruption: Annotated[str | None, typer.Option(help="One of the 15; default: none.")] = None
    severity: Annotated[int | None, typer.Option(help="1 to 5; default: 3.")] = None
    tau: Annotated[float | None, typer.Option(help="Threshold, 0 to 1.")] = None
    seed: Annotated[int, typer.Option(help="Fixes corruption and noise.")] = 0
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated. Default: dga,dga-guided,dda,dga-plus; of a folder: dga-plus."
        ),
    ] = None
    dda_depth: Annotated[int | None, typer.Option(help="DDA's fixed depth, 1 to 100.")] = None
    paths: Annotated[int | None, typer.Option(help="Noise paths; the curve is their mean.")] = None
    scale: Annotated[
        float | None, typer.Option(help="Lambda, the strength of DGA + G's guidance.")
    ] = None
    max_depth: Annotated[int | None, typer.Option(help="Deepest t*, 1 to 100.")] = None
    steps: Annotated[
        str | None, typer.Option(help="Rebuild in at most so many steps; all: every depth in turn.")
    ] = None
    eta: Annotated[
        float | None, typer.Option(help="How random few steps are: 0 (DDIM) to 1 (DDPM).")
    ] = None
    through_network: Annotated[
        bool | None,
        typer.Option(help="Guide by the gradient through the network, or faster without."),
    ] = None


@command
def adapt(
    image: Annotated[
        Path,
        typer.Argument(help="A picture, or a folder of them; cropped to a square and resized."),
    ],
    asked: PictureOptions = PictureOptions(),
    out: Annotated[Path | None, typer.Option(help="Where the pictures go.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    max_megapixels: MegapixelsOption = None,
    models: ModelOptions = ModelOptions(),
) -> None:
    """Adapt one picture: write every image, print t*, the curve and the predictions.

    Of a folder: repair every picture (run it again to go on) and write one CSV.
    """
    from dga import record, request
    from dga.images import to_pixels, to_square
    from dga.io.parsing import split_list, whole_or_all
    from dga.profiles import get_profile
    from dga.systems import USUAL

    if image.is_dir():
        _adapt_folder(image, asked, as_json, out, limits_of(max_megapixels), models)
        return
    profile, options = get_profile(models.profile), vars(asked)
    fields = dataclasses.fields(request.Request)
    wanted = request.Request.of(profile, **{field.name: options[field.name] for field in fields})
    changes: dict[str, str] = {}
    if asked.steps is not None:
        count = whole_or_all("--steps", asked.steps)
        changes["steps"] = "none" if count == "all" else str(count)
        changes |= {"eta": "none"} if count == "all" else {}
    if asked.eta is not None:
        changes["eta"] = repr(asked.eta)
    if asked.through_network is not None:
        changes["through_network"] = str(asked.through_network).lower()
    names = split_list(asked.methods) if asked.methods else USUAL
    chosen = request.choose_systems(profile, wanted, names, changes)
    picture = read_picture(image, limits_of(max_megapixels))
    pixels = to_pixels(to_square(picture.image, profile.image_size))
    loaded = models.load()
    run = request.run(loaded, wanted, pixels, chosen)
    folder = record.claim_folder(
        out or Path(f"{image.stem}-adapted"), picture.data, out is not None
    )
    written = record.save_pictures(run, folder, pixels if asked.corruption else None)
    say_on_white([str(image)] if picture.is_laid_on_white(b"") else [])
    facts = record.to_dict(run, wanted, written)
    typer.echo(json.dumps(facts) if as_json else record.to_text(facts))


def _adapt_folder(
    folder: Path,
    asked: PictureOptions,
    as_json: bool,
    out: Path | None,
    limits: Limits,
    models: ModelOptions,
) -> None:
    """Raises ``ValueError`` for options that only one picture takes."""
    from dga.evaluation.folder import adapt_folder
    from dga.io.parsing import split_list

    alone = vars(replace(asked, methods=None)) | {"json": as_json}
    usual = vars(PictureOptions()) | {"json": False}
    if given := [name.replace("_", "-") for name in alone if alone[name] != usual[name]]:
        raise ValueError(
            f"--{given[0]} is for one picture; for a folder a method is named with its settings "
            "(dga-guided:tau=0.3)."
        )
    methods, folder = split_list(asked.methods or "dga-plus"), folder.resolve()
    target = out or folder.with_name(f"{folder.name}-adapted")
    work = partial(adapt_folder, methods=methods, limits=limits)
    run_folder(work, folder, target, models)
