"""Pairs of a source and a corrupted picture, which the discriminator learns to tell apart."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from dga.corruptions import SEVERITIES, corrupt
from dga.data.framing import View
from dga.images import Pixels, through_jpeg
from dga.training.discriminator.studies import Study

SHRINKING_KERNELS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)


def make_pairs(
    study: Study,
    pictures: Sequence[Pixels],
    samples: Pixels | None,
    rng: np.random.Generator,
    view: View,
) -> tuple[Pixels, Pixels]:
    """Source and corrupted pictures (labels 0 and 1), uint8 ``[n, S, S, 3]`` each.

    ``pictures``: real ones, each uint8 ``[side, side, 3]``; ``samples``: generated ones. A pair
    shows one picture twice; with ``samples`` the clean one is one of these instead. ``view``
    brings both to the network's size.
    """
    clean, corrupted = [], []
    for picture in pictures:
        picture = vary_source(picture, rng)
        name = study.corruptions[int(rng.integers(len(study.corruptions)))]
        severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
        seed = int(rng.integers(2**31))
        corrupted.append(view.finish(corrupt(picture, name, severity, seed)))
        if samples is not None:
            sample = Image.fromarray(samples[int(rng.integers(len(samples)))])
            picture = vary_source(view.clean(sample), rng)
        clean.append(view.finish(picture))
    return np.stack(clean), np.stack(corrupted)


def vary_source(picture: Pixels, rng: np.random.Generator) -> Pixels:
    """A picture, uint8 ``[side, side, 3]``, varied so that it is still source data.

    People's own photographs are sharper than small training pictures and carry
    fewer JPEG traces. A third is therefore shrunk with one of several kernels and
    mirrored out to full size again, and a third re-encoded at JPEG quality 75-98.
    """
    side, image = len(picture), Image.fromarray(picture)
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if rng.random() < 1 / 3:
        shrunk = int(rng.integers(side * 9 // 16, side))
        kernel = SHRINKING_KERNELS[int(rng.integers(len(SHRINKING_KERNELS)))]
        before = int(rng.integers(side - shrunk + 1))
        margin = (before, side - shrunk - before)
        small = np.asarray(image.resize((shrunk, shrunk), kernel))
        image = Image.fromarray(np.pad(small, (margin, margin, (0, 0)), "reflect"))
    if rng.random() < 1 / 3:
        image = through_jpeg(np.asarray(image), int(rng.integers(75, 99)))
    return np.asarray(image)
