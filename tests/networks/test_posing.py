"""Every path on a GPU that poses as one: no device is mixed, and results are the processor's."""

import copy
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from app.runs.settings import Settings
from app.runs.subject import Original, Subject
from app.runs.watch import watch
from dga.adapted import AdaptedClassifier, repair
from dga.batch_size import choose_batch_size
from dga.images import from_tensor, to_tensor
from dga.lab.data.cropping import Crop
from dga.lab.data.image_sets import find_images
from dga.lab.readers.runner import answer, create_runners
from dga.lab.saved_weights import save_weights
from dga.lab.training import classifier_trainer, diffusion_trainer, discriminator_trainer
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.studies import Study
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.published import PublishedDiscriminator
from dga.one_picture import adapt
from dga.photograph import repair_photograph
from dga.systems import parse_all
from tests.fixtures.models import TINY_NETWORK, noise, randomise
from tests.fixtures.posing import CUDA, pose, posing


def test_models_on_a_gpu(tiny_models):
    with posing():
        models = pose(tiny_models)
        networks = models.denoiser, models.explainer, models.classifier
        assert {p.device for network in networks for p in network.parameters()} == {CUDA}
        assert (models.device, models.to("cpu").device.type) == (CUDA, "cpu")
        assert tiny_models.device.type == "cpu"
        assert Compute.choose("cuda", "float32").device.type == "cuda"
        sizes = {(64, "cpu"): 16, (256, "cpu"): 1, (64, "cuda"): 256, (256, "cuda"): 16}
        for (side, device), most in sizes.items():
            assert choose_batch_size(torch.empty(9, 3, side, side, device=device)) == most


def test_fast_blocks_and_the_published_discriminator(tiny_models):
    x, time = noise(3, 3, 32, 32), torch.tensor([0, 100, 900])
    whole = dataclasses.replace(TINY_NETWORK, fold=1, image_size=32)
    judge = randomise(PublishedDiscriminator(whole, tiny_models.profile.schedule), 0)
    exact, plain = tiny_models.denoiser(x, time), judge(x, time)
    with posing():
        fast = Compute(CUDA, torch.bfloat16)
        denoiser = fast.prepare(copy.deepcopy(tiny_models.denoiser))
        gpu = x.to("cuda").requires_grad_()
        output = denoiser(gpu, time.to("cuda"))
        assert float((output.detach().cpu() - exact).abs().mean() / exact.abs().mean()) < 2e-2
        assert torch.autograd.grad(output.sum(), gpu)[0].device == CUDA
        posed = judge.to("cuda")(gpu.detach(), time.to("cuda"))
        assert posed.device == CUDA
        torch.testing.assert_close(posed.cpu(), plain, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["diffusion", "classifier", "discriminator", "generated"])
def test_training(name, tiny_models, tiny_profile, picture_folder, tmp_path):
    """A few steps with checkpoints, and going on from one."""
    schedule = dataclasses.replace(tiny_profile.schedule, steps=4)
    profile = dataclasses.replace(tiny_profile, schedule=schedule)
    images = find_images([picture_folder], Crop(32), profile.classifier.classes).load()
    config = TrainConfig(images=8, batch=4, lr=1e-3, bf16=False)
    weights = tmp_path / "diffusion"
    save_weights(tiny_models.denoiser.state_dict(), weights, {})

    def train(out: Path, device: str) -> dict[str, Tensor]:
        training = Training(profile, config, out, torch.device(device))
        if name == "diffusion":
            network = diffusion_trainer.train_diffusion(training, images)
        elif name == "classifier":
            network = classifier_trainer.train_classifier(training, images)
        else:
            study = Study("images", explanations=True)
            if name == "generated":
                study = Study(name, diffusion=weights, samples=3)
            network, _ = discriminator_trainer.train_discriminator(training, images, study)
        assert {p.device.type for p in network.parameters()} == {device}
        return {name: value.cpu() for name, value in network.state_dict().items()}

    plain = train(tmp_path / "cpu", "cpu")
    with posing():
        posed = train(tmp_path / "cuda", "cuda")
        again = train(tmp_path / "cuda", "cuda") if name == "diffusion" else posed
    for key, value in plain.items():
        torch.testing.assert_close(posed[key], value, atol=1e-5, rtol=1e-4)
        assert torch.equal(again[key], posed[key])


# Every public way through library and page


class Result(NamedTuple):
    """Of one picture, by which two devices are compared; ``steps``: to rebuild it, at most."""

    name: str
    depth: int
    image: np.ndarray
    label: str
    steps: int = 100


def by_adapt(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    for i, pixels in enumerate(pictures):
        run = adapt(models, pixels, i)
        label = run.x_t_star_prediction.label
        yield Result(f"{i} noised", run.t_star, run.forward.x_t_star, label, 0)
        for name, r in run.reconstructions.items():
            yield Result(f"{i} {name}", r.depth, r.image, r.prediction.label, r.forward.steps)


SYSTEMS = (
    "source", "tent", "memo", "diffpure", "dda-ensemble", "dga-ancestral", "dga-guided",
    "dga-plus+tent:batch=3", "dga-plus:permute=noise:batch=3",
)  # fmt: skip


def by_answer(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    """Every reader and sampler, a pair and a control."""
    runners = create_runners(models, parse_all(models.profile, SYSTEMS))
    x, classes = to_tensor(pictures).to(models.device), models.profile.classifier.classes
    for name, answers in answer(runners, x, range(len(x))).items():
        images = pictures if answers.pictures is None else from_tensor(answers.pictures)
        for i, row in enumerate(answers.probabilities):
            label = classes[int(row.argmax())]
            yield Result(f"{i} {name}", answers.depths[i], images[i], label)


def by_module(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    """``AdaptedClassifier``, made where the models are not and moved to them, and ``repair``."""
    classes = models.profile.classifier.classes
    model = AdaptedClassifier(copy.deepcopy(models).to("cpu"), "dga-plus").to(models.device)
    assert model.models.device == models.device
    x = torch.tensor(pictures).movedim(-1, 1) / 255
    for answers in (model(x), model(x.to(models.device))):
        for i, row in enumerate(answers):
            image = from_tensor(model.last.pictures[i])
            yield Result(f"{i}", model.last.depths[i], image, classes[int(row.argmax())])
    for i, pixels in enumerate(pictures):
        yield Result(f"{i} repaired", 0, repair(pixels, models), "")
    wide = repair_photograph(models, np.tile(pictures[-1], (1, 2, 1)), seed=3)
    depth, text = int(wide.depths.max()), str(wide.explanation.degradation)
    yield Result("photograph", depth, wide.image, text)


def by_page(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    """The page's run of the paper's method and its rival."""
    settings = Settings(seed=3, damage="none")
    subject = Subject.make(Original("own", "own", pictures[-1]), settings)
    parts = [part for part in watch(models, subject, settings) if "curve" not in part]
    record = {name: value for part in parts for name, value in part.items()}
    for name, image in subject.images.items():
        yield Result(name, record[name]["depth"], image, record[name]["reading"]["label"])
    yield Result("repaired", 0, subject.result, record["found"]["sentence"])


WAYS = (by_adapt, by_answer, by_module, by_page)


def compare(one: Iterator[Result], other: Iterator[Result], levels: int, mean: float) -> None:
    """Depths and labels are equal, and pictures within ``levels``, on average within ``mean``.

    A picture that took several steps may be further off in single pixels.
    """
    for first, second in zip(one, other, strict=True):
        assert (first.name, first.depth, first.label) == (second.name, second.depth, second.label)
        difference = np.abs(first.image.astype(int) - second.image)
        assert difference.mean() < mean, first.name
        assert first.steps > 1 or difference.max() <= levels, first.name


@pytest.mark.parametrize("way", WAYS)
def test_every_public_way(choosy_models, pictures, way):
    few = pictures[1::2]  # noise, a pale picture, a grainy one
    plain = [*way(choosy_models, few)]
    with posing():
        posed = [*way(pose(choosy_models), few)]
    compare(plain, posed, levels=1, mean=0.01)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS)
def test_every_public_way_on_a_real_one(choosy_models, pictures, way):
    """Equal depths and labels; after one step at most 2 levels apart, after twelve 1 on average."""
    moved = copy.deepcopy(choosy_models).to("cuda")
    assert moved.compute.precision == "float32"
    few = pictures[1::2]
    compare(way(choosy_models, few), way(moved, few), levels=2, mean=1)
