"""Windows of photographs: a picture is damaged as a whole, and then windows are cut from it.

A window of a photograph at its own size is smoother than a picture that was reduced to the
networks' size, and damage whose reach is larger than a window (blur, a stretch of the contrast)
looks different in it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Self

import numpy as np
from PIL import Image

from dga.corruptions import SEVERITIES, corrupt
from dga.data.uploads import decode_picture, list_pictures
from dga.images import Pixels, recompress_jpeg, to_pixels
from dga.lab.data.image_sets import read_pictures

PICTURE_SIDE = 224
"""Pixels a side of the picture that is damaged, and from which windows are cut."""
SHORTER_SIDES = (224, 320)
"""The range of shorter sides to which a photograph is reduced before 224 pixels are cut from it."""
PER_PICTURE = 4
"""Windows that are cut from one damaged picture; damaging it costs more than a training step."""
REDUCING_KERNELS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)


@dataclass(frozen=True)
class Photographs:
    """Photographs in memory, uint8 ``[H, W, 3]`` each; no side below
    :data:`PICTURE_SIDE` pixels."""

    pictures: tuple[Pixels, ...]

    @classmethod
    def read(cls, sources: Sequence[Path]) -> Self:
        """Read the photographs of folders and zips, at any depth; smaller ones are left out.

        Raises ``ValueError`` if there is none, and naming the first that cannot be read;
        ``OSError`` for a source that is not there.
        """
        places = [(str(source), name) for source in sources for name in list_pictures(source)]
        read = read_pictures(places, repeat(_to_photograph))
        pictures = tuple(picture for _, picture in read if picture is not None)
        if not pictures:
            raise ValueError(
                f"{', '.join(map(str, sources))} holds no photograph of {PICTURE_SIDE} pixels "
                "a side."
            )
        return cls(pictures)

    def compute_fingerprint(self) -> str:
        """Hexadecimal SHA-256 of all pixels."""
        digest = hashlib.sha256()
        for picture in self.pictures:
            digest.update(np.ascontiguousarray(picture).data)  # not joined: that is a copy of all
        return digest.hexdigest()

    def draw_picture(self, rng: np.random.Generator) -> Pixels:
        """A random part of a random photograph, ``[224, 224, 3]``, as people's own may be.

        It is reduced with one of several kernels. Half of them are mirrored, and half are saved as
        JPEG.
        """
        photograph = self.pictures[int(rng.integers(len(self.pictures)))]
        shorter = min(photograph.shape[:2])
        part = PICTURE_SIDE * shorter / min(int(rng.integers(*SHORTER_SIDES)), shorter)
        picture = _cut_square(photograph, rng, part, PICTURE_SIDE)
        if rng.random() < 0.5:
            picture = np.asarray(recompress_jpeg(picture, int(rng.integers(75, 99))))
        return picture

    def draw_part(self, rng: np.random.Generator, side: int) -> Pixels:
        """A square of ``side`` pixels a side from a random photograph, mirrored half of the time.

        Most squares are reduced as photographs are for a classifier that sees 224 pixels.
        """
        picture = self.pictures[int(rng.integers(len(self.pictures)))]
        shorter = min(picture.shape[:2])
        is_usual = rng.random() < 0.7
        scale = max(PICTURE_SIDE / shorter if is_usual else rng.uniform(0.6, 1.0), side / shorter)
        return _cut_square(picture, rng, side / scale, side)

    def cut_windows(self, rng: np.random.Generator, count: int, side: int) -> Pixels:
        """Windows of undamaged pictures, uint8 ``[count, side, side, 3]``."""
        windows = list[Pixels]()
        while len(windows) < count:
            picture = self.draw_picture(rng)
            for top, left in draw_places(rng, min(PER_PICTURE, count - len(windows)), side):
                windows.append(picture[top : top + side, left : left + side])
        return np.stack(windows)


def _cut_square(picture: Pixels, rng: np.random.Generator, part: float, side: int) -> Pixels:
    """A random square of ``part`` pixels a side, brought to ``side``, half of them mirrored."""
    left, top = rng.random(2) * (np.array(picture.shape[1::-1]) - part)
    kernel = REDUCING_KERNELS[int(rng.integers(len(REDUCING_KERNELS)))]
    box = (left, top, left + part, top + part)
    square = np.asarray(Image.fromarray(picture).resize((side, side), kernel, box=box))
    return square[:, ::-1].copy() if rng.random() < 0.5 else square


def corrupt_randomly(
    picture: Pixels, corruptions: Sequence[str], rng: np.random.Generator
) -> Pixels:
    """A picture under one of the corruptions, at a random severity."""
    name = corruptions[int(rng.integers(len(corruptions)))]
    severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
    return corrupt(picture, name, severity, int(rng.integers(2**31)))


def _to_photograph(image: Image.Image) -> Pixels | None:
    """The whole picture, unless it is too small."""
    return to_pixels(decode_picture(image)) if min(image.size) >= PICTURE_SIDE else None


def draw_places(rng: np.random.Generator, count: int, side: int) -> list[tuple[int, int]]:
    """Top and left of random windows, in a picture of :data:`PICTURE_SIDE` pixels a side."""
    return [(int(i), int(j)) for i, j in rng.integers(PICTURE_SIDE - side + 1, size=(count, 2))]
