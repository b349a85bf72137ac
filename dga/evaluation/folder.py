"""A folder of unlabelled pictures: each repaired, and one table of what was found and read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from tqdm import tqdm

from dga.adapted import AT_ONCE, content_seeds, stateless
from dga.data.image_sets import EXTENSIONS
from dga.data.uploads import UploadError, read_square
from dga.evaluation.results_file import ResultRow, ResultsFile
from dga.evaluation.run import answer_facts, saved
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.files import atomic
from dga.networks.models import Models
from dga.readers import Answers, answer

TABLE = "results.csv"
COLUMNS = (
    "path", "method", "prediction", "probability", "depth", "crossed", "unchanged", "degradation",
    "seconds", "repaired",
)  # fmt: skip
SOURCE = "source"
"""Always read too: what the classifier says of the picture as it is."""


@dataclass(frozen=True)
class Adapted:
    """``table``: the CSV; ``lines``: its rows; ``unreadable``: pictures left out, with reasons."""

    table: Path
    lines: list[ResultRow]
    unreadable: dict[str, str]


def find_pictures(folder: Path, out: Path) -> list[Path]:
    """Picture files at any depth, relative to ``folder``, sorted; none that lies in ``out``.

    Raises ``ValueError`` if there is none.
    """
    found = (p for p in folder.rglob("*") if p.suffix.lower() in EXTENSIONS and p.is_file())
    pictures = sorted(path.relative_to(folder) for path in found if out not in path.parents)
    if not pictures:
        raise ValueError(f"{folder} holds no pictures ({', '.join(sorted(EXTENSIONS))}).")
    return pictures


def adapt_folder(models: Models, folder: Path, methods: Sequence[str], out: Path) -> Adapted:
    """Repair every picture by every method; killed at any moment, the same call goes on.

    ``methods``: as ``evaluate --methods`` names them, none that learns from the pictures around.
    Repaired pictures are PNGs of the profile's size at ``out/METHOD/PATH.png``. Each picture's
    seed comes from its content. Raises ``ValueError`` for an ``out`` that holds results of
    another folder, other weights or other settings, and if not one picture can be read.
    """
    built = {name: stateless(models, name) for name in dict.fromkeys((SOURCE, *methods))}
    done = ResultsFile(out, {
        "data": str(folder.resolve()),
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": models.weights,
        "methods": {name: saved(one.system) for name, one in built.items()},
    }, resume=True)  # fmt: skip
    pictures = [
        path
        for path in find_pictures(folder, out)
        if not all(done.has("", str(path), name) for name in built)
    ]
    unreadable: dict[str, str] = {}
    try:
        with tqdm(total=len(pictures), unit="image", mininterval=1.0) as bar:
            for start in range(0, len(pictures), AT_ONCE):
                part, read_pixels = pictures[start : start + AT_ONCE], dict[Path, Pixels]()
                for path in part:
                    try:
                        read_pixels[path] = read_square(folder / path, models.profile.image_size)
                    except (UploadError, OSError) as error:
                        unreadable[str(path)] = f"{folder / path}: {error}"
                if read_pixels:
                    pixels = np.stack(list(read_pixels.values()))
                    x = to_tensor(pixels).to(models.device)
                    for name, outcome in answer(built, x, content_seeds(pixels)).items():
                        done.append(_lines(models, outcome, name, list(read_pixels), out))
                bar.update(len(part))
    finally:
        _write_table(out / TABLE, done.lines)
    if not done.lines:
        raise ValueError(f"None of the {len(unreadable)} pictures in {folder} can be read.")
    return Adapted(out / TABLE, done.lines, unreadable)


def _lines(
    models: Models, outcome: Answers, name: str, paths: Sequence[Path], out: Path
) -> list[ResultRow]:
    lines = []
    for i, path in enumerate(paths):
        _, facts = answer_facts(outcome, i, models.profile)
        file = None
        if outcome.pictures is not None and name != SOURCE:
            file = out / name.replace(":", ",") / path.parent / f"{path.name}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic(file) as unfinished:
                Image.fromarray(from_tensor(outcome.pictures[i])).save(unfinished, format="PNG")
        lines.append({
            "corruption": "",
            "path": str(path),
            "method": name,
            "unchanged": facts["depth"] == 0,
            "degradation": "",
            **facts,
            "repaired": str(file.relative_to(out)) if file else "",
        })  # fmt: skip
    return lines


def _write_table(path: Path, lines: Sequence[ResultRow]) -> None:
    rows = sorted(lines, key=lambda line: (line["path"], line["method"] != SOURCE))
    with atomic(path) as part:
        pd.DataFrame(rows, columns=COLUMNS, dtype=object).to_csv(part, index=False)
