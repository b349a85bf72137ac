"""Photographs that the page offers, with what they show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image

from app.runs.examples import EXAMPLES
from dga.data.framing import Frame
from dga.images import Pixels
from dga.io.shipped import find_shipped_folder
from dga.profiles import Profile


@dataclass(frozen=True)
class Sample:
    """``name``: as a button says it; ``label``: its class among ImageNet's."""

    name: str
    label: str
    path: Path | None

    @cache  # noqa: B019  # as many as there are samples
    def pixels(self, profile: Profile) -> Pixels:
        """The photograph as the classifier sees it, uint8 ``[S, S, 3]``."""
        assert self.path is not None
        return make_frame(profile)(Image.open(self.path))


def make_frame(profile: Profile) -> Frame:
    """How the classifier's square is cut out of a photo: as in evaluations, where that fits."""
    release, size = profile.release, profile.image_size
    return Frame(size, release if release and release.crop <= size else None)


_SHIPPED = find_shipped_folder("assets/samples")
_ALL = (
    Sample("espresso", "espresso", EXAMPLES["coffee"].path()),
    Sample("panda", "giant panda", _SHIPPED / "panda.jpg"),
    Sample("goldfish", "goldfish", _SHIPPED / "goldfish.jpg"),
    Sample("volleyball", "volleyball", _SHIPPED / "volleyball.jpg"),
    Sample("cheetah", "cheetah", EXAMPLES["cheetah"].path()),
)
SAMPLES = {sample.name: sample for sample in _ALL if sample.path is not None}
"""The samples whose file is there, by name: two come with installed packages."""
