"""The commands behind ``python -m dga``: parse, call, print. No logic."""

from __future__ import annotations

import dataclasses
import json
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
DeviceOption = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 ... Default: a GPU.")]
PrecisionOption = Annotated[str, typer.Option(help="auto, float32 or bfloat16.")]
DataOption = Annotated[list[Path], typer.Option(help="Folders or zips of class/picture files.")]


@contextmanager
def _sentences() -> Any:
    """Expected errors become one sentence on stderr and exit status 2."""
    from dga.weights import WeightsError

    try:
        yield
    except (ValueError, OSError, FloatingPointError, WeightsError) as error:
        typer.echo(f"dga: {error}", err=True)
        raise typer.Exit(2) from error


def _models(profile: str, weights: Path | None, device: str | None, precision: str) -> Any:
    from dga.compute import Compute
    from dga.models import load_models

    return load_models(profile, weights, Compute.choose(device, precision))


@app.command()
def adapt(
    image: Annotated[Path, typer.Argument(help="A picture; cropped to a square and resized.")],
    corruption: Annotated[str | None, typer.Option(help="One of the 15; default: none.")] = None,
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 3,
    tau: Annotated[float | None, typer.Option(help="Threshold, 0 to 1.")] = None,
    seed: Annotated[int, typer.Option(help="Fixes corruption and noise.")] = 0,
    methods: Annotated[
        str, typer.Option(help="Comma-separated: dga, dga-guided, dda.")
    ] = "dga,dga-guided,dda",
    dda_depth: Annotated[int | None, typer.Option(help="DDA's fixed depth, 1 to 100.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the pictures go.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "auto",
) -> None:
    """Adapt one picture: write every image, print t*, the curve and the predictions."""
    from dga import report

    with _sentences():
        request = report.Request(image, corruption, severity, tau, seed, methods, dda_depth)
        request.check(profile)
        pixels = report.read(request, profile)
        run = report.run(_models(profile, weights, device, precision), request, pixels)
        folder = out or Path(f"{image.stem}-adapted")
        written = report.save_pictures(run, folder)
        facts = report.to_dict(run, request, written)
        typer.echo(json.dumps(facts) if as_json else report.to_text(facts))


@app.command()
def train(
    model: Annotated[str, typer.Argument(help="diffusion, classifier or discriminator.")],
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Checkpoints and weights; resumed if it has some.")],
    profile: ProfileOption = "everyday16",
    images: Annotated[int | None, typer.Option(help="Pictures shown in all.")] = None,
    batch: Annotated[int | None, typer.Option(help="Pictures a step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None,
    ema: Annotated[float | None, typer.Option(help="Decay of the weights' moving average.")] = None,
    seed: Annotated[int | None, typer.Option(help="Fixes initial weights and every batch.")] = None,
    bf16: Annotated[bool | None, typer.Option(help="bfloat16 autocast.")] = None,
    init: Annotated[Path | None, typer.Option(help="Weights folder to continue from.")] = None,
    source: Annotated[
        str, typer.Option(help="Discriminator's source class: images or generated.")
    ] = "images",
    diffusion: Annotated[
        Path | None, typer.Option(help="Diffusion weights that --source generated samples from.")
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Train a model; killed at any moment, the same command goes on."""
    from dga.compute import Compute
    from dga.training import run

    with _sentences():
        given: dict[str, Any] = {
            "images": images,
            "batch": batch,
            "lr": lr,
            "ema": ema,
            "seed": seed,
            "bf16": bf16,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        config = dataclasses.replace(run.defaults(model), **chosen)
        where = Compute.choose(device, "float32").device
        options = run.Sources(init, source, diffusion)
        typer.echo(f"Weights: {run.train(model, profile, data, out, config, where, options)}")


@app.command()
def evaluate(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Results; resumed if it has some.")],
    methods: Annotated[
        str, typer.Option(help="Comma-separated: source, dga, dga-guided, dda.")
    ] = "source,dga,dga-guided,dda",
    corruptions: Annotated[str, typer.Option(help="all, clean or comma-separated names.")] = "all",
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5,
    per_class: Annotated[int, typer.Option(help="Pictures of each class.")] = 10,
    split: Annotated[
        str, typer.Option(help="tune (for choices), report (for tables) or all.")
    ] = "report",
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0,
    batch: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    settings: Annotated[
        str, typer.Option(help="Changes such as max_depth=40,scale=3,rule=quantile.")
    ] = "",
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "float32",
) -> None:
    """Measure accuracy and depths on labelled pictures; killed, it resumes."""
    from dga import evaluation

    with _sentences():
        models = evaluation.with_settings(
            _models(profile, weights, device, precision), evaluation.parse_settings(settings)
        )
        plan = evaluation.Plan(
            data=tuple(map(str, data)),
            methods=evaluation.parse_methods(methods),
            corruptions=evaluation.parse_corruptions(corruptions),
            severity=severity,
            per_class=per_class,
            split=split,
            seed=seed,
        )
        lines = evaluation.evaluate(models, plan, out, batch)
        typer.echo(evaluation.summarise(lines))


@app.command()
def gallery(
    out: Annotated[Path, typer.Option(help="Folder for samples.png and before-after.png.")],
    count: Annotated[int, typer.Option(help="Samples drawn.")] = 40,
    subject: Annotated[int, typer.Option(help="Which sample is corrupted and rebuilt.")] = 0,
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 3,
    seed: int = 0,
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "auto",
) -> None:
    """Draw the model cards' pictures, from the models' own samples alone."""
    from dga import figures
    from dga import gallery as drawing

    with _sentences():
        if not 0 <= subject < count:
            raise ValueError(f"The subject is one of the samples, 0 to {count - 1}.")
        models = _models(profile, weights, device, precision)
        drawn = drawing.samples(models, count, seed)
        grid = figures.picture_grid(drawn, [""] * count, columns=10)
        typer.echo(figures.save(grid, out / "samples.png"))
        pictures, captions = drawing.before_after(models, drawn[subject], severity, seed)
        grid = figures.picture_grid(pictures, captions, columns=9)
        typer.echo(figures.save(grid, out / "before-after.png"))
