"""Every path on a GPU that poses as one: no device is mixed, and results are the processor's."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dga.data.image_sets import read_images
from dga.discriminator import max_batch
from dga.images import to_tensor
from dga.networks.compute import Compute
from dga.networks.published import PublishedDiscriminator
from dga.training import classifier, diffusion
from dga.training.discriminator import trainer as discriminator
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig
from dga.weights.store import save_weights
from tests.fixtures.models import TINY_NETWORK, randomise
from tests.fixtures.posing import CUDA, pose, posing
from tests.fixtures.ways import WAYS, compare


def _pictures(count: int = 3, seed: int = 0) -> Tensor:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (count, 8, 8, 3), np.uint8)
    return to_tensor(coarse.repeat(4, 1).repeat(4, 2))  # [B, 3, 32, 32]


def _same(posed: Tensor, plain: Tensor) -> None:
    assert posed.device == CUDA
    assert plain.device.type == "cpu"
    torch.testing.assert_close(posed.cpu(), plain, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x + torch.zeros(3),
        lambda x: torch.cat([x, torch.zeros(3)]),
        lambda x: torch.stack([x[0], torch.tensor(0.0)]),
        lambda x: torch.equal(x, torch.zeros(3)),
        lambda x: torch.zeros(3)[x.long()],
        lambda x: x.__setitem__(torch.tensor([0]), torch.ones(1)),
        lambda x: x.numpy(),
        lambda x: np.asarray(x),
        lambda x: nn.Linear(3, 1)(x),
        lambda x: x.pin_memory(),
    ],
)
def test_what_a_gpu_refuses_is_refused(work):
    with posing():
        x = torch.zeros(3, device="cuda")
        with pytest.raises((RuntimeError, TypeError)):
            work(x)


def test_models_on_a_gpu(tiny_models, posed_models):
    networks = posed_models.denoiser, posed_models.explainer, posed_models.classifier
    assert {p.device for network in networks for p in network.parameters()} == {CUDA}
    assert posed_models.device == CUDA
    assert tiny_models.device.type == "cpu"
    assert posed_models.to("cpu").device.type == "cpu"
    assert Compute.choose("cuda", "float32").device.type == "cuda"
    sizes = {(64, "cpu"): 16, (256, "cpu"): 1, (64, "cuda"): 256, (256, "cuda"): 16}
    for (side, device), most in sizes.items():
        assert max_batch(torch.empty(9, 3, side, side, device=device)) == most


@pytest.mark.usefixtures("posed_models")
def test_fast_blocks_and_the_published_discriminator(tiny_models):
    x, time = _pictures(), torch.tensor([0, 100, 900])
    fast = Compute(CUDA, torch.bfloat16, fast=True)
    denoiser = fast.prepare(copy.deepcopy(tiny_models.denoiser))
    gpu = x.to("cuda").requires_grad_()
    output = denoiser(gpu, time.to("cuda"))
    exact = tiny_models.denoiser(x, time)
    assert float((output.detach().cpu() - exact).abs().mean() / exact.abs().mean()) < 2e-2
    assert torch.autograd.grad(output.sum(), gpu)[0].device == CUDA
    whole = dataclasses.replace(TINY_NETWORK, fold=1, image_size=32)
    judge = randomise(PublishedDiscriminator(whole, tiny_models.profile.schedule), 0)
    plain = judge(x, time)
    _same(judge.to("cuda")(gpu.detach(), time.to("cuda")), plain)


@pytest.mark.parametrize("name", ["diffusion", "classifier", "discriminator", "x0_hat"])
def test_training(name, tiny_models, tiny_profile, picture_folder, tmp_path):
    """A few steps with checkpoints, and going on from one."""
    schedule = dataclasses.replace(tiny_profile.schedule, steps=4)
    profile = dataclasses.replace(tiny_profile, schedule=schedule)
    images = read_images([picture_folder], 32, profile.classifier.classes)
    config = TrainConfig(images=8, batch=4, lr=1e-3, bf16=False)
    weights = tmp_path / "diffusion"
    save_weights(tiny_models.denoiser.state_dict(), weights, {})

    def train(out: Path, device: str) -> dict[str, Tensor]:
        where = torch.device(device)
        asked = profile, images, config, out, where
        if name == "diffusion":
            network = diffusion.train_diffusion(*asked)
        elif name == "classifier":
            network = classifier.train_classifier(*asked)
        else:
            study = Study(explanations=name == "discriminator", diffusion=weights)
            if name == "x0_hat":
                study = dataclasses.replace(study, input=name, source="crossed", samples=3)
            network, _ = discriminator.train_discriminator(*asked, study=study)
        assert {p.device.type for p in network.parameters()} == {where.type}
        return {name: value.cpu() for name, value in network.state_dict().items()}

    plain = train(tmp_path / "cpu", "cpu")
    with posing():
        posed = train(tmp_path / "cuda", "cuda")
        again = train(tmp_path / "cuda", "cuda")
    for key, value in plain.items():
        torch.testing.assert_close(posed[key], value, atol=1e-5, rtol=1e-4)
        assert torch.equal(again[key], posed[key])


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_public_way(choosy_models, pictures, way):
    few = pictures[1::2]  # noise, a pale picture, a grainy one
    plain = [*way(choosy_models, few)]
    with posing():
        posed = [*way(pose(choosy_models), few)]
    compare(plain, posed, levels=1, mean=0.01)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_public_way_on_a_real_one(choosy_models, pictures, way):
    """Equal depths and labels; after one step at most 2 levels apart, after twelve 1 on average."""
    moved = copy.deepcopy(choosy_models).to("cuda")
    assert moved.compute.precision == "float32"
    few = pictures[1::2]
    compare(way(choosy_models, few), way(moved, few), levels=2, mean=1)
