"""The bench: methods on labelled, corrupted pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dga.classifier import to_prediction
from dga.corruptions import CLEAN, CORRUPTIONS, check_corruption, corrupt
from dga.data import ImageFiles, ImageSet, find_images, per_class, split_validation
from dga.framing import View
from dga.imagenet_c import condition_folder, conditions
from dga.images import to_tensor
from dga.ledger import Ledger, Line, versions
from dga.methods import Batch, Method
from dga.methods.protocol import answer
from dga.models import Models
from dga.profiles import Profile
from dga.weights import to_plain


@dataclass(frozen=True)
class Plan:
    """What is measured.

    ``split``: tune, report or all of the data. ``corrupted``: a folder in ImageNet-C's
    layout (corruption/severity/class/picture), whose pictures are read instead of made;
    ``data`` may be such a folder itself. ``frame``: how its pictures reach the networks'
    size, see :class:`~dga.framing.View`.
    """

    data: tuple[str, ...]
    corruptions: tuple[str, ...] = CORRUPTIONS
    severity: int = 5
    per_class: int = 10
    split: str = "report"
    seed: int = 0
    corrupted: str | None = None
    frame: str = "resize"

    def __post_init__(self) -> None:
        if self.per_class < 1:
            raise ValueError("At least one picture of each class is needed.")
        for name in self.corruptions:
            if name != CLEAN:
                check_corruption(name, self.severity)
        if self.corrupted and not Path(self.corrupted).is_dir():
            raise ValueError(f"{self.corrupted} is no folder of corrupted pictures.")

    def released(self, corruption: str) -> Path | None:
        """The folder whose pictures of this corruption are read; ``None``: they are made."""
        if self.corrupted is None or corruption == CLEAN:
            return None
        return condition_folder(Path(self.corrupted), corruption, self.severity)

    def resolved(self) -> tuple[Plan, tuple[str, ...]]:
        """This plan, and the folders or zips in which its pictures are found by name.

        If the data is a corrupted data set, its own folders are both. Raises
        ``ValueError`` if that set lacks what is asked for.
        """
        held = conditions(Path(self.data[0])) if len(self.data) == 1 else []
        if not held:
            return self, self.data
        asked = [(name, self.severity) for name in self.corruptions]
        missing = [name for name, severity in asked if (name, severity) not in held]
        if missing:
            raise ValueError(
                f"{self.data[0]} has no {', '.join(missing)} at severity {self.severity}. "
                "Name clean pictures with --data and this folder with --corrupted."
            )
        own = condition_folder(Path(self.data[0]), self.corruptions[0], self.severity)
        return replace(self, corrupted=self.corrupted or self.data[0]), (str(own),)


@dataclass(frozen=True)
class Setup:
    """What results depend on besides the plan: profile, weights, settings, packages."""

    profile: Profile
    precision: str
    weights: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]
    batches: Mapping[str, int | None]
    """Batch sizes of the methods that depend on their stream."""
    packages: Mapping[str, str]

    @classmethod
    def of(cls, models: Models, methods: Mapping[str, Method]) -> Setup:
        """The setup of loaded models and methods."""
        return cls(
            models.profile,
            models.compute.precision,
            models.weights,
            {name: to_plain(method.settings) for name, method in methods.items()},
            {name: own_batch(method) for name, method in methods.items()},
            versions(),
        )


@dataclass(frozen=True)
class Results:
    """``lines``: every line of the folder; ``unreadable``: pictures that were skipped."""

    lines: list[Line]
    unreadable: list[str]


@dataclass(frozen=True)
class Round:
    """Methods that share batches of ``size`` under one corruption, and the rows to do.

    ``ordered``: the methods depend on their stream, so that the batches belong together.
    """

    corruption: str
    methods: tuple[str, ...]
    size: int
    ordered: bool
    rows: tuple[int, ...]

    def batches(self) -> list[tuple[int, ...]]:
        """The rows of each batch."""
        starts = range(0, len(self.rows), self.size)
        return [self.rows[start : start + self.size] for start in starts]


@dataclass(frozen=True)
class Bench:
    """Loaded models and methods, ready to measure what a plan asks for."""

    models: Models
    methods: Mapping[str, Method]
    plan: Plan

    @property
    def setup(self) -> Setup:
        """What its results depend on."""
        return Setup.of(self.models, self.methods)

    def measure(
        self, names: Sequence[str], images: ImageFiles | ImageSet, corruption: str
    ) -> tuple[list[Line], list[str]]:
        """Lines of some methods on one batch of pictures; with unreadable pictures' names."""
        view = View.of(self.models.profile, self.plan.frame)
        read, unreadable = read_batch(self.plan, view, images, corruption)
        return self.judge(names, read, corruption), unreadable

    def judge(self, names: Sequence[str], part: ImageSet, corruption: str) -> list[Line]:
        """Lines of some methods on pictures that are already corrupted."""
        if not len(part):
            return []
        methods = {name: self.methods[name] for name in names}
        return list(_lines(self.models, methods, self.plan, part, corruption))

    def reset(self, names: Sequence[str]) -> None:
        """Let some methods forget what they learned."""
        for name in names:
            self.methods[name].reset()


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

    ``methods``: anything that satisfies :class:`~dga.methods.Method`, by name. Pictures
    are read a batch at a time; those that cannot be read are skipped. Raises
    ``ValueError`` for an output folder with other results, see :class:`Ledger`.
    """
    bench = Bench(models, methods, plan.resolved()[0])
    images = choose_images(plan, models.profile)
    ledger = Ledger(out, describe(plan, bench.setup, len(images), command), resume)
    rounds = pending_rounds(plan, bench.setup, images, ledger, batch)
    skipped: list[str] = []
    with tqdm(total=sum(len(r.rows) for r in rounds), unit="image", mininterval=1.0) as bar:
        for part in rounds:
            bar.set_postfix(corruption=part.corruption, refresh=False)
            bench.reset(part.methods)
            for rows in part.batches():
                lines, bad = bench.measure(part.methods, images.take(rows), part.corruption)
                ledger.append(lines)
                skipped += bad
                bar.update(len(rows))
    return finished(ledger, skipped)


def finished(ledger: Ledger, skipped: Sequence[str]) -> Results:
    """What a run ends with. Raises ``ValueError`` if not one picture could be read."""
    unreadable = in_order(skipped)
    if unreadable and not ledger.lines:
        raise ValueError(f"None of the {len(unreadable)} pictures can be read.")
    return Results(ledger.lines, unreadable)


def in_order(names: Sequence[str]) -> list[str]:
    """Each name once, sorted."""
    return sorted(set(names))


def own_batch(method: Method) -> int | None:
    """The batch size of a method that depends on its stream."""
    return getattr(method.settings, "batch", None)


def pending_rounds(
    plan: Plan, setup: Setup, images: ImageFiles, ledger: Ledger, batch: int
) -> list[Round]:
    """What is still to do: the whole stream again where a method depends on its order."""
    if batch < 1:
        raise ValueError("A batch holds at least one picture.")
    groups: dict[tuple[int, bool], list[str]] = {}
    for name, own in setup.batches.items():
        groups.setdefault((own or batch, own is not None), []).append(name)
    rounds = []
    for corruption in plan.corruptions:
        for (size, ordered), names in groups.items():
            rows = [
                i
                for i, path in enumerate(images.names)
                if not all(ledger.has(corruption, path, name) for name in names)
            ]
            if rows:
                chosen = range(len(images)) if ordered else rows
                rounds.append(Round(corruption, tuple(names), size, ordered, tuple(chosen)))
    return rounds


def choose_images(plan: Plan, profile: Profile) -> ImageFiles:
    """The plan's pictures, shuffled in a fixed order; none is read yet.

    Raises ``ValueError`` for an unknown split or frame, and for data without pictures.
    """
    view = View.of(profile, plan.frame)
    _, sources = plan.resolved()
    images = find_images(sources, view.clean, profile.classifier.classes or None)
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
    return chosen.take(order)


def describe(plan: Plan, setup: Setup, pictures: int, command: str) -> dict[str, Any]:
    """What results depend on, for the results' folder.

    Pictures and corruptions may be added later, except to a stream whose order matters.
    """
    streams = {name: {"stream": pictures} for name, own in setup.batches.items() if own}
    return {
        "data": [Path(source).name for source in plan.data],
        "severity": plan.severity,
        "split": plan.split,
        "seed": plan.seed,
        "corrupted": Path(plan.corrupted).name if plan.corrupted else None,
        **({"frame": plan.frame} if plan.frame != "resize" else {}),
        "profile": setup.profile.name,
        "precision": setup.precision,
        "weights": setup.weights,
        "methods": {
            name: {**settings, **streams.get(name, {})} for name, settings in setup.settings.items()
        },
        "command": command,
    }


def image_seed(base: int, path: str, corruption: str) -> int:
    """A picture's own seed, from its name and corruption."""
    key = hashlib.blake2b(f"{base}/{path}/{corruption}".encode(), digest_size=4).digest()
    return int.from_bytes(key, "little")


def read_batch(
    plan: Plan, view: View, part: ImageFiles | ImageSet, corruption: str
) -> tuple[ImageSet, list[str]]:
    """The pictures under a corruption, read or made, and the names of unreadable ones.

    The result holds uint8 ``[n, S, S, 3]`` at the networks' size.
    """
    folder = plan.released(corruption)
    if folder and isinstance(part, ImageFiles):
        return part.moved(folder, view.released).load()
    clean, unreadable = part.load()
    size = view.size
    pixels = np.empty((len(clean), size, size, 3), dtype=np.uint8)
    for i, (picture, name) in enumerate(zip(clean.pixels, clean.names, strict=True)):
        if corruption != CLEAN:
            seed = image_seed(plan.seed, name, corruption)
            picture = corrupt(picture, corruption, plan.severity, seed)
        pixels[i] = view.finish(picture)
    return replace(clean, pixels=pixels), unreadable


def _lines(
    models: Models, methods: Mapping[str, Method], plan: Plan, part: ImageSet, corruption: str
) -> Iterator[Line]:
    """Every method on one batch of corrupted pictures."""
    seeds = [image_seed(plan.seed, name, corruption) for name in part.names]
    batch = Batch(models, to_tensor(part.pixels).to(models.device), seeds)  # x: [B, 3, S, S]
    for name, method in methods.items():
        outcome = answer(name, method, batch)
        for i in range(len(part)):
            row, label = outcome.probabilities[i], int(part.labels[i])
            prediction = to_prediction(row, models.profile.classifier)
            first = int(row.argsort(descending=True, stable=True)[0])
            yield {
                "path": part.names[i],
                "class": part.classes[label],
                "corruption": corruption,
                "severity": plan.severity if corruption != CLEAN else 0,
                "seed": seeds[i],
                "method": name,
                "depth": int(outcome.depths[i]),
                "crossed": bool(outcome.crossed[i]),
                "prediction": prediction.label,
                "correct": first == label,  # by position: two classes may share a name
                "probability": round(prediction.probability, 5),
                "seconds": round(float(outcome.seconds[i]), 4),
            }
