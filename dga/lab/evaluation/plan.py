"""What is measured: pictures, corruptions, seeds; corruption by corruption or as one stream."""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dga.corruptions import CLEAN, CORRUPTIONS, NAMES, SEVERITIES, check_corruption, corrupt
from dga.images import Pixels, recompress_jpeg
from dga.io.parsing import check_choice
from dga.lab.analysis.names import STREAMS
from dga.lab.data.cropping import Crop, View
from dga.lab.data.image_sets import (
    ImageSet,
    PicturePlace,
    find_images,
    read_pictures,
    read_tune,
    split_tune,
    take_per_class,
)
from dga.lab.data.imagenet_c import find_condition
from dga.lab.evaluation.plan_options import PlanOptions
from dga.profiles import Profile

Condition = tuple[str, int]
"""A corruption and its severity, 1 to 5; of clean pictures 0."""


@dataclass(frozen=True, kw_only=True)
class Plan(PlanOptions):
    """Which pictures are measured, and how they are damaged before.

    Raises ``ValueError`` for unknown names, and for conditions of which there is no picture.
    """

    data: tuple[Path, ...]
    """Folders or zips of class/picture files."""
    corruptions: tuple[str, ...] = CORRUPTIONS
    """Names of corruptions; ``clean`` may be among them."""
    stream: str | None = None
    """None: one corruption after the other. Else each picture comes once, at a severity from 0
    (clean) to 5 and under one of the corruptions, both drawn by its seed. The pictures are shuffled
    (``wild``), sorted by label (``sorted``), or shuffled and shown one at a time (``single``)."""
    has_labels: bool = True
    """Whether folders are classes. Else pictures lie at any depth, and no reading is right or
    wrong."""

    def __post_init__(self) -> None:
        for name in self.corruptions:
            if name != CLEAN:
                check_corruption(name, self.severity)
        if self.stream is not None:
            check_choice("stream", self.stream, STREAMS)
            if self.severity != type(self).severity:
                raise ValueError("A stream has every severity: leave --severity out.")
            if CLEAN in self.corruptions or not self.corruptions:
                raise ValueError("A stream has clean pictures anyway: name corruptions alone.")
        if self.saved and self.corrupted:
            raise ValueError(
                "Pictures of a corrupted data set are saved already: leave --saved out."
            )
        if self.corrupted:
            self._check_corrupted(self.corrupted)

    def _check_corrupted(self, root: Path) -> None:
        """Raise ``ValueError`` unless ``root`` is a folder that has all that cannot be made.

        Where the data itself is one condition of a release, such as fog/5, no picture is
        undamaged, and no other condition can be made from it.
        """
        if not root.is_dir():
            raise ValueError(f"{root} is no folder of corrupted pictures.")
        if not any(source.parent.name in NAMES for source in self.data):
            return
        needed = (CLEAN, *self.corruptions) if self.stream else self.corruptions
        missing = [name for name in needed if find_condition(root, name, self.severity) is None]
        if missing:
            raise ValueError(
                f"{root} has no {', '.join(missing)} at severity {self.severity}: name undamaged "
                "pictures with --data."
            )

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that are measured one after the other: each corruption, or all mixed."""
        return (self.stream,) if self.stream else self.corruptions

    def draw_condition(self, path: str, stream: str) -> Condition:
        """The corruption and severity of a picture in one of the :attr:`streams`."""
        if stream == CLEAN:
            return CLEAN, 0
        if stream != self.stream:
            return stream, self.severity
        rng = np.random.default_rng(derive_seed(self.seed, path, "stream"))
        severity = int(rng.integers(len(SEVERITIES) + 1))
        corruption = self.corruptions[rng.integers(len(self.corruptions))]
        return (corruption, severity) if severity else (CLEAN, 0)

    def find_folder(self, condition: Condition) -> Path | None:
        """The folder whose pictures of this condition are read; ``None``: they are made."""
        corruption, severity = condition
        if self.corrupted is None or corruption == CLEAN:
            return None
        return find_condition(self.corrupted, corruption, severity)

    def describe(self) -> dict[str, Any]:
        """The part of a run's configuration that says which pictures it is of, as JSON types.

        Paths are absolute, so that results of other folders are refused.
        """
        facts: dict[str, Any] = {
            "data": [str(path.absolute()) for path in self.data],
            "corrupted": str(self.corrupted.absolute()) if self.corrupted else None,
            "split": self.split,
            "seed": self.seed,
        }
        if self.stream:
            facts |= {"stream": self.stream, "corruptions": self.corruptions}
        else:
            facts["severity"] = self.severity
        if not self.has_labels:
            facts["labelled"] = False
        if self.saved:
            facts["saved"] = self.saved
        return facts


def choose_images(plan: Plan, profile: Profile) -> ImageSet:
    """The plan's pictures, shuffled in a fixed order (or sorted); none is read yet.

    Raises ``ValueError`` for an unknown split, and for data without pictures.
    """
    view = View(profile)
    classes = profile.classifier.classes or None
    images = find_images(plan.data, view.clean, classes, plan.has_labels)
    tune, report = split_tune(images, read_tune(profile.name))
    splits = {"tune": tune, "report": report, "all": images}
    check_choice("split", plan.split, splits)
    chosen = take_per_class(splits[plan.split], plan.per_class or len(images))
    if not len(chosen):
        raise ValueError(
            f"All of these pictures are in {profile.name}'s split tune: add --split tune."
            if plan.split == "report"
            else f"None of these pictures is in {profile.name}'s split tune, which is a part of "
            "the project's own validation set alone: without --split all of them are measured."
        )
    chosen = chosen.take(
        np.argsort([derive_seed(plan.seed, name, "order") for name in chosen.names], kind="stable")
    )
    if plan.most is not None:
        chosen = chosen.take(range(min(plan.most, len(chosen))))
    if plan.stream == "sorted":
        chosen = chosen.take(np.argsort(chosen.labels, kind="stable"))
    return chosen


def derive_seed(base: int, path: str, corruption: str) -> int:
    """A picture's own seed, from its name and corruption."""
    key = hashlib.blake2b(os.fsencode(f"{base}/{path}/{corruption}"), digest_size=4).digest()
    return int.from_bytes(key, "little")


def read_batch(
    plan: Plan, view: View, pictures: ImageSet, stream: str
) -> tuple[ImageSet, Pixels | None]:
    """Pictures as they come in a stream, and the same before any damage.

    Both are uint8 ``[n, S, S, 3]`` at the networks' size. Pictures that cannot be read are left
    out. The second is None where the undamaged picture of any of them is not at hand.
    """
    conditions = [plan.draw_condition(name, stream) for name in pictures.names]
    folders = [plan.find_folder(condition) for condition in conditions]
    places, crops = list[PicturePlace](), list[Crop]()
    for place, name, folder in zip(pictures.places, pictures.names, folders, strict=True):
        is_released = folder is not None
        places.append((str(folder), name) if is_released else place)
        crops.append(view.released if is_released else view.clean)
    damaged, undamaged = dict[int, Pixels](), dict[int, Pixels]()
    for i, picture in read_pictures(places, crops, is_strict=False):
        if folders[i] is not None:
            damaged[i] = picture
            continue
        undamaged[i] = view.finish(picture)
        damaged[i] = view.finish(_damage(plan, picture, pictures.names[i], conditions[i]))
    side = view.released.side
    shape = len(damaged), side, side, 3
    pixels = np.array(list(damaged.values()), np.uint8).reshape(shape)
    has_all = 0 < len(undamaged) == len(damaged)
    before = np.array(list(undamaged.values())) if has_all else None
    return replace(pictures.take(list(damaged)), pixels_in_memory=pixels), before


def _damage(plan: Plan, picture: Pixels, name: str, condition: Condition) -> Pixels:
    """A clean picture under a condition, saved as JPEG where the plan says so."""
    corruption, severity = condition
    if corruption != CLEAN:
        seed = derive_seed(plan.seed, name, corruption)
        picture = corrupt(picture, corruption, severity, seed)
    return np.asarray(recompress_jpeg(picture, plan.saved)) if plan.saved else picture
