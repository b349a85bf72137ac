"""``python -m dga adapt``: one picture, or a folder of them."""

import dataclasses
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dga.commands import common


@dataclass(frozen=True)
class PictureOptions:
    """Options of one picture; a folder takes ``methods`` alone."""

    corruption: Annotated[str | None, typer.Option(help="One of the 19; default: none.")] = None
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


@common.command
def adapt(
    image: Annotated[
        Path,
        typer.Argument(help="A picture, or a folder of them; cropped to a square and resized."),
    ],
    options: PictureOptions = PictureOptions(),
    out: Annotated[Path | None, typer.Option(help="Where the pictures go.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    max_megapixels: common.MegapixelsOption = None,
    models: common.ModelOptions = common.ModelOptions(),
) -> None:
    """Adapt one picture: write every image, print t*, the curve and the predictions.

    Of a folder: repair every picture (run it again to go on) and write one CSV.
    """
    from dga import one_picture, record
    from dga.corruptions import corrupt
    from dga.images import to_pixels, to_square
    from dga.io.parsing import split_list, whole_or_all
    from dga.profiles import get_profile
    from dga.request import Request, choose_systems
    from dga.systems import DEFAULT_SYSTEMS

    limits = common.make_limits(max_megapixels)
    if image.is_dir():
        from dga.evaluation.folder import adapt_folder

        _check_folder_options(options, as_json)
        methods = split_list(options.methods or "dga-plus")
        work = partial(adapt_folder, methods=methods, limits=limits)
        common.run_folder(work, image, out, models, "adapted")
        return
    profile = get_profile(models.profile)
    names = {field.name for field in dataclasses.fields(Request)}
    request = Request.of(profile, **{name: vars(options)[name] for name in names})
    changes: dict[str, str] = {}
    if options.steps is not None:
        count = whole_or_all("--steps", options.steps)
        changes = {"steps": "none", "eta": "none"} if count == "all" else {"steps": str(count)}
    if options.eta is not None:
        changes["eta"] = repr(options.eta)
    if options.through_network is not None:
        changes["through_network"] = str(options.through_network).lower()
    methods = split_list(options.methods) if options.methods else DEFAULT_SYSTEMS
    systems = choose_systems(profile, request, methods, changes)
    picture = common.read_picture(image, limits)
    pixels = to_pixels(to_square(picture.image, profile.image_size))
    damaged = pixels
    if request.corruption:
        damaged = corrupt(pixels, request.corruption, request.severity, request.seed)
    run = one_picture.adapt(models.load(), damaged, request.seed, systems)
    folder = record.claim_folder(
        out or Path(f"{image.stem}-adapted"), picture.data, out is not None
    )
    written = record.save_pictures(run, folder, pixels if options.corruption else None)
    common.say_on_white([str(image)] if picture.is_laid_on_white(b"") else [])
    facts = record.to_command_facts(run, request, written)
    typer.echo(json.dumps(facts) if as_json else record.to_text(facts))


def _check_folder_options(options: PictureOptions, as_json: bool) -> None:
    """Raise ``ValueError`` for options that only one picture takes."""
    chosen = vars(replace(options, methods=None)) | {"json": as_json}
    default = vars(PictureOptions()) | {"json": False}
    if refused := [name.replace("_", "-") for name in chosen if chosen[name] != default[name]]:
        raise ValueError(
            f"--{refused[0]} is for one picture; for a folder a method is named with its settings "
            "(dga-guided:tau=0.3)."
        )
