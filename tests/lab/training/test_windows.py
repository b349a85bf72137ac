"""What training shows: windows of photographs, and depths of the chain."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from dga.images import from_tensor
from dga.lab.training import diffusion_trainer
from dga.lab.training.loop import TrainConfig
from dga.lab.training.windows import PICTURE_SIDE, Photographs
from tests.fixtures.cli import refused

CPU = torch.device("cpu")
CONFIG = TrainConfig(images=32, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)
HALF = dataclasses.replace(CONFIG, window_share=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two photographs, of red and of blue shades alone, and one that is too small."""
    root, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(0)
    for channel, name, side in (
        (0, "red", 300),
        (2, "trip/blue", 260),
        (1, "small", PICTURE_SIDE - 1),
    ):
        pixels = np.zeros((side, side + 40, 3), np.uint8)
        coarse = Image.fromarray(rng.integers(60, 255, (12, 12), dtype=np.uint8))
        pixels[..., channel] = np.asarray(
            coarse.resize((side + 40, side), Image.Resampling.BICUBIC)
        )
        (root / name).parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(root / f"{name}.png")
    return root


@pytest.fixture(scope="module")
def photographs(folder: Path) -> Photographs:
    return Photographs.read([folder])


def is_window(pixels: np.ndarray) -> bool:
    """Whether a picture is of the photographs, whose green is black; JPEG and resizing blur it."""
    return float(pixels[..., 1].mean()) < 60 < float(pixels.max())


def test_the_prior_sees_its_share_of_windows(images, photographs):
    maker = diffusion_trainer.DiffusionBatches(images, 1000, HALF, photographs=photographs)
    plain, side = diffusion_trainer.DiffusionBatches(images, 1000, CONFIG), images.pixels.shape[1]
    batches = [maker[step][0] for step in range(40)]
    cut = [x for x in batches if x.shape == (HALF.batch // 4, 3, 2 * side, 2 * side)]
    assert 10 < len(cut) < 30
    assert all(is_window(pixels) for x in cut for pixels in from_tensor(x))
    assert all(plain[step][0].shape == (CONFIG.batch, 3, side, side) for step in range(40))
    assert all(torch.equal(a, b) for a, b in zip(maker[3], maker[3], strict=True))


def test_windows_that_nobody_can_cut_are_refused(picture_folder, folder, tmp_path):
    with pytest.raises(ValueError, match=r"0 to 1, not 1\.5"):
        dataclasses.replace(CONFIG, window_share=1.5)
    options = "--data", picture_folder, "--out", tmp_path / "out"
    assert "belong together" in refused("train", "diffusion", *options, "--windows", 0.5)
    assert "belong together" in refused("train", "diffusion", *options, "--photographs", folder)
    both = "--windows", 0.5, "--photographs", folder
    assert "--windows is for diffusion" in refused("train", "classifier", *options, *both)
    small = "--windows", 0.5, "--photographs", picture_folder
    assert f"{PICTURE_SIDE} pixels" in refused("train", "diffusion", *options, *small)
    large = "discriminator", *options, *both, "--profile", "imagenet"
    assert "a window has 256" in refused("train", *large)
    (tmp_path / "torn.png").write_bytes(b"no picture")
    torn = "--windows", 0.5, "--photographs", tmp_path
    assert f"torn.png in {tmp_path}: This" in refused("train", "diffusion", *options, *torn)


@pytest.mark.parametrize("depth", [0, 101])
def test_a_deepest_depth_is_one_of_the_chain(tiny_profile, depth):
    with pytest.raises(ValueError, match="deepest depth is 1 to"):
        diffusion_trainer.find_last_timestep(tiny_profile.schedule, depth)
