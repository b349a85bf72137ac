"""Checkpoints that others wrote: names, shapes and answers agree, or it is said what does not."""

import numpy as np
import pytest
import torch
from guided_diffusion.script_util import create_classifier, create_gaussian_diffusion, create_model
from guided_diffusion.unet import AttentionPool2d
from torch import Tensor, nn

from dga.networks.models import load_denoiser, load_discriminator
from dga.networks.published import PublishedDiscriminator
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import EVERYDAY16, IMAGENET, Profile
from dga.weights import store as weights
from dga.weights.checkpoints import WeightsError, match_names
from dga.weights.store import read_config, weights_id
from tests.fixtures.public_weights import OPENAI_FLAGS, Checkpoints

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)


def shapes(state: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name.removeprefix("net."): tuple(value.shape) for name, value in state.items()}


def test_full_size_denoiser_is_openais():
    with torch.device("meta"):
        ours = Denoiser(IMAGENET.denoiser)
        shape = {"attention_resolutions": "32,16,8", "num_head_channels": 64}
        theirs = create_model(256, 256, 2, **shape, **OPENAI_FLAGS)
    assert sum(p.numel() for p in ours.parameters()) == 552_814_086
    assert shapes(ours.state_dict()) == shapes(theirs.state_dict())
    ours.load_state_dict(match_names(theirs.state_dict(), ours.state_dict()))


def test_full_size_discriminators_are_openais_classifier_and_the_papers():
    with torch.device("meta"):
        ours = Discriminator(IMAGENET.discriminator)
        published = PublishedDiscriminator(IMAGENET.discriminator, IMAGENET.schedule)
        theirs = create_classifier(256, False, 128, 2, "32,16,8", True, True, "attention")
        expected = shapes(theirs.state_dict())
        theirs.out = nn.Identity()
        head = AttentionPool2d(7, 512, 64, 1)
    different = {n for n, s in shapes(ours.state_dict()).items() if expected[n] != s}
    assert set(shapes(ours.state_dict())) == set(expected)
    assert different == {"out.2.c_proj.weight", "out.2.c_proj.bias"}  # one logit, not 1,000
    layout = {f"model.{name}": s for name, s in shapes(theirs.state_dict()).items()}
    layout |= {f"atn.{name}": s for name, s in shapes(head.state_dict()).items()}
    assert shapes(published.state_dict()) == layout


def test_denoiser_from_a_public_checkpoint(small_imagenet, checkpoints):
    network = load_denoiser(small_imagenet, checkpoints.paths["diffusion"])
    x, time = torch.randn(2, 3, 32, 32), torch.tensor([0, 500])
    with torch.no_grad():
        answer, expected = network(x, time), checkpoints.networks["diffusion"](x, time)
    torch.testing.assert_close(answer, expected, rtol=0, atol=0)
    assert float(expected.abs().mean()) > 0.01
    assert not network.training
    assert not any(p.requires_grad or p.is_meta for p in network.parameters())
    assert read_config(checkpoints.paths["diffusion"]) == {}
    assert (
        weights_id(checkpoints.paths["diffusion"])
        == weights.sha256(checkpoints.paths["diffusion"])[:12]
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s.pop("out.2.bias"), r"Missing key.*net\.out\.2\.bias"),
        (
            lambda s: s.update({"out.2.bias": torch.zeros(3)}),
            r"size mismatch for net\.out\.2\.bias.*\[3\]\) from checkpoint",
        ),
        (lambda s: s.update({"out.2.bias": torch.zeros(6, dtype=int)}), "kinds of numbers: net"),
    ],
)
def test_differences_are_named(small_imagenet, checkpoints, tmp_path, change, sentence):
    state = dict(checkpoints.networks["diffusion"].state_dict())
    change(state)
    torch.save(state, tmp_path / "other.pt")
    with pytest.raises(WeightsError, match=rf"other\.pt holds another network.*{sentence}"):
        load_denoiser(small_imagenet, tmp_path / "other.pt")


# The paper's discriminator


@pytest.fixture(scope="module")
def published(small_imagenet: Profile, checkpoints: Checkpoints) -> PublishedDiscriminator:
    network = load_discriminator(small_imagenet, checkpoints.paths["discriminator"])
    assert isinstance(network, PublishedDiscriminator)
    return network


def test_published_discriminator_is_what_comes_before_its_sigmoid(published, checkpoints):
    x, time = torch.randn(3, 3, 32, 32), torch.tensor([0, 303, 999])
    with torch.no_grad():
        logits = published(x, time)
        expected = checkpoints.networks["discriminator"](*published.translate(x, time))
    assert logits.shape == (3,)
    torch.testing.assert_close(logits.sigmoid(), expected.squeeze(1))
    assert len({round(float(z), 4) for z in logits}) == 3


@pytest.mark.parametrize("time", [0, 10, 101, 303, 605, 999])
def test_published_discriminator_sees_a_state_it_was_trained_on(published, time):
    """Against the package's own noising of a normalised picture at the index it is told."""
    full = create_gaussian_diffusion(steps=1000, noise_schedule="linear").alphas_cumprod
    trained = create_gaussian_diffusion(
        steps=1000, noise_schedule="linear", timestep_respacing="150"
    ).alphas_cumprod
    generator = torch.Generator().manual_seed(time)
    picture = torch.rand(1, 3, 32, 32, generator=generator)
    noise = torch.randn(1, 3, 32, 32, generator=generator)
    x = full[time] ** 0.5 * (2 * picture - 1) + (1 - full[time]) ** 0.5 * noise
    state, index = published.translate(x.float(), torch.tensor([time]))

    assert state.shape == (1, 3, 28, 28)
    middle = (..., slice(2, 30), slice(2, 30))
    clean = ((picture - MEAN) / STD)[middle]
    # The same picture with 1 / (2 std) times the noise: a deeper state of the same chain.
    stretch = 0.5 / STD  # by channel, alike within 2 %
    ratio = float(stretch.mean()) ** 2 * (1 / full[time] - 1)
    abar = 1 / (1 + ratio)
    its_noise = noise[middle] * stretch / stretch.mean()
    expected = abar**0.5 * clean + (1 - abar) ** 0.5 * its_noise
    torch.testing.assert_close(state, expected.float(), rtol=1e-4, atol=1e-4)
    nearest = int(np.abs(np.log(1 / trained - 1) - np.log(ratio)).argmin())
    assert int(index) == nearest
    assert abs(trained[nearest] - abar) < 0.02


def test_papers_layout_needs_an_unfolded_profile(checkpoints):
    with pytest.raises(WeightsError, match=r"does not suit everyday16.*without folding"):
        load_discriminator(EVERYDAY16, checkpoints.paths["discriminator"])
