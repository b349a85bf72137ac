"""In other people's programs: the same answers whatever they have set for their own networks."""

import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, contextmanager

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import dga
from dga import pipeline
from dga.adapted import AdaptedClassifier, stateless
from dga.images import to_tensor
from dga.readers import answer


@contextmanager
def default_dtype(kind):
    usual = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        yield
    finally:
        torch.set_default_dtype(usual)


def all_of_them() -> AbstractContextManager:
    stack = ExitStack()
    for begin in list(SURROUNDINGS.values())[:4]:
        stack.enter_context(begin())
    return stack


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager]] = {
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "float64": lambda: default_dtype(torch.float64),
    "float16": lambda: default_dtype(torch.float16),
    "no_grad": torch.no_grad,
    "all": all_of_them,
}


FUNCTIONS = {
    "adapt": lambda models, pixels: dga.adapt(models, pixels).reconstructions["dga-guided"].image,
    "adapt_steps": lambda models, pixels: (
        [*pipeline.adapt_steps(models, pixels)][-1].search.x_t_star
    ),
    "answer": lambda models, pixels: answer(
        {"one": stateless(models, "dga-guided:depth=3")}, to_tensor(pixels)[None], [0]
    )["one"].probabilities.numpy(),
    "repair": lambda models, pixels: dga.repair(pixels, models),
    "repair_photograph": lambda models, pixels: (
        dga.repair_photograph(models, np.tile(pixels, (2, 3, 1))).image
    ),
}


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_pictures_are_the_same(choosy_models, pictures, around, function):
    work, pixels = FUNCTIONS[function], pictures[0]
    expected = work(choosy_models, pixels)
    with SURROUNDINGS[around]():
        dtype = torch.get_default_dtype()
        found = work(choosy_models, pixels)
        assert torch.get_default_dtype() == dtype
        assert torch.is_inference_mode_enabled() == (around in ("inference", "all"))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize("method", ["dga-plus", "dga-guided:tau=0.6", "source"])
def test_a_classifier_answers_the_same(choosy_models, pictures, around, method):
    x = torch.tensor(pictures).movedim(-1, 1).float() / 255
    expected = AdaptedClassifier(choosy_models, method)(x)
    with SURROUNDINGS[around]():
        model = AdaptedClassifier(choosy_models, method).to("cpu")
        found = model(x * 1)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)


def test_models_may_be_loaded_there():
    """And then serve outside: none of their weights belongs to inference mode alone."""
    with torch.inference_mode():
        models = dga.load_models("everyday16")
    networks = models.denoiser, models.discriminator, models.classifier
    assert not any(p.is_inference() for network in networks for p in network.parameters())
    assert not torch.is_inference_mode_enabled()


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
    loader = DataLoader(
        Repaired(choosy_models, pictures[:4]), 2, num_workers=workers, timeout=120 * bool(workers)
    )
    found = torch.cat(list(loader)).numpy()
    assert np.array_equal(found, [dga.repair(one, choosy_models) for one in pictures[:4]])


def test_it_is_sent_to_other_processes(choosy_models, pictures):
    """As DataLoader and multiprocessing do where they do not fork."""
    x = torch.tensor(pictures[:2]).movedim(-1, 1).float() / 255
    model = AdaptedClassifier(choosy_models)
    assert torch.equal(pickle.loads(pickle.dumps(model))(x), model(x))


class Answering(nn.Module):
    """A user's module."""

    def __init__(self, answer: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x: Tensor) -> object:
        return self.answer(x)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (lambda x: x.mean((1, 2, 3))[:, None], "two classes"),
        (lambda x: x.mean((1, 2, 3)), "one row a picture"),
        (lambda x: x.mean((2, 3)).softmax(1), "probabilities"),
        (lambda x: x, "one row a picture"),
        (lambda x: {"logits": x.mean((2, 3))}, "dict"),
        (lambda x: (x.mean((2, 3)), None), "tuple"),
        (lambda x: x.mean((2, 3))[:1], "one row a picture"),
    ],
)
def test_modules_that_cannot_be_classifiers(choosy_models, pictures, answer, cause):
    x = torch.tensor(pictures[:2]).movedim(-1, 1).float() / 255
    with pytest.raises(ValueError, match=cause) as caught:
        AdaptedClassifier(choosy_models, "source", Answering(answer))(x)
    assert "\n" not in str(caught.value)


def test_logits_of_a_users_module_are_read(choosy_models, pictures):
    x = torch.tensor(pictures[:2]).movedim(-1, 1).float() / 255
    model = Answering(lambda x: 9 * x.mean((2, 3)))
    found = AdaptedClassifier(choosy_models, "source", model)(x)
    torch.testing.assert_close(found, (9 * x.mean((2, 3))).log_softmax(1), atol=0.02, rtol=0)
