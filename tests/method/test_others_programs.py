"""In other people's programs: the same answers whatever they have set for their own networks."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import dga
from dga.adapted import AdaptedClassifier, build_predictor
from dga.images import to_tensor
from dga.networks.models import Models
from dga.readers import answer


@contextmanager
def doubles() -> Iterator[None]:
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(usual)


@contextmanager
def everything() -> Iterator[None]:
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16), doubles():
        yield


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager]] = {
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "float64": doubles,
    "all": everything,
}


def read(models: Models, pixels: np.ndarray) -> Tensor:
    predictors = {"one": build_predictor(models, "dga-guided:depth=3")}
    return answer(predictors, to_tensor(pixels)[None], [0])["one"].probabilities


def classify(method: str) -> Callable[[Models, np.ndarray], Tensor]:
    def work(models: Models, pixels: np.ndarray) -> Tensor:
        return AdaptedClassifier(models, method).to("cpu")(batch_of(pixels))

    return work


def batch_of(*pictures: np.ndarray) -> Tensor:
    return torch.tensor(np.stack(pictures)).movedim(-1, 1).float() / 255


FUNCTIONS: dict[str, Callable[[Models, np.ndarray], np.ndarray | Tensor]] = {
    "adapt": lambda models, pixels: dga.adapt(models, pixels).reconstructions["dga-guided"].image,
    "answer": read,
    "repair": lambda models, pixels: dga.repair(pixels, models),
    "repair_photograph": lambda models, pixels: (
        dga.repair_photograph(models, np.tile(pixels, (2, 3, 1))).image
    ),
    "dga-plus": classify("dga-plus"),
    "dga-guided": classify("dga-guided:tau=0.6"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_the_same(choosy_models, pictures, function):
    work = FUNCTIONS[function]
    expected = work(choosy_models, pictures[0])
    for name, around in SURROUNDINGS.items():
        with around():
            dtype = torch.get_default_dtype()
            result = work(choosy_models, pictures[0])
            assert torch.get_default_dtype() == dtype
            assert torch.is_inference_mode_enabled() == (name in ("inference", "all"))
        assert result.dtype == expected.dtype
        assert np.array_equal(result, expected), name


def test_models_may_be_loaded_there():
    """And then serve outside: none of their weights belongs to inference mode alone."""
    with torch.inference_mode():
        models = dga.load_models("everyday16")
    networks = models.denoiser, models.discriminator, models.classifier
    assert not any(p.is_inference() for network in networks for p in network.parameters())


def test_a_generator_that_is_left_ends(choosy_models, pictures):
    with torch.inference_mode():
        for _ in dga.adapt_steps(choosy_models, pictures[0]):
            assert torch.is_inference_mode_enabled()  # between events it is the caller's
            break


class Repaired(Dataset):
    """A user's data set that repairs its pictures as they are taken."""

    def __init__(self, models, pixels):
        self.models, self.pixels = models, pixels

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, i):
        return np.asarray(dga.repair(Image.fromarray(self.pixels[i]), self.models))


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loaders_workers(choosy_models, pictures, workers):
    dataset = Repaired(choosy_models, pictures[:4])
    loader = DataLoader(dataset, 2, num_workers=workers, timeout=120 * bool(workers))
    result = torch.cat(list(loader)).numpy()
    assert np.array_equal(result, [dga.repair(one, choosy_models) for one in pictures[:4]])


def test_it_is_sent_to_other_processes(choosy_models, pictures):
    """As DataLoader and multiprocessing do where they do not fork."""
    model, x = AdaptedClassifier(choosy_models), batch_of(*pictures[:2])
    assert torch.equal(pickle.loads(pickle.dumps(model))(x), model(x))
