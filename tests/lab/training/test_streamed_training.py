"""Full-size training: streamed pictures and batches made ahead, with the same result."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from dga.lab.data.cropping import View
from dga.lab.data.image_sets import ImageSet, find_images
from dga.lab.training import discriminator_trainer
from dga.lab.training.discriminator_trainer import PairBatches
from dga.lab.training.loop import TrainConfig
from dga.profiles import Profile

QUICK = ("gaussian_noise", "contrast", "pixelate")
"""Nothing that every new process would have to compile first."""
CONFIG = TrainConfig(images=48, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False, corruptions=QUICK)


@pytest.fixture(scope="module")
def profile(tiny_released_profile: Profile) -> Profile:
    """Of four depths."""
    schedule = dataclasses.replace(tiny_released_profile.schedule, steps=4)
    return dataclasses.replace(tiny_released_profile, schedule=schedule)


@pytest.fixture
def files(profile: Profile, picture_folder: Path) -> ImageSet:
    return find_images([picture_folder], View(profile).clean, profile.classifier.classes)


def test_batches_are_the_same_streamed_held_and_made_ahead(profile, files):
    """A resumed run begins in the middle."""
    streamed, held = (PairBatches(profile, s, CONFIG) for s in (files, files.load()))
    for steps in ((0, 1, 2), (4, 5)):
        ahead = DataLoader(streamed, batch_size=None, sampler=steps, num_workers=2)
        for step, batch in zip(steps, ahead, strict=True):
            assert batch[0].shape == (8, 3, 40, 40)
            for other in (streamed[step], held[step]):
                assert all(torch.equal(a, b) for a, b in zip(batch, other, strict=True))


def test_both_classes_go_through_the_release(profile, files, monkeypatch):
    """Cut, (corrupted,) JPEG at quality 85, resized; else a discriminator learns the JPEG."""
    monkeypatch.setattr(discriminator_trainer, "vary_source", lambda picture, *_: picture)
    monkeypatch.setattr(
        discriminator_trainer, "corrupt_randomly", lambda picture, *_: 255 - picture
    )
    view, pictures = View(profile), files.load().pixels[:4]
    clean, inverted = discriminator_trainer.make_pairs(
        QUICK, pictures, np.random.default_rng(0), view
    )
    assert clean.shape == (4, 40, 40, 3)
    assert np.array_equal(clean, np.stack([view.finish(picture) for picture in pictures]))
    assert np.array_equal(inverted, np.stack([view.finish(255 - p) for p in pictures]))
