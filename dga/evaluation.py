"""The bench: methods on labelled, corrupted pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dga.classifier import to_prediction
from dga.corruptions import CLEAN, CORRUPTIONS, check_corruption, corrupt
from dga.data import ImageSet, per_class, read_images, read_picture, split_validation
from dga.images import Pixels, to_tensor
from dga.ledger import Ledger, Line
from dga.methods import Batch, Method
from dga.models import Models
from dga.weights import to_plain


@dataclass(frozen=True)
class Plan:
    """What is measured.

    ``split``: tune, report or all of the data. ``corrupted``: a folder in ImageNet-C's
    layout (corruption/severity/class/picture), whose pictures are read instead of made.
    """

    data: tuple[str, ...]
    corruptions: tuple[str, ...] = CORRUPTIONS
    severity: int = 5
    per_class: int = 10
    split: str = "report"
    seed: int = 0
    corrupted: str | None = None

    def __post_init__(self) -> None:
        if self.per_class < 1:
            raise ValueError("At least one picture of each class is needed.")
        for name in self.corruptions:
            if name != CLEAN:
                check_corruption(name, self.severity)


@dataclass(frozen=True)
class Results:
    """``lines``: every line of the folder; ``unreadable``: pictures that were skipped."""

    lines: list[Line]
    unreadable: list[str]


def evaluate(
    models: Models,
    methods: Mapping[str, Method],
    plan: Plan,
    out: Path,
    batch: int = 16,
    resume: bool = False,
    command: str = "",
) -> Results:
    """Run what is not done yet; every batch's lines are on disk before the next begins.

    ``methods``: anything that satisfies :class:`~dga.methods.Method`, by name. Raises
    ``ValueError`` for an output folder with other results, see :class:`Ledger`.
    """
    if batch < 1:
        raise ValueError("A batch holds at least one picture.")
    images, unreadable = choose_images(plan, models)
    ledger = Ledger(out, _config(plan, models, methods, len(images), command), resume)
    rounds = [
        (corruption, size, group)
        for corruption in plan.corruptions
        for size, group in _by_batch(methods, batch).items()
    ]
    total = sum(len(_pending(ledger, images, *r)) for r in rounds)
    with tqdm(total=total, unit="image", mininterval=1.0) as bar:
        for corruption, size, group in rounds:
            bar.set_postfix(corruption=corruption, refresh=False)
            rows = _pending(ledger, images, corruption, size, group)
            for method in group.values():
                method.reset()
            for start in range(0, len(rows), size[0]):
                part = images.take(rows[start : start + size[0]])
                ledger.append(measure(models, group, plan, part, corruption))
                bar.update(len(part))
    return Results(ledger.lines, unreadable)


def own_batch(method: Method) -> int | None:
    """The batch size of a method that depends on its stream."""
    return getattr(method.settings, "batch", None)


def _by_batch(
    methods: Mapping[str, Method], batch: int
) -> dict[tuple[int, bool], dict[str, Method]]:
    """Methods that can share batches, by (size, whether the order matters)."""
    groups: dict[tuple[int, bool], dict[str, Method]] = {}
    for name, method in methods.items():
        own = own_batch(method)
        groups.setdefault((own or batch, own is not None), {})[name] = method
    return groups


def _pending(
    ledger: Ledger,
    images: ImageSet,
    corruption: str,
    size: tuple[int, bool],
    group: Mapping[str, Method],
) -> list[int]:
    """Rows still to do: the whole stream again where a method depends on its order."""
    rows = [
        i
        for i, path in enumerate(images.names)
        if not all(ledger.has(corruption, path, name) for name in group)
    ]
    return list(range(len(images))) if rows and size[1] else rows


def choose_images(plan: Plan, models: Models) -> tuple[ImageSet, list[str]]:
    """The plan's pictures, shuffled in a fixed order, and the names of unreadable ones."""
    profile, unreadable = models.profile, list[str]()
    images = read_images(
        plan.data, profile.image_size, profile.classifier.classes or None, unreadable
    )
    tune, report = split_validation(images)
    splits = {"tune": tune, "report": report, "all": images}
    if plan.split not in splits:
        raise ValueError(f"Unknown split {plan.split!r}. Choose one of: {', '.join(splits)}.")
    chosen = per_class(splits[plan.split], plan.per_class)
    if not len(chosen):
        raise ValueError(f"The data has no pictures left for the split {plan.split!r}.")
    order = sorted(
        range(len(chosen)), key=lambda i: image_seed(plan.seed, chosen.names[i], "order")
    )
    return chosen.take(order), unreadable


def _config(
    plan: Plan, models: Models, methods: Mapping[str, Method], pictures: int, command: str
) -> dict[str, Any]:
    """What results depend on. Pictures and corruptions may be added later, except to a
    stream whose order matters.
    """
    return {
        "data": [Path(source).name for source in plan.data],
        "severity": plan.severity,
        "split": plan.split,
        "seed": plan.seed,
        "corrupted": Path(plan.corrupted).name if plan.corrupted else None,
        "profile": models.profile.name,
        "precision": models.compute.precision,
        "weights": models.weights,
        "methods": {
            name: to_plain(method.settings) | ({"stream": pictures} if own_batch(method) else {})
            for name, method in methods.items()
        },
        "command": command,
    }


def image_seed(base: int, path: str, corruption: str) -> int:
    """A picture's own seed, from its name and corruption."""
    key = hashlib.blake2b(f"{base}/{path}/{corruption}".encode(), digest_size=4).digest()
    return int.from_bytes(key, "little")


def corrupt_batch(plan: Plan, part: ImageSet, corruption: str, seeds: Sequence[int]) -> Pixels:
    """The pictures under a corruption, read or made, uint8 ``[B, S, S, 3]``."""
    if corruption == CLEAN:
        return part.pixels
    folder = Path(plan.corrupted or "") / corruption / str(plan.severity)
    if plan.corrupted and folder.is_dir():
        size = part.pixels.shape[1]
        return np.stack([read_picture(folder / name, size) for name in part.names])
    made = zip(part.pixels, seeds, strict=True)
    return np.stack([corrupt(pixels, corruption, plan.severity, s) for pixels, s in made])


def measure(
    models: Models, methods: Mapping[str, Method], plan: Plan, part: ImageSet, corruption: str
) -> Iterator[Line]:
    """Every method on one batch of pictures under one corruption."""
    seeds = [image_seed(plan.seed, name, corruption) for name in part.names]
    x = to_tensor(corrupt_batch(plan, part, corruption, seeds)).to(models.device)
    batch = Batch(models, x, seeds)  # x: [B, 3, S, S]
    for name, method in methods.items():
        outcome = method.predict(batch)
        for i in range(len(part)):
            prediction = to_prediction(outcome.probabilities[i], models.profile.classifier)
            label = part.classes[int(part.labels[i])]
            yield {
                "path": part.names[i],
                "class": label,
                "corruption": corruption,
                "severity": plan.severity if corruption != CLEAN else 0,
                "seed": seeds[i],
                "method": name,
                "depth": int(outcome.depths[i]),
                "crossed": bool(outcome.crossed[i]),
                "prediction": prediction.label,
                "correct": prediction.label == label,
                "probability": round(prediction.probability, 5),
                "seconds": round(float(outcome.seconds[i]), 4),
            }
