"""Every path on a GPU that poses as one: no device is mixed, and results are the processor's."""

import copy
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
import torch

from dga.adaptation import adapt
from dga.adapted_classifier import AdaptedClassifier
from dga.images import from_tensor, to_tensor
from dga.lab.readers.runner import answer, create_runners
from dga.networks.models import Models
from dga.photograph import repair, repair_photograph
from tests.fixtures.posing import pose, posing


class Result(NamedTuple):
    """Of one picture, by which two devices are compared."""

    name: str
    depth: int
    image: np.ndarray
    label: str


def by_adapt(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    for i, pixels in enumerate(pictures):
        run = adapt(models, pixels, i)
        label = run.x_t_star_prediction.label
        yield Result(f"{i} noised", run.t_star, run.forward.x_t_star, label)
        for name, r in run.reconstructions.items():
            yield Result(f"{i} {name}", r.depth, r.image, r.prediction.label)


SYSTEMS = (
    "source", "tent", "memo", "diffpure", "dda-ensemble", "dga-ancestral", "dga-guided",
    "dga-plus+tent:batch=2", "dga-plus:permute=noise:batch=2",
)  # fmt: skip


def by_answer(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    """Every reader and sampler, a pair and a control."""
    runners = create_runners(models, SYSTEMS)
    x, classes = to_tensor(pictures).to(models.device), models.profile.classifier.classes
    for name, answers in answer(runners, x, range(len(x))).items():
        for i, one in enumerate(answers):
            image = pictures[i] if one.picture is None else from_tensor(one.picture)
            label = classes[int(one.probabilities.argmax())]
            yield Result(f"{i} {name}", one.depth, image, label)


def by_module(models: Models, pictures: np.ndarray) -> Iterator[Result]:
    """``AdaptedClassifier``, made where the models are not and moved to them, and ``repair``."""
    classes = models.profile.classifier.classes
    model = AdaptedClassifier(copy.deepcopy(models).to("cpu"), "dga-plus").to(models.device)
    assert model.models.device == model.models.compute.device == models.device
    x = torch.tensor(pictures).movedim(-1, 1) / 255
    for answers in (model(x), model(x.to(models.device))):
        for i, row in enumerate(answers):
            image = from_tensor(model.last[i].picture)
            yield Result(f"{i}", model.last[i].depth, image, classes[int(row.argmax())])
    yield Result("repaired", 0, repair(pictures[-1], models), "")
    wide = repair_photograph(models, np.tile(pictures[-1], (1, 2, 1)), seed=3)
    depth, text = int(wide.depths.max()), str(wide.explanation.degradation)
    yield Result("photograph", depth, wide.image, text)


WAYS = (by_adapt, by_answer, by_module)


def compare(one: Iterator[Result], other: Iterator[Result], levels: float) -> None:
    """Depths and labels are equal, and pictures within so many levels on average."""
    for first, second in zip(one, other, strict=True):
        assert (first.name, first.depth, first.label) == (second.name, second.depth, second.label)
        assert np.abs(first.image.astype(int) - second.image).mean() < levels, first.name


@pytest.mark.parametrize("way", WAYS)
def test_every_public_way(choosy_models, pictures, way):
    few = pictures[3::2]  # a dark picture, a grainy one
    plain = [*way(choosy_models, few)]
    with posing():
        posed = [*way(pose(choosy_models), few)]
    compare(plain, posed, levels=0.01)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS)
def test_every_public_way_on_a_real_one(choosy_models, pictures, way):
    moved = copy.deepcopy(choosy_models).to("cuda")
    assert moved.compute.precision == "float32"
    few = pictures[3::2]
    compare(way(choosy_models, few), way(moved, few), levels=1)
