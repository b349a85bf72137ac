"""One photo with its damage, and what was already computed of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from app.runs.damage import damage_photo
from app.runs.photos import Photo
from app.runs.samples import make_crop
from app.runs.settings import NONE, Settings
from dga.adaptation import classify
from dga.data.uploads import UploadError
from dga.images import Pixels, to_tensor
from dga.networks.classifier import Prediction
from dga.networks.models import Models
from dga.pipeline import ForwardProcess
from dga.profiles import Profile

UNSURE = 0.25
"""Probability below which a reading is "not sure": of 413 such on tune 42 were right."""
MOST_SUBJECTS = 8  # with their parts, some 2 MB each
MOST_CACHES = 2  # of the latest, some 50 MB each
MOST_CHOICES = 8  # latest stages of a kind that a visitor chooses: rules

StageKey = str | tuple[str, Hashable]
"""A stage's name; where it depends on what a visitor chooses, with that."""


@dataclass
class Subject:
    """A photo that was damaged, and what was already computed of it.

    ``stages``: parts of its record, by their stage's key; ``result``: the repaired photo, uint8
    ``[H, W, 3]``; ``process``: the square that the classifier sees on its way into noise, which all
    methods share; ``images``: what they made of it, uint8 ``[S, S, 3]``, by their part's name.
    """

    original: Photo
    settings: Settings
    damaged: Pixels
    stages: dict[StageKey, dict[str, Any]] = field(default_factory=dict)
    result: Pixels | None = None
    process: ForwardProcess | None = None
    images: dict[str, Pixels] = field(default_factory=dict)

    @classmethod
    def make(cls, original: Photo, settings: Settings) -> Subject:
        """Damage the photo as the settings say."""
        return cls(original, settings, damage_photo(original.pixels, settings, original.layers))

    def keep(self, key: StageKey, parts: dict[str, Any]) -> None:
        """Keep what a stage made, so that no other run computes it again."""
        self.stages[key] = parts
        if isinstance(key, tuple):
            alike = [other for other in self.stages if other[0] == key[0]]
            for old in alike[:-MOST_CHOICES]:
                del self.stages[old]

    @property
    def is_damaged(self) -> bool:
        """Whether anything was done to the photo here."""
        return self.settings.damage != NONE and self.damaged is not self.original.pixels

    @property
    def added_damage(self) -> str:
        """What was done to the photo here, as the settings name it, or none."""
        return self.settings.damage if self.is_damaged else NONE


class Subjects:
    """The latest ones, so that another threshold or depth computes only what depends on it.

    The networks' thread asks for them, the server's forgets them. ``is_here``: whether a photo is
    still there; of one that went nothing is kept.
    """

    def __init__(self, is_here: Callable[[str], bool]) -> None:
        self._is_here, self._lock = is_here, threading.Lock()
        self._subjects: OrderedDict[tuple[str, str], Subject] = OrderedDict()

    def get(self, original: Photo, settings: Settings) -> Subject:
        """The subject of a photo and a damage."""
        made_of = {"damage", "strength", "saved", "seed", "strokes"}
        key = original.key, settings.model_dump_json(include=made_of)
        with self._lock:
            subject = self._subjects.get(key)
        subject = subject or Subject.make(original, settings)
        with self._lock:
            if self._is_here(original.key):
                self._subjects[key] = subject
                self._subjects.move_to_end(key)
            if len(self._subjects) > MOST_SUBJECTS:
                self._subjects.popitem(last=False)
            for old in list(self._subjects.values())[:-MOST_CACHES]:
                old.process = None
        return subject

    def forget(self, photo: str) -> None:
        """Drop all subjects of a photo, by its key."""
        with self._lock:
            for key in [key for key in self._subjects if key[0] == photo]:
                del self._subjects[key]


def view_square(profile: Profile, pixels: Pixels) -> Pixels:
    """The square that the classifier sees of a photo, uint8 ``[S, S, 3]``."""
    size = profile.image_size
    if pixels.shape[:2] == (size, size):
        return pixels
    return make_crop(profile)(Image.fromarray(pixels))


def parse_frame(profile: Profile, content: bytes) -> Pixels:
    """A camera's frame as the square that the classifier sees, uint8 ``[S, S, 3]``.

    ``content``: its values, pixel by pixel, so that nothing needs decoding. Raises ``UploadError``.
    """
    side = profile.image_size
    if len(content) != 3 * side * side:
        raise UploadError(f"A frame is {side} x {side} pixels of three bytes each.")
    return np.frombuffer(content, np.uint8).reshape(side, side, 3)


def read_pictures(models: Models, *pictures: Pixels) -> list[dict[str, Any]]:
    """What the classifier reads of some photos, each by its square, in JSON types."""
    squares = np.stack([view_square(models.profile, pixels) for pixels in pictures])
    predictions = classify(models, to_tensor(squares).to(models.device))
    return [describe_reading(prediction) for prediction in predictions]


def describe_reading(prediction: Prediction) -> dict[str, Any]:
    """A reading in JSON types; ``is_sure``: whether its label is worth saying."""
    return {
        "label": prediction.label,
        "share": round(prediction.probability, 4),
        "is_sure": round(prediction.probability, 2) >= UNSURE,  # as it is written
    }
