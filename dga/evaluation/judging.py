"""A discriminator's scores: its logits along the forward paths of labelled pictures."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from dga.analysis.saved_runs import read_arrays
from dga.corruptions import CLEAN
from dga.data.framing import View
from dga.data.image_sets import LISTED_NAMES, ImageFiles
from dga.diffusion import forward_path
from dga.discriminator import compute_curve
from dga.evaluation.plan import Plan, choose_images, image_seed, read_batch
from dga.evaluation.results_file import check_config
from dga.images import to_tensor
from dga.io.files import CONFIG, CURVES, FEATURES, atomic, write_json
from dga.io.parsing import first_names, whole_numbers
from dga.networks.classifier import compute_features
from dga.networks.models import Models
from dga.record import versions
from dga.training.studies import Study

PARTS = "parts"
PICTURES_AT_ONCE = 16
Arrays = dict[str, NDArray[Any]]


def parse_depths(text: str) -> tuple[int, ...]:
    """``all`` (an empty tuple) or comma-separated whole numbers, sorted."""
    if text.strip() in ("", "all"):
        return ()
    return tuple(sorted(set(whole_numbers(text, "Depths", "0,10,20 or all"))))


def judge_pictures(
    models: Models,
    study: Study,
    plan: Plan,
    out: Path,
    depths: Sequence[int] = (),
    features: bool = True,
    name: str = "",
    command: str = "",
) -> None:
    """Write ``curves.npz`` (and ``features.npz``) to ``out``; a killed run goes on.

    ``study``: what the discriminator was taught; ``depths``: those that are judged, in 0...T, all
    by default; ``features``: whether the classifier's are kept, too; ``name``: another one than
    the study's own. Pictures, corruptions and noise are those of ``evaluate``; every corruption is
    kept as it is finished. Raises ``ValueError`` for a folder of another run, naming the
    difference, and for pictures that cannot be read, naming them.
    """
    schedule = models.schedule
    depths = [schedule.check_depth(depth) for depth in depths or range(schedule.steps + 1)]
    conditions = tuple(dict.fromkeys((CLEAN, *plan.corruptions)))
    plan = replace(plan, corruptions=conditions)
    images = choose_images(plan, models.profile)
    run = JudgingRun(models, study, plan, images, depths, features, name or study.name)
    config = {**run.config(), "command": command}
    check_config(out, config)
    parts = out / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    write_json(out / CONFIG, {**config, "versions": versions()})
    if not (out / CURVES).exists():
        with tqdm(total=len(conditions) * len(images), unit="image", mininterval=1.0) as bar:
            for condition in conditions:
                bar.set_postfix(corruption=condition, refresh=False)
                if not (parts / f"{condition}.npz").exists():
                    _save(parts / f"{condition}.npz", run.measure(condition))
                bar.update(len(images))
        run.merge(parts, out)
    shutil.rmtree(parts)


@dataclass(frozen=True)
class JudgingRun:
    """One discriminator on ``images`` under the plan's conditions (clean first) at ``depths``."""

    models: Models
    study: Study
    plan: Plan
    images: ImageFiles
    depths: Sequence[int]
    has_features: bool
    name: str

    def config(self) -> dict[str, Any]:
        """What the curves depend on."""
        models, study, plan = self.models, self.study, self.plan
        networks = ("discriminator", "classifier") if self.has_features else ("discriminator",)
        return {
            "kind": "judge",
            "study": self.name,
            "source": study.source,
            "trained_on": study.corruptions,
            "corruptions": plan.corruptions,
            "severity": plan.severity,
            "depths": self.depths,
            **plan.facts(),
            "per_class": plan.per_class,
            **({"skip": plan.skip} if plan.skip else {}),
            "pictures": len(self.images),
            "profile": models.profile.name,
            "precision": models.compute.precision,
            "features": self.has_features,
            "weights": {name: models.weights.get(name) for name in networks},
        }

    def measure(self, condition: str) -> Arrays:
        """Logits float32 ``[N, K]`` and, if wanted, features float16 ``[N, F]`` under a condition.

        Raises ``ValueError`` for pictures that cannot be read.
        """
        models, depths, view = self.models, self.depths, View.of(self.models.profile)
        logits, features = list[Tensor](), list[Tensor]()
        for start in range(0, len(self.images), PICTURES_AT_ONCE):
            stop = min(start + PICTURES_AT_ONCE, len(self.images))
            batch = self.images.take(range(start, stop))
            pictures, unreadable = read_batch(self.plan, view, batch, condition)
            if unreadable:
                names = first_names(unreadable, LISTED_NAMES)
                raise ValueError(f"Under {condition} these pictures cannot be read: {names}.")
            x = to_tensor(pictures.pixels).to(models.device)  # [n, 3, S, S]
            for name, x_i in zip(pictures.names, x, strict=True):
                seed = image_seed(self.plan.seed, name, condition)
                path = forward_path(models.schedule, x_i, seed)  # [T + 1, 3, S, S]
                states = path[torch.tensor(depths)]  # [K, 3, S, S]
                logits.append(compute_curve(models.schedule, models.discriminator, states, depths))
            if self.has_features:
                hidden = compute_features(models.classifier, x, models.profile.classifier)
                features.append(hidden.half().cpu())
        arrays: Arrays = {"logits": torch.stack(logits).numpy()}
        if features:
            arrays["features"] = torch.cat(features).numpy()
        return arrays

    def merge(self, folder: Path, out: Path) -> None:
        """Put the parts together. ``curves.npz`` comes last: once it is there, all is."""
        parts = [read_arrays(folder / f"{name}.npz") for name in self.plan.corruptions]
        if self.has_features:
            hidden = np.stack([part["features"] for part in parts])  # [M, N, F]
            _save(out / FEATURES, {"features": hidden})
        curves = {
            "paths": np.array(self.images.names),
            "corruptions": np.array(self.plan.corruptions),
            "depths": np.array(self.depths, dtype=np.int64),
            "logits": np.stack([part["logits"] for part in parts]),  # [M, N, K]
        }
        _save(out / CURVES, curves)


def _save(path: Path, arrays: dict[str, Any]) -> None:
    with atomic(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
