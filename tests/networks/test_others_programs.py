"""In other people's programs: the same answers whatever they have set for their own networks."""

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor

import dga
from dga.adapted_classifier import AdaptedClassifier
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models


@contextmanager
def everything() -> Iterator[None]:
    """Inference mode, autocast and doubles."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            yield
    finally:
        torch.set_default_dtype(usual)


def classify(method: str) -> Callable[[Models, np.ndarray], Tensor]:
    return lambda models, pixels: AdaptedClassifier(models, method).to("cpu")(batch_of(pixels))


def batch_of(*pictures: np.ndarray) -> Tensor:
    return torch.tensor(np.stack(pictures)).movedim(-1, 1).float() / 255


FUNCTIONS: dict[str, Callable[[Models, np.ndarray], np.ndarray | Tensor]] = {
    "adapt": lambda models, pixels: dga.adapt(models, pixels).reconstructions["dga-guided"].image,
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
    expected = work(choosy_models, pictures[5])
    with everything():
        result = work(choosy_models, pictures[5])
        assert torch.get_default_dtype() == torch.float64
        assert torch.is_inference_mode_enabled()
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("function", ["adapt", "repair", "repair_photograph"])
def test_another_device_may_be_the_default(choosy_models, pictures, function):
    """As a GPU is in many programs; here one without memory."""
    work = FUNCTIONS[function]
    expected = work(choosy_models, pictures[5])
    with torch.device("meta"):
        result = work(choosy_models, pictures[5])
        assert torch.get_default_device().type == "meta"
        models = dga.load_models("everyday16")
    assert np.array_equal(result, expected)
    assert models.device.type == "cpu"
    assert not any(p.is_meta for p in models.classifier.parameters())


def test_threads_that_overlap_leave_the_default_dtype():
    """One begins within the other's work and ends after it."""
    begun, may_end = threading.Event(), threading.Event()

    @isolate_numerics
    def outlive() -> torch.dtype:
        may_end.set()
        earlier.join(30)
        return torch.tensor(0.5).dtype

    @isolate_numerics
    def begin() -> None:
        begun.set()
        may_end.wait(30)

    earlier = threading.Thread(target=begin)
    with everything():
        earlier.start()
        assert begun.wait(30)
        assert outlive() == torch.float32
        assert torch.get_default_dtype() == torch.float64


def test_models_may_be_loaded_there():
    """And then serve outside: none of their weights belongs to inference mode alone."""
    with torch.inference_mode():
        models = dga.load_models("everyday16")
    networks = models.denoiser, models.discriminator, models.classifier
    assert not any(p.is_inference() for network in networks for p in network.parameters())


def test_it_is_sent_to_other_processes(choosy_models, pictures):
    """As DataLoader and multiprocessing do where they do not fork."""
    model, x = AdaptedClassifier(choosy_models), batch_of(*pictures[:2])
    assert torch.equal(pickle.loads(pickle.dumps(model))(x), model(x))
