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
from dga.lab.training.studies import Study
from dga.lab.training.windows import Photographs
from dga.weights.checkpoints import WeightsError
from tests.fixtures.cli import refused
from tests.fixtures.models import die_after_saving

CPU = torch.device("cpu")
CONFIG = TrainConfig(images=48, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)


def _train(name, profile, folder, out, config, study=None) -> dict[str, torch.Tensor]:
    """The weights that training ends with."""
    images = find_images([folder], Crop(profile.image_size), profile.classifier.classes).load()
    function = {
        "diffusion": diffusion_trainer.train_diffusion,
        "classifier": classifier_trainer.train_classifier,
        "discriminator": discriminator_trainer.train_discriminator,
    }[name]
    options = {"study": study} if study else {}
    if config.window_share:
        options["photographs"] = Photographs((skimage.data.astronaut(),))
    result = function(Training(profile, config, out, CPU), images, **options)
    network = result[0] if isinstance(result, tuple) else result
    return network.state_dict()


@pytest.mark.parametrize(
    ("name", "study", "bf16"),
    [
        ("diffusion", None, False),
        ("classifier", None, True),
        ("discriminator", Study(corruptions=("fog",)), False),
        ("discriminator", Study(explanations=True), False),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_interrupted_training_ends_with_the_same_bits(
    name, study, bf16, tiny_profile, picture_folder, tmp_path, monkeypatch
):
    """Trained at one go and, stopped twice, in three; the weights must be the same."""
    windows = 0.5 if study and study.explanations else 0.0
    config = dataclasses.replace(CONFIG, bf16=bf16, window_share=windows)

    def trained(out: str) -> dict[str, torch.Tensor]:
        return _train(name, tiny_profile, picture_folder, tmp_path / out, config, study)

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


def test_a_checkpoint_of_another_study_is_refused(tiny_profile, picture_folder, tmp_path):
    arguments = "discriminator", tiny_profile, picture_folder, tmp_path, CONFIG
    _train(*arguments)
    for other, what in (
        (Study(corruptions=("fog",)), "corruptions"),
        (Study(explanations=True), "explanations"),
    ):
        with pytest.raises(ValueError, match=f"another {what}"):
            _train(*arguments, other)


def test_options_belong_to_one_model(tiny_profile, picture_folder, images, tmp_path):
    training = Training(tiny_profile, CONFIG, tmp_path, CPU)
    explained = run.TrainingOptions(study=Study(explanations=True))
    with pytest.raises(ValueError, match="Only the discriminator"):
        run.train("classifier", training, [picture_folder], explained)
    with pytest.raises(ValueError, match="Only the diffusion model"):
        run.train("classifier", training, [picture_folder], run.TrainingOptions(max_depth=40))
    diffusion_trainer.train_diffusion(training, images, max_depth=40)
    with pytest.raises(ValueError, match="another max_depth"):
        diffusion_trainer.train_diffusion(training, images)


def test_what_a_classifier_sees_can_be_part_of_the_loss(images):
    distance = FeatureDistance("tf_efficientnet_lite0")
    x = to_tensor(images.pixels[:2])
    near, far = (x + s * torch.randn_like(x) for s in (0.1, 0.5))
    assert distance(x, x).max() < 1e-5 < distance(near, x).min()
    assert distance(near, x).mean() < distance(far, x).mean()
    unlike = [distance.compare(picture, x)[1].mean() for picture in (x, near, far)]
    assert unlike[0].abs() < 1e-5 < unlike[1] < unlike[2]
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
