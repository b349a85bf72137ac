"""Chains of damage: random, repeated by a seed, bounded; and what a conditional denoiser learns."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image

from dga.lab.saved_weights import save_weights
from dga.lab.training import run
from dga.lab.training.chains import ChainConfig, damage_randomly, parse_chains
from dga.lab.training.conditional_trainer import DEWARPER_DEFAULTS, train_conditional
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.windows import Photographs
from dga.networks.models import load_models
from dga.profiles import get_profile
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import Sources
from dga.weights.store import compute_weights_id, read_state, restore_differences
from tests.fixtures.cli import refused

SHIPPED = Path("assets/weights/everyday16/diffusion")


def test_chains_repeat_by_their_seed_and_mostly_damage(cat):
    picture, damaged = cat, 0
    for seed in range(40):
        first = damage_randomly(picture, np.random.default_rng(seed))
        again = damage_randomly(picture, np.random.default_rng(seed))
        assert first.shape == picture.shape
        assert first.dtype == np.uint8
        np.testing.assert_array_equal(first, again)
        damaged += not np.array_equal(first, picture)
    assert 25 <= damaged < 40  # a tenth stays, and a chain may skip every step


@pytest.mark.parametrize("text", ["noise=1.5", "most_blur=40", "worst_jpeg=0", "sharp=1", "noise"])
def test_impossible_chains_are_refused(text):
    with pytest.raises(ValueError, match=r"noise|most_blur|worst_jpeg|sharp"):
        parse_chains(text)


def test_what_is_saved_of_a_conditional_model_restores_it(tiny_models, tmp_path):
    """Trained on from a diffusion model for two steps, by features of a classifier, too."""
    base, photographs = tmp_path / "base", Photographs((skimage.data.astronaut(),))
    save_weights(tiny_models.denoiser.state_dict(), base, {})
    features = "tf_efficientnet_lite0"
    config = TrainConfig(4, 2, lr=1e-3, warmup=1, ema=0.5, bf16=False, features=features)
    training = Training(tiny_models.profile, config, tmp_path / "run", torch.device("cpu"), base)
    trained, factors, facts = train_conditional(training, photographs)
    assert facts["base"] == compute_weights_id(base)
    origin = trained.widen({name: value.float() for name, value in read_state(base).items()})
    restored = restore_differences(factors, origin)
    for name, value in trained.state_dict().items():
        torch.testing.assert_close(restored[name], value, atol=1e-4, rtol=1e-3)
    assert any(not torch.equal(restored[name], origin[name]) for name in origin)


def test_what_is_saved_of_a_dewarper_restores_it_beside_the_denoiser_that_it_began_with(tmp_path):
    base = Path("assets/weights/photo/conditional")
    config = dataclasses.replace(DEWARPER_DEFAULTS, images=4, batch=2, features=None, bf16=False)
    training = Training(get_profile("photo"), config, tmp_path, torch.device("cpu"), base)
    run.train("dewarper", training, photographs=[Path("assets/samples")])
    models = load_models("photo", Sources(dewarper=tmp_path))
    origin, restored = (net.state_dict() for net in (models.conditional, models.dewarper))
    size = sum(path.stat().st_size for path in tmp_path.glob("*.safetensors"))
    assert size < 3_000_000
    assert any(not torch.equal(restored[name], origin[name]) for name in origin)
    with pytest.raises(WeightsError, match="no denoiser for warped pictures"):
        load_models("photo", Sources(dewarper=base))


def test_a_conditional_model_is_not_taken_for_a_diffusion_model(tmp_path):
    picture = tmp_path / "photo.png"
    Image.new("RGB", (64, 64), "red").save(picture)
    folder = "assets/weights/photo/conditional"
    said = refused("adapt", picture, "--profile", "everyday16", "--diffusion", folder)
    assert "sees the damaged picture" in said
    with pytest.raises(WeightsError, match="no denoiser that sees"):
        load_models("photo", Sources(conditional=SHIPPED))


def test_a_conditional_model_begins_with_a_diffusion_model(tmp_path):
    Image.new("RGB", (240, 240), "red").save(tmp_path / "one.png")
    command = ("train", "diffusion", "--conditional", "--out", tmp_path / "run")
    assert "--init" in refused(*command, "--photographs", tmp_path)
    assert "--photographs" in refused(*command)
    assert "--conditional" in refused("train", "diffusion", "--chains", "noise=1", "--out", "x")
    assert ChainConfig() == parse_chains("")
