"""Does repair help a classifier? Its own answers on damaged pictures, before and after.

Without labels a reading counts as right where it is the classifier's own of the undamaged picture.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from dga.adapted_classifier import DEFAULT_METHOD
from dga.corruptions import CLEAN
from dga.data.uploads import list_pictures
from dga.folders.records import Line
from dga.io.numbers import format_signed
from dga.lab.analysis.comparisons import compare_methods
from dga.lab.analysis.names import SOURCE
from dga.lab.analysis.statistics import Estimate, estimate_mean
from dga.lab.analysis.tables import format_gain, to_markdown
from dga.lab.data.image_sets import find_positions
from dga.lab.data.imagenet_c import are_wnid_folders
from dga.lab.evaluation.plan import Plan, choose_images
from dga.lab.evaluation.run import EvaluationResults, EvaluationWorker, LoadedModels, evaluate
from dga.networks.models import Models


def measure_gain(
    models: Models,
    data: Path,
    out: Path,
    pictures: int,
    severity: int,
    corruptions: Sequence[str],
    command: str,
) -> EvaluationResults:
    """Read pictures undamaged and under each corruption, as they are and repaired.

    ``data``: a folder or zip of class/picture, or a folder of any pictures. Results are of at most
    ``pictures`` of them, even where the folder ``out`` holds lines of more. A run that was stopped
    goes on.
    """
    has_labels = has_class_folders(data, models.profile.classifier.classes)
    plan = Plan(
        data=(data,), corruptions=(CLEAN, *corruptions), severity=severity,
        split="all", has_labels=has_labels, most=pictures,
    )  # fmt: skip
    worker = EvaluationWorker(LoadedModels(models), (SOURCE, DEFAULT_METHOD), plan)
    results = evaluate(worker, out, batch=8, command=command)
    chosen = set(choose_images(plan, models.profile).names)
    lines = [line for line in results.lines if line["path"] in chosen]
    if not has_labels:
        own = [line for line in lines if (line["corruption"], line["method"]) == (CLEAN, SOURCE)]
        undamaged = {line["path"]: line["prediction"] for line in own}
        lines = [
            {**line, "correct": line["prediction"] == undamaged.get(line["path"])} for line in lines
        ]
    return replace(results, lines=lines)


def has_class_folders(data: Path, classes: Sequence[str]) -> bool:
    """Whether all pictures lie in folders named after classes, or after ImageNet's.

    Those of a zip always do.
    """
    if data.is_file():
        return True
    folders = {name.rpartition("/")[0] for name in list_pictures(data)}
    positions = find_positions([folder.replace("_", " ") for folder in folders], classes)
    return are_wnid_folders(folders) or None not in positions


def summarise_gain(lines: Sequence[Line], has_labels: bool) -> str:
    """The answer in a sentence, and a Markdown table: percent right, gain with its 95 % interval.

    Intervals are over photographs; ``gained``, ``lost``: readings that repair put right or wrong.
    """
    frame = pd.DataFrame(lines)
    groups = sorted(frame["corruption"].unique(), key=lambda name: name == CLEAN)
    table = pd.DataFrame(
        {
            "": row["group"],
            "damaged": f"{row['other_right']:.1f}",
            "repaired": f"{row['right']:.1f}",
            "gain": format_gain(row),
            "gained / lost": f"{row['gained']} / {row['lost']}",
            "seconds": f"{row['seconds']:.2f}",
        }
        for row in compare_methods(frame, DEFAULT_METHOD, SOURCE, groups, is_mixed=False)
    )
    damaged = frame[frame["corruption"] != CLEAN]
    shares = damaged.astype({"correct": float}).pivot_table("correct", "path", "method")
    change = estimate_mean((shares[DEFAULT_METHOD] - shares[SOURCE]).to_numpy(np.float32)[None])
    answer = _write_answer(change, "right" if has_labels else "as undamaged")
    return f"{answer}\n\n{to_markdown(table)}"


def _write_answer(change: Estimate, reading: str) -> str:
    value, low, high = (format_signed(100 * v) for v in change[:3])
    if change.photographs < 2:
        return f"One picture says little: {value} points are read {reading}."
    verdict = "helps" if change.low > 0 else "harms" if change.high < 0 else "makes no sure change"
    return (
        f"Repair {verdict}: {value} points read {reading} ({low} to {high}, 95 %), over "
        f"{change.photographs} pictures under each corruption."
    )
