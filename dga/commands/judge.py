"""``python -m dga judge``: one discriminator's curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dga.commands.common import (
    ClassifierOption,
    DataOption,
    DeviceOption,
    DiffusionOption,
    FrameOption,
    PrecisionOption,
    ProfileOption,
    WeightsOption,
    YesOption,
    app,
    command_line,
    make_sure,
    say_pace,
    say_skipped,
    sentences,
)


@app.command()
def judge(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder for the curves; resumed if it has some.")],
    discriminator: Annotated[
        Path | None, typer.Option(help="Its weights; default: the shipped one.")
    ] = None,
    corruptions: Annotated[
        str, typer.Option(help="all, a family, extra or comma-separated names; clean is added.")
    ] = "all",
    severity: Annotated[int, typer.Option(help="1 to 5.")] = 5,
    per_class: Annotated[int, typer.Option(help="Pictures of each class.")] = 10,
    split: Annotated[
        str, typer.Option(help="tune (for choices), report (for tables) or all.")
    ] = "report",
    corrupted: Annotated[
        str | None,
        typer.Option(help="Folder in ImageNet-C's layout, read where it has a corruption."),
    ] = None,
    frame: FrameOption = "resize",
    depths: Annotated[str, typer.Option(help="all or comma-separated depths.")] = "all",
    features: Annotated[bool, typer.Option(help="Keep the classifier's features too.")] = True,
    study: Annotated[str, typer.Option(help="Another name than its config suggests.")] = "",
    seed: Annotated[int, typer.Option(help="Base of every picture's own seed.")] = 0,
    batch: Annotated[int | None, typer.Option(help="Noised states in one pass.")] = None,
    profile: ProfileOption = "everyday16",
    weights: WeightsOption = None,
    diffusion: DiffusionOption = None,
    classifier: ClassifierOption = None,
    device: DeviceOption = None,
    precision: PrecisionOption = "float32",
    yes: YesOption = False,
) -> None:
    """Judge clean and corrupted pictures at every depth; killed, the same command goes on."""
    from dga.corruptions import parse_corruptions
    from dga.evaluation import judging
    from dga.evaluation.plan import Plan
    from dga.files import alone
    from dga.networks.compute import Compute

    with sentences(), alone(out):
        plan = Plan(
            data=tuple(str(path) for path in data),
            corruptions=parse_corruptions(corruptions),
            severity=severity,
            per_class=per_class,
            split=split,
            seed=seed,
            corrupted=corrupted,
            frame=frame,
        )
        options = judging.Options(judging.parse_depths(depths), features, study, batch)
        compute = Compute.choose(device, precision)
        make_sure(profile, weights, diffusion, discriminator, classifier, yes)
        chosen = judging.load_judge(profile, discriminator, weights, compute, diffusion, classifier)
        say_pace(chosen.models)
        unreadable = judging.judge_pictures(chosen, plan, out, options, command_line())
        typer.echo(f"Curves: {out / judging.CURVES}")
        say_skipped(unreadable)
