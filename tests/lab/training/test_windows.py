"""What training shows: windows of photographs, and right and wrong explanations."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from dga.diffusion import Schedule
from dga.images import from_tensor, to_tensor
from dga.lab.training import diffusion_trainer, run
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.pairs import PairBatches
from dga.lab.training.random_explanations import VISIBLE_CHANGE, SecondPicture, draw_second_picture
from dga.lab.training.studies import Study
from dga.lab.training.windows import PICTURE_SIDE, Photographs
from dga.profiles import get_profile
from dga.weights.store import read_config
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


@pytest.mark.parametrize("explanations", [False, True])
def test_both_classes_see_windows(tiny_profile, images, photographs, explanations):
    study = Study(explanations=explanations)
    plain = PairBatches(tiny_profile, study, images, CONFIG)[2]
    maker = PairBatches(tiny_profile, study, images, HALF, photographs=photographs)
    drawn, again = maker[2], maker[2]
    changed = (drawn.x_k != plain.x_k).flatten(1).any(1).view(2, -1)
    assert changed.tolist() == [[False, False, True, True]] * 2
    assert all(torch.equal(a, b) for a, b in zip(drawn[:4], again[:4], strict=True))
    assert drawn.target[:4].tolist() == [0] * 4
    assert drawn.x_k.isfinite().all()


def test_windows_that_nobody_can_cut_are_refused(picture_folder, folder, tmp_path):
    with pytest.raises(ValueError, match=r"0 to 1, not 1\.5"):
        dataclasses.replace(CONFIG, window_share=1.5)
    options = "--data", picture_folder, "--out", tmp_path / "out"
    assert "belong together" in refused("train", "diffusion", *options, "--windows", 0.5)
    assert "belong together" in refused("train", "diffusion", *options, "--photographs", folder)
    both = "--windows", 0.5, "--photographs", folder
    assert "for the diffusion model" in refused("train", "classifier", *options, *both)
    small = "--windows", 0.5, "--photographs", picture_folder
    assert f"{PICTURE_SIDE} pixels" in refused("train", "diffusion", *options, *small)
    large = "discriminator", *options, *both, "--profile", "imagenet"
    assert "a window has 256" in refused("train", *large)
    (tmp_path / "torn.png").write_bytes(b"no picture")
    torn = "--windows", 0.5, "--photographs", tmp_path
    assert f"torn.png in {tmp_path}: This" in refused("train", "diffusion", *options, *torn)


def test_the_share_is_recorded(picture_folder, folder, tmp_path):
    config = dataclasses.replace(HALF, images=8)
    training = Training(get_profile("everyday16"), config, tmp_path, CPU)
    run.train("diffusion", training, [picture_folder], run.TrainingOptions(photographs=[folder]))
    config = read_config(tmp_path)
    assert config["training"]["window_share"] == 0.5
    assert config["trained_on"]["photographs"] == 2


# Explanations


def test_a_clean_picture_is_spoilt_or_stays_source(cat, tiny_profile):
    """Against a corrupted member that is known by its one colour."""
    schedule = Schedule.from_config(tiny_profile.schedule)
    x, marked = to_tensor(cat), torch.full((3, *cat.shape[:2]), 0.25)

    def draw(seed: int) -> SecondPicture:
        return draw_second_picture(x, marked, 0, schedule, np.random.default_rng(seed))

    pairs = [draw(seed) for seed in range(200)]
    sources = [pair for pair in pairs if pair.target == 0]
    assert all(float((pair.x - x).abs().mean()) < VISIBLE_CHANGE for pair in sources)
    assert not any(pair.deviation for pair in sources)
    untouched = sum(torch.equal(pair.x, marked) for pair in pairs)
    assert 0.2 < untouched / 200 < 0.6
    assert 0 < len(sources) / 200 < 0.3
    assert torch.equal(draw(3).x, pairs[3].x)
    assert [draw(seed).depth for seed in range(200)] == [pair.depth for pair in pairs]


@pytest.mark.parametrize("depth", [0, 101])
def test_a_deepest_depth_is_one_of_the_chain(tiny_profile, depth):
    with pytest.raises(ValueError, match="deepest depth is 1 to"):
        diffusion_trainer.find_last_timestep(tiny_profile.schedule, depth)
