"""Pairs of a source and a corrupted picture, which the discriminator learns to tell apart."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image

from dga.corruptions import SEVERITIES, corrupt
from dga.images import Pixels
from dga.training.studies import Study

KERNELS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)


def make_pairs(
    study: Study, pixels: Pixels, samples: Pixels | None, rng: np.random.Generator
) -> tuple[Pixels, Pixels]:
    """Source and corrupted pictures (labels 0 and 1), uint8 ``[n, S, S, 3]`` each.

    ``pixels``: n real pictures; ``samples``: generated ones, unless the source is
    ``images``. A pair shows one picture twice, but for the source ``generated``: there
    the clean one is a sample. ``crossed``: every other pair is made of a sample, so that
    the label tells nothing about real or generated.
    """
    clean, corrupted = [], []
    odd = int(rng.integers(2)) if study.source == "crossed" else 0
    for i, picture in enumerate(pixels):
        if study.source == "crossed" and i % 2 == odd:
            picture = _any_of(samples, rng)
        picture = vary_source(picture, rng)
        name = study.corruptions[int(rng.integers(len(study.corruptions)))]
        severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
        corrupted.append(corrupt(picture, name, severity, int(rng.integers(2**31))))
        if study.source == "generated":
            picture = vary_source(_any_of(samples, rng), rng)
        clean.append(picture)
    return np.stack(clean), np.stack(corrupted)


def _any_of(samples: Pixels | None, rng: np.random.Generator) -> Pixels:
    if samples is None:
        raise ValueError("This source needs generated pictures.")
    return samples[int(rng.integers(len(samples)))]


def vary_source(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A picture that is still source data: flipped, resampled, lightly compressed.

    People's own photographs are sharper than small training pictures and carry
    fewer JPEG traces. A third is therefore shrunk with one of several kernels and
    mirrored out to full size again, and a third re-encoded at JPEG quality 75-98.
    """
    size = pixels.shape[0]
    image = Image.fromarray(pixels)
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if rng.random() < 1 / 3:
        side = int(rng.integers(size * 9 // 16, size))
        image = image.resize((side, side), KERNELS[int(rng.integers(len(KERNELS)))])
        before = int(rng.integers(size - side + 1))
        margin = (before, size - side - before)
        image = Image.fromarray(np.pad(np.asarray(image), (margin, margin, (0, 0)), "reflect"))
    if rng.random() < 1 / 3:
        buffer = BytesIO()
        image.save(buffer, "JPEG", quality=int(rng.integers(75, 99)))
        image = Image.open(buffer)
    return np.asarray(image)
