"""``python -m dga adapt``: one picture, or a folder of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dga.commands.common import ModelOptions, command, read_file, say_skipped


@command
def adapt(
    image: Annotated[
        Path,
        typer.Argument(help="A picture, or a folder of them; cropped to a square and resized."),
    ],
    corruption: Annotated[str | None, typer.Option(help="One of the 15; default: none.")] = None,
    severity: Annotated[int | None, typer.Option(help="1 to 5; default: 3.")] = None,
    tau: Annotated[float | None, typer.Option(help="Threshold, 0 to 1.")] = None,
    seed: Annotated[int, typer.Option(help="Fixes corruption and noise.")] = 0,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated. Default: dga,dga-guided,dda,dga-plus; of a folder: dga-plus."
        ),
    ] = None,
    dda_depth: Annotated[int | None, typer.Option(help="DDA's fixed depth, 1 to 100.")] = None,
    paths: Annotated[int | None, typer.Option(help="Noise paths; the curve is their mean.")] = None,
    scale: Annotated[
        float | None, typer.Option(help="Lambda, the strength of DGA + G's guidance.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(help="Deepest t*, 1 to 100.")] = None,
    steps: Annotated[
        str | None, typer.Option(help="Rebuild in at most so many steps; all: every depth in turn.")
    ] = None,
    eta: Annotated[
        float | None, typer.Option(help="How random few steps are: 0 (DDIM) to 1 (DDPM).")
    ] = None,
    through_network: Annotated[
        bool | None,
        typer.Option(help="Guide by the gradient through the network, or faster without."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the pictures go.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    models: ModelOptions = ModelOptions(),
) -> None:
    """Adapt one picture: write every image, print t*, the curve and the predictions.

    Of a folder: repair every picture (run it again to go on) and write one CSV.
    """
    from dga import record, request
    from dga.io.parsing import split_list, whole_or_all
    from dga.profiles import get_profile
    from dga.systems import USUAL

    if image.is_dir():
        single = {
            "--corruption": corruption, "--severity": severity, "--tau": tau,
            "--dda-depth": dda_depth, "--paths": paths, "--scale": scale,
            "--max-depth": max_depth, "--steps": steps, "--eta": eta,
            "--through-network": through_network, "--seed": seed or None,
            "--json": as_json or None,
        }  # fmt: skip
        _adapt_folder(image, methods or "dga-plus", out, models, single)
        return
    profile = get_profile(models.profile)
    asked = request.Request.of(
        profile,
        corruption=corruption,
        severity=3 if severity is None else severity,
        tau=tau,
        seed=seed,
        dda_depth=dda_depth,
        paths=paths,
        scale=scale,
        max_depth=max_depth,
    )
    names = split_list(methods) if methods else USUAL
    changes: dict[str, str] = {}
    if steps is not None:
        count = whole_or_all("--steps", steps)
        changes["steps"] = "none" if count == "all" else str(count)
        changes |= {"eta": "none"} if count == "all" else {}
    if eta is not None:
        changes["eta"] = repr(eta)
    if through_network is not None:
        changes["through_network"] = str(through_network).lower()
    chosen = request.choose_systems(profile, asked, names, changes)
    pixels = read_file(image, profile.image_size)
    loaded = models.load(chosen)
    run = request.run(loaded, asked, pixels, chosen)
    folder = out or Path(f"{image.stem}-adapted")
    written = record.save_pictures(run, folder, pixels if corruption else None)
    facts = record.to_dict(run, asked, written)
    typer.echo(json.dumps(facts) if as_json else record.to_text(facts))


def _adapt_folder(
    folder: Path, methods: str, out: Path | None, models: ModelOptions, single: Mapping[str, Any]
) -> None:
    """``single``: options that only one picture takes. Raises ``ValueError`` for those given."""
    from dga.evaluation.folder import adapt_folder
    from dga.io.files import exclusive
    from dga.io.parsing import split_list

    if given := [option for option, value in single.items() if value is not None]:
        raise ValueError(
            f"{given[0]} is for one picture; for a folder a method is named with its settings "
            "(dga-guided:tau=0.3)."
        )
    target = out or folder.resolve().with_name(f"{folder.resolve().name}-adapted")
    with exclusive(target):
        adapted = adapt_folder(models.load(), folder, split_list(methods), target)
    pictures = {line["path"] for line in adapted.lines}
    kept = sum(line["unchanged"] for line in adapted.lines if line["method"] != "source")
    repaired = sum(line["method"] != "source" for line in adapted.lines) - kept
    typer.echo(f"{len(pictures)} pictures: {repaired} results repaired, {kept} left as they were.")
    typer.echo(f"table: {adapted.table}")
    say_skipped(sorted(adapted.unreadable))
