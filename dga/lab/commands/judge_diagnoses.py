"""``python -m dga judge-diagnoses``: diagnoses against damage that is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dga import command_line

if TYPE_CHECKING:
    from dga.images import Pixels
    from dga.networks.models import Models


@command_line.command
def judge_diagnoses(
    report: Annotated[Path, typer.Argument(help="The folder that diagnose wrote.")],
    labels: Annotated[
        Path,
        typer.Argument(
            help="A CSV of path, corruption (clean: none), strength, and perhaps others' scores."
        ),
    ],
) -> None:
    """Say what was found of known damage; REPORT/labelled.json holds the same."""
    from tqdm import tqdm

    from dga.diagnosis import SURE
    from dga.folders.picture_folder import PictureFolder
    from dga.folders.records import read_run_config
    from dga.io.files import CONFIG, LINES
    from dga.lab.analysis import labelled_diagnoses
    from dga.networks.models import load_default_models

    known = labelled_diagnoses.read_labels(labels)
    if not (report / LINES).is_file():
        raise ValueError(f"{report} holds no diagnoses: write them by python -m dga diagnose.")
    config = read_run_config(report / CONFIG)
    folder = PictureFolder.of([Path(source) for source in config["data"]], report)
    lines = {line["path"]: line for line in folder.read_lines() if "findings" in line}
    known = known[known["path"].isin(lines)].copy()
    models, names = load_default_models(), tqdm(known["path"], "Judge", unit="image")
    scores = [_score(models, folder.pictures[name].read().pixels) for name in names]
    known[["Laplacian", "explainer"]] = scores
    tables = labelled_diagnoses.compare_with_labels(lines.values(), known, SURE)
    typed, has_networks = command_line.read_command_line(), config.get("networks", True)
    labelled_diagnoses.write_comparison(tables, report, typed, has_networks)
    typer.echo(labelled_diagnoses.format_comparison(tables))


def _score(models: "Models", pixels: "Pixels") -> tuple[float, float]:
    """What a diagnosis is compared with: the variance of the Laplacian of a picture, uint8
    ``[H, W, 3]``, and the mean logit of the explainer that is shown nothing else."""
    import numpy as np
    from PIL import Image
    from scipy import ndimage

    from dga.images import to_tensor
    from dga.mending import make_judges
    from dga.photograph import content_seed, mirror_to_side

    grey = np.asarray(Image.fromarray(pixels).convert("L"), float)
    x = to_tensor(mirror_to_side(pixels, models.window_size))
    judges = make_judges(models, x, content_seed(pixels))
    return float(ndimage.laplace(grey).var()), judges.score_as_it_came
