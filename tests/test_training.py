"""Training resumes to the same bits after a kill at any moment."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from dga.data import read_images
from dga.profiles import Profile
from dga.training import classifier, diffusion, discriminator, loop, run
from dga.training.loop import TrainConfig
from dga.weights import read_config, read_state

CONFIG = TrainConfig(images=64, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)


def test_learning_rate_rises_stays_and_falls() -> None:
    config = TrainConfig(images=1000, batch=10, lr=1.0, warmup=10, decay=0.5)
    rates = [config.lr_at(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:50] == [1.0] * 41
    assert rates[75] == pytest.approx(0.5)
    assert rates[99] == pytest.approx(0.02)


def test_every_picture_once_per_pass() -> None:
    rows = np.concatenate([loop.batch_rows(20, 7, 0, step) for step in range(20)])
    assert len(rows) == 140
    for i in range(7):
        assert sorted(rows[20 * i : 20 * i + 20]) == list(range(20))
    assert rows[:20].tolist() != rows[20:40].tolist()


def _train(name: str, profile: Profile, folder: Path, out: Path, config: TrainConfig) -> str:
    images = read_images([folder], profile.image_size, profile.classifier.classes)
    function = {
        "diffusion": diffusion.train_diffusion,
        "classifier": classifier.train_classifier,
        "discriminator": discriminator.train_discriminator,
    }[name]
    result = function(profile, images, config, out, torch.device("cpu"))
    network = result[0] if isinstance(result, tuple) else result
    digest = hashlib.sha256()
    for key, value in sorted(network.state_dict().items()):
        digest.update(key.encode() + value.numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("name", ["diffusion", "classifier", "discriminator"])
@pytest.mark.parametrize("bf16", [False, True])
def test_interrupted_training_ends_with_the_same_bits(
    name: str,
    bf16: bool,
    tiny_profile: Profile,
    picture_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = dataclasses.replace(CONFIG, bf16=bf16)
    whole = _train(name, tiny_profile, picture_folder, tmp_path / "whole", config)

    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    real, saves = loop._save, []

    def save_then_die(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        saves.append(args)
        if len(saves) in (2, 5):
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "_save", save_then_die)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            _train(name, tiny_profile, picture_folder, tmp_path / "parts", config)
    assert _train(name, tiny_profile, picture_folder, tmp_path / "parts", config) == whole
    assert len(saves) == config.steps


def test_another_config_is_refused_but_a_longer_run_may_go_on(
    tiny_profile: Profile, picture_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = dataclasses.replace(CONFIG, images=640)
    real = loop._save

    def save_then_die(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
        patch.setattr(loop, "_save", save_then_die)
        with pytest.raises(KeyboardInterrupt):
            _train("classifier", tiny_profile, picture_folder, tmp_path, long)
    with pytest.raises(ValueError, match="another model"):
        _train("diffusion", tiny_profile, picture_folder, tmp_path, long)
    other = dataclasses.replace(tiny_profile, name="other")
    with pytest.raises(ValueError, match="another profile"):
        _train("classifier", other, picture_folder, tmp_path, long)
    with pytest.raises(ValueError, match=r"lr was 0.001, now 0.002"):
        _train(
            "classifier", tiny_profile, picture_folder, tmp_path, dataclasses.replace(long, lr=2e-3)
        )
    _train(
        "classifier", tiny_profile, picture_folder, tmp_path, dataclasses.replace(long, images=96)
    )


def test_losses_that_are_not_numbers_stop_the_run(tmp_path: Path) -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    broken = model(torch.zeros(1, 1)).sum() * float("nan")
    with pytest.raises(FloatingPointError, match="at step 0"):
        loop.run(
            model, optimizer, lambda _: (broken, {}), CONFIG, tmp_path, torch.device("cpu"), {}
        )


def test_diffusion_loss_falls(tiny_profile: Profile, picture_folder: Path, tmp_path: Path) -> None:
    images = read_images([picture_folder], 32, tiny_profile.classifier.classes)
    seen: list[float] = []
    real = loop._Step.show

    def watch(self: loop._Step, **values: float) -> None:
        seen.append(values["mse"])
        real(self, **values)

    config = dataclasses.replace(CONFIG, images=960, batch=16, lr=2e-3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop._Step, "show", watch)
        diffusion.train_diffusion(tiny_profile, images, config, tmp_path, torch.device("cpu"))
    assert np.mean(seen[-10:]) < 0.9 * np.mean(seen[:10])


def test_generated_source_is_kept_in_shards(
    tiny_profile: Profile, picture_folder: Path, tmp_path: Path
) -> None:
    from dga.networks import Denoiser
    from dga.weights import save_weights

    torch.manual_seed(0)
    save_weights(Denoiser(tiny_profile.denoiser).state_dict(), tmp_path / "diffusion", {})
    small = dataclasses.replace(
        tiny_profile, schedule=dataclasses.replace(tiny_profile.schedule, steps=4)
    )
    out = tmp_path / "generated"
    samples = discriminator.generate(small, tmp_path / "diffusion", 3, out, torch.device("cpu"))
    assert samples.shape == (3, 32, 32, 3)
    shard = next(out.glob("*.npy"))
    before = shard.stat().st_mtime_ns
    again = discriminator.generate(small, tmp_path / "diffusion", 3, out, torch.device("cpu"))
    assert np.array_equal(samples, again)
    assert shard.stat().st_mtime_ns == before


def test_source_pictures_stay_source_pictures(cat: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    varied = [discriminator.vary_source(cat, rng) for _ in range(50)]
    assert all(v.shape == cat.shape and v.dtype == np.uint8 for v in varied)
    same = sum(np.array_equal(v, cat) or np.array_equal(v, cat[:, ::-1]) for v in varied)
    assert 10 < same < 35
    clean, corrupted = discriminator.make_pairs(np.stack([cat] * 8), None, rng)
    assert np.abs(clean.astype(int) - corrupted).mean() > 5


def test_unknown_model_and_source_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="diffusion, classifier, discriminator"):
        run.defaults("critic")
    with pytest.raises(ValueError, match="images, generated"):
        discriminator.SourceOptions("crossed pictures")


def test_command_survives_sigkill(picture_folder: Path, tmp_path: Path) -> None:
    """The real command, killed with SIGKILL, ends where the uninterrupted one does."""

    def command(out: Path) -> list[str]:
        options = ["--images", "800", "--batch", "8", "--seed", "3", "--device", "cpu"]
        data = ["--data", str(picture_folder), "--out", str(out)]
        return [sys.executable, "-m", "dga", "train", "classifier", *data, *options]

    environment = {**os.environ, "OMP_NUM_THREADS": "1", "DGA_CHECKPOINT_SECONDS": "0"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    subprocess.run(command(tmp_path / "whole"), check=True, **quiet)  # type: ignore[call-overload]
    killed = subprocess.Popen(command(tmp_path / "parts"), **quiet)  # type: ignore[call-overload]
    deadline = time.monotonic() + 60
    while not (tmp_path / "parts" / loop.CHECKPOINT).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    state = torch.load(tmp_path / "parts" / loop.CHECKPOINT, weights_only=True)
    assert 0 < state["step"] < 100
    assert not (tmp_path / "parts" / "config.json").exists()
    subprocess.run(command(tmp_path / "parts"), check=True, **quiet)  # type: ignore[call-overload]
    whole, parts = read_state(tmp_path / "whole"), read_state(tmp_path / "parts")
    assert all(torch.equal(whole[k], parts[k]) for k in whole)
    assert read_config(tmp_path / "parts")["training"]["images"] == 800
