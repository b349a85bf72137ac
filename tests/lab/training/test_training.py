"""Training resumes to the same bits after a kill at any moment."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import skimage.data
import torch
from torch import nn

from dga.images import to_tensor
from dga.lab.data.cropping import Crop
from dga.lab.data.image_sets import find_images
from dga.lab.training import classifier_trainer, diffusion_trainer, discriminator_trainer, run
from dga.lab.training.features import FeatureDistance
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.windows import Photographs
from dga.weights.checkpoints import WeightsError
from tests.fixtures.cli import refused
from tests.fixtures.models import die_after_saving

CPU = torch.device("cpu")
CONFIG = TrainConfig(images=48, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)


def _train(name, profile, folder, out, config) -> dict[str, torch.Tensor]:
    """The weights that training ends with."""
    images = find_images([folder], Crop(profile.image_size), profile.classifier.classes).load()
    function = {
        "diffusion": diffusion_trainer.train_diffusion,
        "classifier": classifier_trainer.train_classifier,
        "discriminator": discriminator_trainer.train_discriminator,
    }[name]
    windows = [Photographs((skimage.data.astronaut(),))] if config.window_share else []
    return function(Training(profile, config, out, CPU), images, *windows).state_dict()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("diffusion", {}),
        ("classifier", {"bf16": True}),
        ("discriminator", {"corruptions": ("fog",)}),
        ("discriminator", {"explanations": True, "window_share": 0.5}),
    ],
)
def test_interrupted_training_ends_with_the_same_bits(
    name, options, tiny_profile, picture_folder, tmp_path, monkeypatch
):
    """Trained at one go and, stopped twice, in three; the weights must be the same."""
    config = dataclasses.replace(CONFIG, **options)

    def trained(out: str) -> dict[str, torch.Tensor]:
        return _train(name, tiny_profile, picture_folder, tmp_path / out, config)

    whole = trained("whole")
    saves = die_after_saving(monkeypatch, 2, 5)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            trained("parts")
    torch.testing.assert_close(trained("parts"), whole, rtol=0, atol=0)
    assert len(saves) == config.steps


def test_diffusion_loss_falls(tiny_profile, images, tmp_path, monkeypatch):
    losses: list[float] = []

    def watch(self: Training, model: nn.Module, loss: Any, *rest: Any) -> Any:
        def seen_loss(step: int) -> tuple[torch.Tensor, dict[str, float]]:
            value, parts = loss(step)
            losses.append(parts["mse"])
            return value, parts

        return fit(self, model, seen_loss, *rest)

    fit = Training.fit
    monkeypatch.setattr(Training, "fit", watch)
    config = dataclasses.replace(CONFIG, images=480, batch=16, lr=2e-3)
    diffusion_trainer.train_diffusion(Training(tiny_profile, config, tmp_path, CPU), images)
    assert np.mean(losses[-10:]) < 0.9 * np.mean(losses[:10])


def test_a_checkpoint_of_another_run_is_refused(tiny_profile, picture_folder, tmp_path):
    arguments = "discriminator", tiny_profile, picture_folder, tmp_path
    _train(*arguments, CONFIG)
    for option, value in (("corruptions", ("fog",)), ("explanations", True)):
        with pytest.raises(ValueError, match=rf"another run \({option}: .* there, "):
            _train(*arguments, dataclasses.replace(CONFIG, **{option: value}))


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("explanations", True, "--explanations is for discriminator"),
        ("max_depth", 40, "--max-depth is for diffusion"),
        ("chains", "noise=1", "--chains is for diffusion --conditional"),
    ],
)
def test_options_belong_to_one_model(
    option, value, sentence, tiny_profile, picture_folder, tmp_path
):
    config = dataclasses.replace(CONFIG, **{option: value})
    with pytest.raises(ValueError, match=sentence):
        run.train("classifier", Training(tiny_profile, config, tmp_path, CPU), [picture_folder])


def test_what_a_classifier_sees_can_be_part_of_the_loss(images):
    distance = FeatureDistance("tf_efficientnet_lite0")
    x = to_tensor(images.pixels[:2])
    near, far = (x + s * torch.randn_like(x) for s in (0.1, 0.5))
    for kind in range(2):  # features, and answers
        same, unlike, more_unlike = (distance(one, x)[kind].mean() for one in (x, near, far))
        assert same.abs() < 1e-5 < unlike < more_unlike
    with pytest.raises(WeightsError, match="no_such_network"):
        FeatureDistance("no_such_network")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["critic"], "diffusion, classifier, discriminator"),
        (["discriminator", "--corruptions", "hail"], "all, noise, blur, weather, digital, extra"),
        (["discriminator", "--corruptions", " ,"], "No corruption is named"),
    ],
)
def test_command_names_what_is_allowed(picture_folder, tmp_path, options, sentence):
    assert sentence in refused("train", *options, "--data", picture_folder, "--out", tmp_path)
