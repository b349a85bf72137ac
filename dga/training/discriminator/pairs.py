"""Pairs of a source and a corrupted picture, which the discriminator learns to tell apart."""

from collections.abc import Iterable

import numpy as np
from PIL import Image

from dga.corruptions import SEVERITIES, corrupt
from dga.data.framing import View
from dga.images import Pixels, through_jpeg
from dga.training.discriminator.samples import Samples
from dga.training.discriminator.studies import Study

KERNELS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)


def make_pairs(
    study: Study,
    pictures: Iterable[Pixels | None],
    samples: Samples | Pixels | None,
    rng: np.random.Generator,
    view: View,
) -> tuple[Pixels, Pixels]:
    """Source and corrupted pictures (labels 0 and 1), uint8 ``[n, S, S, 3]`` each.

    ``pictures``: real ones, each uint8 ``[side, side, 3]``, or ``None`` for a pair that
    another process makes: it is left out, but what it would have drawn is drawn.
    ``samples``: generated ones, unless the source is ``images``. A pair shows one picture
    twice, but for the source ``generated``: there the clean one is a sample. ``crossed``:
    every other pair is made of a sample, so that the label tells nothing about real or
    generated. ``view`` brings both to the network's size.
    """
    clean, corrupted = [], []
    odd = int(rng.integers(2)) if study.source == "crossed" else 0
    pictures = list(pictures)
    side = next((len(picture) for picture in pictures if picture is not None), 0)
    for i, picture in enumerate(pictures):
        mine = picture is not None
        if study.source == "crossed" and i % 2 == odd:
            sample = _any_of(samples, rng, view)
            picture = sample if mine else None
        picture = vary_source(picture, side, rng)
        name = study.corruptions[int(rng.integers(len(study.corruptions)))]
        severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
        seed = int(rng.integers(2**31))
        if picture is not None:
            corrupted.append(view.finish(corrupt(picture, name, severity, seed)))
        if study.source == "generated":
            sample = _any_of(samples, rng, view)
            picture = vary_source(sample if mine else None, side, rng)
        if picture is not None:
            clean.append(view.finish(picture))
    return np.stack(clean), np.stack(corrupted)


def _any_of(samples: Samples | Pixels | None, rng: np.random.Generator, view: View) -> Pixels:
    if samples is None:
        raise ValueError("This source needs generated pictures.")
    return view.clean(Image.fromarray(samples[int(rng.integers(len(samples)))]))


def vary_source(picture: Pixels | None, side: int, rng: np.random.Generator) -> Pixels | None:
    """A picture, uint8 ``[side, side, 3]``, varied so that it is still source data.

    People's own photographs are sharper than small training pictures and carry
    fewer JPEG traces. A third is therefore shrunk with one of several kernels and
    mirrored out to full size again, and a third re-encoded at JPEG quality 75-98.
    For a picture that another process varies (``None``) only the draws are made.
    """
    flip, shrunk, quality, kernel, before = rng.random() < 0.5, side, None, 0, 0
    if shrinks := rng.random() < 1 / 3:
        shrunk = int(rng.integers(side * 9 // 16, side))
        kernel = int(rng.integers(len(KERNELS)))
        before = int(rng.integers(side - shrunk + 1))
    if rng.random() < 1 / 3:
        quality = int(rng.integers(75, 99))
    if picture is None:
        return None
    image = Image.fromarray(picture)
    if flip:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if shrinks:
        small = np.asarray(image.resize((shrunk, shrunk), KERNELS[kernel]))
        margin = (before, side - shrunk - before)
        image = Image.fromarray(np.pad(small, (margin, margin, (0, 0)), "reflect"))
    if quality is not None:
        image = through_jpeg(np.asarray(image), quality)
    return np.asarray(image)
