"""What is measured: pictures, corruptions, seeds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dga.corruptions import CLEAN, CORRUPTIONS, check_corruption, corrupt
from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet, find_images, per_class, split_off
from dga.data.imagenet_c import condition_folder, conditions
from dga.io.parsing import check_choice
from dga.profiles import Profile, tune_pictures

OWN_PER_CLASS = 10
"""Pictures of each class that are measured of the project's own set unless told otherwise."""


@dataclass(frozen=True)
class Plan:
    """What is measured.

    ``per_class``: how many of each class; default: all, but :data:`OWN_PER_CLASS` of the
    project's own set. ``split``: tune (that set's 500 for choices), report (all others) or
    all. ``corrupted``: a folder in ImageNet-C's layout (corruption/severity/class/picture),
    whose pictures are read instead of made; ``data`` may be such a folder itself. ``frame``:
    how its pictures reach the networks' size, see :class:`~dga.data.framing.View`.
    """

    data: tuple[str, ...]
    corruptions: tuple[str, ...] = CORRUPTIONS
    severity: int = 5
    per_class: int | None = None
    split: str = "report"
    seed: int = 0
    corrupted: str | None = None
    frame: str = "resize"

    def __post_init__(self) -> None:
        if self.per_class is not None and self.per_class < 1:
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

    def resolve(self) -> ResolvedPlan:
        """Where its pictures are. Raises ``ValueError`` if the data lacks what is asked for."""
        held = conditions(Path(self.data[0])) if len(self.data) == 1 else []
        if not held:
            return ResolvedPlan(self, self, self.data)
        asked = [(name, self.severity) for name in self.corruptions]
        missing = [name for name, severity in asked if (name, severity) not in held]
        if missing:
            raise ValueError(
                f"{self.data[0]} has no {', '.join(missing)} at severity {self.severity}. "
                "Name clean pictures with --data and this folder with --corrupted."
            )
        own = condition_folder(Path(self.data[0]), self.corruptions[0], self.severity)
        found = replace(self, corrupted=self.corrupted or self.data[0])
        return ResolvedPlan(self, found, (str(own),))


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan and where its pictures are.

    ``asked``: as it was given; ``plan``: with the folder of corrupted pictures, if the data is
    such a set itself; ``folders``: folders or zips in which pictures are found by name.
    """

    asked: Plan
    plan: Plan
    folders: tuple[str, ...]


def choose_images(resolved: ResolvedPlan, profile: Profile) -> ImageFiles:
    """The plan's pictures, shuffled in a fixed order; none is read yet.

    Raises ``ValueError`` for an unknown split or frame, and for data without pictures.
    """
    plan = resolved.plan
    view = View.of(profile, plan.frame)
    images = find_images(resolved.folders, view.clean, profile.classifier.classes or None)
    tune, report = split_off(images, tune_pictures(profile.name))
    splits = {"tune": tune, "report": report, "all": images}
    check_choice("split", plan.split, splits)
    limit = plan.per_class or (OWN_PER_CLASS if len(tune) else len(images))
    chosen = per_class(splits[plan.split], limit)
    if not len(chosen):
        raise ValueError(_no_pictures(plan.split, profile))
    order = sorted(
        range(len(chosen)), key=lambda i: image_seed(plan.seed, chosen.names[i], "order")
    )
    return chosen.take(order)


def _no_pictures(split: str, profile: Profile) -> str:
    if split == "report":
        return f"All of these pictures are in {profile.name}'s split tune: add --split tune."
    return (
        f"None of these pictures is in {profile.name}'s split tune, which is a part of the "
        "project's own validation set alone: without --split all of them are measured."
    )


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
