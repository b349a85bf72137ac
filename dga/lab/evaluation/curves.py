"""A discriminator's logits along the forward paths of clean and corrupted pictures."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from dga.batch_size import choose_batch_size
from dga.corruptions import CLEAN
from dga.diffusion import ForwardPath, Schedule
from dga.discriminator import judge_states
from dga.folders.records import open_folder
from dga.images import to_tensor
from dga.io.files import CURVES, write_atomically
from dga.io.parsing import first_names
from dga.io.versions import read_versions
from dga.lab.analysis.saved_runs import read_arrays
from dga.lab.data.cropping import View
from dga.lab.data.image_sets import MAX_LISTED_NAMES, ImageSet
from dga.lab.evaluation.plan import Plan, choose_images, derive_seed, read_batch
from dga.lab.training.studies import Study
from dga.networks.models import Models

PARTS = "parts"
"""The folder that keeps each finished corruption, until all are finished."""
PICTURES_AT_ONCE = 16


def judge_pictures(
    models: Models,
    study: Study,
    plan: Plan,
    out: Path,
    depths: Sequence[int] = (),
    command: str = "",
) -> None:
    """Judge pictures at several depths, and write ``curves.npz`` to the folder ``out``.

    Pictures, corruptions and noise are those of ``evaluate``. Every corruption is kept as soon as
    it is finished, so that a killed run goes on. ``study``: what the discriminator was taught;
    ``depths``: those that are judged, each from 0 to T; none named means all of them.

    Raises ``ValueError`` for a folder of another run, naming the difference, for a folder that
    another process writes to, and for pictures that cannot be read.
    """
    schedule = models.schedule
    depths = sorted(map(schedule.check_depth, set(depths or range(schedule.steps + 1))))
    plan = replace(plan, corruptions=tuple(dict.fromkeys((CLEAN, *plan.corruptions))))
    images = choose_images(plan, models.profile)
    facts = {
        **plan.describe(),
        "kind": "judge",
        "study": study.name,
        "trained_on": study.corruptions,
        "corruptions": plan.corruptions,
        "depths": depths,
        "per_class": plan.per_class,
        "pictures": len(images),
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": {"discriminator": models.weights.get("discriminator")},
        "command": command,
        "versions": read_versions(),
    }
    with open_folder(out, facts):
        (out / PARTS).mkdir(exist_ok=True)
        if not (out / CURVES).exists():
            parts = []
            for condition in tqdm(plan.corruptions, unit="corruption", mininterval=1.0):
                path = out / PARTS / f"{condition}.npz"
                if not path.exists():
                    _save(path, logits=judge_condition(models, plan, images, condition, depths))
                parts.append(read_arrays(path)["logits"])
            names = {"paths": np.array(images.names), "corruptions": np.array(plan.corruptions)}
            logits = np.stack(parts)  # [corruptions, pictures, depths]
            _save(out / CURVES, **names, depths=np.array(depths, np.int64), logits=logits)
        shutil.rmtree(out / PARTS)


def judge_condition(
    models: Models, plan: Plan, images: ImageSet, condition: str, depths: Sequence[int]
) -> NDArray[np.float32]:
    """Logits of pictures under one corruption (or clean), float32 ``[pictures, depths]``.

    Raises ``ValueError`` naming the pictures that cannot be read.
    """
    view = View.of(models.profile)
    logits = list[Tensor]()
    for start in range(0, len(images), PICTURES_AT_ONCE):
        batch = images.take(range(start, min(start + PICTURES_AT_ONCE, len(images))))
        pictures, _ = read_batch(plan, view, batch, condition)
        if unreadable := sorted(set(batch.names) - set(pictures.names)):
            names = first_names(unreadable, MAX_LISTED_NAMES)
            raise ValueError(f"Under {condition} these pictures cannot be read: {names}.")
        x = to_tensor(pictures.pixels).to(models.device)  # [n, 3, S, S]
        for name, x_i in zip(pictures.names, x, strict=True):
            path = ForwardPath(models.schedule, x_i, derive_seed(plan.seed, name, condition))
            states = path.up_to(max(depths))[torch.tensor(depths)]  # [K, 3, S, S]
            logits.append(compute_curve(models.schedule, models.discriminator, states, depths))
    return torch.stack(logits).numpy()


def compute_curve(
    schedule: Schedule, network: nn.Module, states: Tensor, depths: Sequence[int]
) -> Tensor:
    """Logits of the states ``[K, 3, H, W]`` of one picture, float32 ``[K]`` on the CPU.

    ``depths``: one for each state. The paper's confidence, P(corrupted | x_k), is the sigmoid of a
    logit.
    """
    size = choose_batch_size(states)
    parts = zip(states.split(size), torch.tensor(depths).split(size), strict=True)
    return torch.cat([judge_states(schedule, network, x, k) for x, k in parts])


def _save(path: Path, **arrays: Any) -> None:
    with write_atomically(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
