"""``python -m dga adapt``: one picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import ModelOptions, command, sentences


@command
def adapt(
    image: Annotated[Path, typer.Argument(help="A picture; cropped to a square and resized.")],
    corruption: Annotated[str | None, typer.Option(help="One of the 15; default: none.")] = None,
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 3,
    tau: Annotated[float | None, typer.Option(help="Threshold, 0 to 1.")] = None,
    seed: Annotated[int, typer.Option(help="Fixes corruption and noise.")] = 0,
    methods: Annotated[
        str,
        typer.Option(
            help="Comma-separated: dga, dga-guided, dda, dga-plus; dga-ancestral ...: every depth."
        ),
    ] = "dga,dga-guided,dda,dga-plus",
    dda_depth: Annotated[int | None, typer.Option(help="DDA's fixed depth, 1 to 100.")] = None,
    paths: Annotated[int | None, typer.Option(help="Noise paths; the curve is their mean.")] = None,
    scale: Annotated[
        float | None, typer.Option(help="Lambda, the strength of DGA + G's guidance.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(help="Deepest t*, 1 to 100.")] = None,
    rule: Annotated[str | None, typer.Option(help="Stopping: threshold or quantile.")] = None,
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
    """Adapt one picture: write every image, print t*, the curve and the predictions."""
    from dga import record, request
    from dga.io.parsing import split_list, whole_or_all
    from dga.profiles import get_profile

    with sentences():
        profile = get_profile(models.profile)
        asked = request.Request.of(
            profile,
            corruption=corruption,
            severity=severity,
            tau=tau,
            seed=seed,
            dda_depth=dda_depth,
            paths=paths,
            scale=scale,
            max_depth=max_depth,
            rule=rule,
        )
        names = split_list(methods)
        count = None if steps is None else whole_or_all("--steps", steps)
        known = asked.known_routes(profile)
        routes = request.choose_routes(known, names, count, eta, through_network)
        pixels = request.read(image, profile)
        loaded = models.load(routes, asked.stopping(profile))
        run = request.run(loaded, asked, pixels, routes)
        folder = out or Path(f"{image.stem}-adapted")
        written = record.save_pictures(run, folder, pixels if corruption else None)
        facts = record.to_dict(run, asked, written)
        typer.echo(json.dumps(facts) if as_json else record.to_text(facts))
