"""A discriminator's logits along the forward paths of clean and corrupted pictures."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from dga.batch_size import choose_batch_size
from dga.corruptions import CLEAN
from dga.diffusion import ForwardPath
from dga.discriminator import judge_states
from dga.folders.records import Line, append_lines, open_folder, read_lines
from dga.images import to_tensor
from dga.io.files import LINES
from dga.io.parsing import first_names
from dga.io.versions import read_versions
from dga.lab.analysis.saved_runs import JUDGE, JUDGED
from dga.lab.data.cropping import View
from dga.lab.data.image_sets import MAX_LISTED_NAMES, ImageSet
from dga.lab.evaluation.plan import Plan, choose_images, derive_seed, read_batch
from dga.networks.models import Models

PICTURES_AT_ONCE = 16


def judge_pictures(
    models: Models, plan: Plan, out: Path, depths: Sequence[int] = (), command: str = ""
) -> None:
    """Judge pictures at several depths, and write a line for each picture under each corruption.

    Pictures, corruptions and noise are those of ``evaluate``. A killed run goes on where it was,
    and pictures may be added to it.
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
        "kind": JUDGE,
        "corruptions": plan.corruptions,
        "depths": depths,
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": {"discriminator": models.weights.get("discriminator")},
        "command": command,
        "versions": read_versions(),
    }
    with open_folder(out, facts):
        lines = read_lines(out / LINES, JUDGED)
        done = {(line["corruption"], line["path"]) for line in lines}
        for corruption in tqdm(plan.corruptions, unit="corruption", mininterval=1.0):
            missing = [i for i, name in enumerate(images.names) if (corruption, name) not in done]
            for start in range(0, len(missing), PICTURES_AT_ONCE):
                batch = images.take(missing[start : start + PICTURES_AT_ONCE])
                append_lines(out / LINES, judge_batch(models, plan, batch, corruption, depths))


def judge_batch(
    models: Models, plan: Plan, batch: ImageSet, corruption: str, depths: Sequence[int]
) -> list[Line]:
    """A line for each picture under one corruption (or clean).

    Raises ``ValueError`` naming the pictures that cannot be read.
    """
    pictures, _ = read_batch(plan, View(models.profile), batch, corruption)
    if unreadable := sorted(set(batch.names) - set(pictures.names)):
        names = first_names(unreadable, MAX_LISTED_NAMES)
        raise ValueError(f"Under {corruption} these pictures cannot be read: {names}.")
    lines = []
    x = to_tensor(pictures.pixels).to(models.device)  # [n, 3, S, S]
    for name, x_i in zip(pictures.names, x, strict=True):
        path = ForwardPath(models.schedule, x_i, derive_seed(plan.seed, name, corruption))
        states = path.up_to(max(depths))[torch.tensor(depths)]  # [K, 3, S, S]
        size = choose_batch_size(states)
        parts = zip(states.split(size), torch.tensor(depths).split(size), strict=True)
        judge = functools.partial(judge_states, models.schedule, models.discriminator)
        logits = torch.cat([judge(*part) for part in parts])  # [K]
        lines.append({"path": name, "corruption": corruption, "logits": logits.tolist()})
    return lines
