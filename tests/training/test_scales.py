"""Windows of enlarged pictures in training: who sees them, and what they leave as it was."""

import dataclasses

import numpy as np
import pytest
import torch

from dga.data.framing import View
from dga.training import diffusion, loop, run
from dga.training.discriminator import pairs
from dga.training.discriminator import trainer as discriminator
from dga.training.discriminator.batches import BatchMaker
from dga.training.discriminator.pairs import make_pairs
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig
from dga.training.scales import maybe_window
from dga.weights.store import read_config
from tests.fixtures.cli import refused

CPU = torch.device("cpu")
CONFIG = TrainConfig(images=32, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)
SCALED = dataclasses.replace(CONFIG, scales=1.0)


def _detail(pixels: np.ndarray) -> float:
    """Mean difference of neighbours in a row."""
    return float(np.abs(np.diff(pixels.astype(float), axis=-2)).mean())


def test_a_window_is_smoother_and_lies_anywhere(cat):
    rng = np.random.default_rng(0)
    windows = [maybe_window(cat, 1.0, rng) for _ in range(40)]
    assert all(window.shape == cat.shape and window.dtype == np.uint8 for window in windows)
    assert np.mean([_detail(window) for window in windows]) < 0.7 * _detail(cat)
    ramp = np.tile(np.arange(0, 192, 3, dtype=np.uint8)[:, None], (64, 1, 3))
    spans = [np.ptp(maybe_window(ramp, 1.0, rng)[:, :, 0]) / 189 for _ in range(200)]
    starts = [maybe_window(ramp, 1.0, rng)[0, 0, 0] / 189 for _ in range(200)]
    assert 0.26 < min(spans) < 0.32
    assert 0.9 < max(spans) <= 1.01
    assert min(starts) < 0.02
    assert max(starts) > 0.5


def test_share_0_draws_nothing_and_a_share_is_kept(cat):
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert maybe_window(cat, 0.0, rng) is cat
    assert rng.bit_generator.state == before
    kept = sum(maybe_window(cat, 0.3, rng) is cat for _ in range(400))
    assert 0.62 < kept / 400 < 0.78
    here, elsewhere = (np.random.default_rng(1) for _ in range(2))
    maybe_window(cat, 0.5, here)
    maybe_window(None, 0.5, elsewhere)
    assert here.random() == elsewhere.random()


def test_the_prior_sees_windows_under_the_same_noise(images):
    x, *rest = diffusion.draw(images, 1000, CONFIG, 3)
    windows, *same = diffusion.draw(images, 1000, SCALED, 3)
    assert all(torch.equal(a, b) for a, b in zip(rest, same, strict=True))
    assert all(not torch.equal(a, b) for a, b in zip(x, windows, strict=True))
    assert torch.equal(windows, diffusion.draw(images, 1000, SCALED, 3)[0])


@pytest.mark.parametrize("source", ["images", "generated", "crossed"])
def test_both_classes_see_windows_cut_before_damage(source, cat, monkeypatch):
    damaged: list[np.ndarray] = []

    def corrupt(pixels: np.ndarray, *_: object) -> np.ndarray:
        damaged.append(pixels)
        return pixels

    monkeypatch.setattr(pairs, "corrupt", corrupt)
    monkeypatch.setattr(pairs, "vary_source", lambda picture, *_: picture)
    study, real = Study(source=source), np.stack([cat] * 8)
    clean, corrupted = make_pairs(study, real, real, np.random.default_rng(0), View(64), 1.0)
    shown = [*clean, *damaged]
    assert not any(np.array_equal(picture, cat) for picture in shown)
    assert np.mean([_detail(picture) for picture in shown]) < 0.8 * _detail(cat)
    assert np.array_equal(corrupted, damaged)
    assert np.array_equal(clean, damaged) == (source != "generated")


def test_processes_that_share_a_batch_cut_the_same_windows(tiny_profile, images):
    config = dataclasses.replace(CONFIG, scales=0.5)
    study = Study(explanations=True)
    whole = BatchMaker(tiny_profile, study, images, config)[2]
    assert not torch.equal(whole.x_k, BatchMaker(tiny_profile, study, images, CONFIG)[2].x_k)
    parts = [
        BatchMaker(tiny_profile, study, images, config, share=range(first, first + 2))[2].x_k
        for first in (0, 2)
    ]
    both = torch.cat([part.unflatten(0, (2, 2)) for part in parts], 1).flatten(0, 1)
    assert torch.equal(both, whole.x_k)


def test_a_checkpoint_from_before_goes_on(tiny_profile, images, tmp_path):
    diffusion.train_diffusion(tiny_profile, images, CONFIG, tmp_path, CPU)
    path = tmp_path / loop.CHECKPOINT
    state = torch.load(path, weights_only=True)
    del state["config"]["scales"]
    torch.save(state, path)
    diffusion.train_diffusion(tiny_profile, images, CONFIG, tmp_path, CPU)
    with pytest.raises(ValueError, match=r"scales was 0.0, now 1.0"):
        diffusion.train_diffusion(tiny_profile, images, SCALED, tmp_path, CPU)


def test_what_cannot_be_enlarged_is_refused(picture_folder, tmp_path):
    with pytest.raises(ValueError, match=r"0 to 1, not 1\.5"):
        dataclasses.replace(CONFIG, scales=1.5)
    with pytest.raises(ValueError, match="before they are corrupted"):
        discriminator.check_study(Study(corrupted=tmp_path), None, 0.5)
    options = "--data", picture_folder, "--out", tmp_path, "--scales", 0.5
    said = refused("train", "classifier", *options)
    assert "The classifier is shown no windows" in said


def test_the_share_is_recorded(picture_folder, tmp_path):
    config = dataclasses.replace(SCALED, images=8)
    run.train("diffusion", "everyday16", [picture_folder], tmp_path, config, CPU)
    assert read_config(tmp_path)["training"]["scales"] == 1.0
