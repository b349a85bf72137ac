"""Photographs that the page offers, with what they show."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image

from app.runs.photos import Photo
from dga.images import Pixels
from dga.io.shipped import find_shipped_folder
from dga.lab.data.cropping import Crop
from dga.profiles import Profile


def find_packaged(package: str, file: str) -> Path | None:
    """A file in an installed package, without importing it; None where it is not there."""
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / file if spec and spec.origin else None
    return path if path and path.is_file() else None


@dataclass(frozen=True)
class PackageFile:
    """A photograph in an installed package, ``file`` below it."""

    package: str
    file: str
    licence: str

    def path(self) -> Path | None:
        """None where the package is not installed or has moved it."""
        return find_packaged(self.package, self.file)


# Settings of whole photographs' repair were chosen on scikit-image's.
EXAMPLES = {
    "astronaut": PackageFile("skimage", "data/astronaut.png", "public domain (NASA)"),
    "cat": PackageFile("skimage", "data/chelsea.png", "CC0"),
    "coffee": PackageFile("skimage", "data/coffee.png", "CC0"),
    "rocket": PackageFile("skimage", "data/rocket.jpg", "CC0"),
    "cheetah": PackageFile("gradio", "media_assets/images/cheetah.jpg", "Apache-2.0 package"),
}


@dataclass(frozen=True)
class Sample:
    """``name``: as a button says it; ``label``: its class among ImageNet's.

    ``damage``: what it opens with, which hides it from the classifier at full strength.
    """

    name: str
    label: str
    damage: str
    path: Path | None

    @cache  # noqa: B019  # as many as there are samples
    def pixels(self, profile: Profile) -> Pixels:
        """The photograph as the classifier sees it, uint8 ``[S, S, 3]``."""
        assert self.path is not None
        return make_crop(profile)(Image.open(self.path))

    def as_photo(self, profile: Profile) -> Photo:
        """The same with its label, if the profile's classifier knows that."""
        label = self.label if self.label in profile.classifier.classes else None
        return Photo(self.name, self.pixels(profile), label)


def make_crop(profile: Profile) -> Crop:
    """How the classifier's square is cut out of a photo: as in evaluations, where that fits."""
    release, size = profile.release, profile.image_size
    return Crop(size, release if release and release.crop <= size else None)


_SHIPPED = find_shipped_folder("assets/samples")
_ALL = (
    Sample("espresso", "espresso", "contrast", EXAMPLES["coffee"].path()),
    Sample("panda", "giant panda", "contrast", _SHIPPED / "panda.jpg"),
    Sample("goldfish", "goldfish", "impulse_noise", _SHIPPED / "goldfish.jpg"),
    Sample("volleyball", "volleyball", "impulse_noise", _SHIPPED / "volleyball.jpg"),
    Sample("cheetah", "cheetah", "contrast", EXAMPLES["cheetah"].path()),
)
SAMPLES = {sample.name: sample for sample in _ALL if sample.path is not None}
"""The samples whose file is there, by name: two come with installed packages."""
