"""Every fast path against the float32 reference, each with its tolerance."""

import copy
import dataclasses

import pytest
import torch
from torch import Tensor, nn

from dga.networks import compute as compute_module
from dga.networks.compute import Compute
from dga.networks.unet import Denoiser
from dga.profiles import NetworkConfig
from tests.fixtures.models import TINY_NETWORK, noise, randomise

CPU = torch.device("cpu")
ROUNDING = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 4e-3}
"""Mean error of the network's output over its mean size."""


def _copy(network: nn.Module, config: NetworkConfig, compute: Compute) -> Denoiser:
    twin = Denoiser(config)
    twin.load_state_dict(network.state_dict())
    twin.eval().requires_grad_(False)
    return compute.prepare(twin)


def _error(value: Tensor, exact: Tensor) -> float:
    return float((value - exact).abs().mean() / exact.abs().mean())


@pytest.mark.parametrize("dtype", list(ROUNDING))
def test_fast_network_and_its_gradient_stay_close(tiny_models, dtype):
    """Levels, resampling and attention included; 2 pictures at 2 depths."""
    config = dataclasses.replace(TINY_NETWORK, channel_mult=(1, 2), image_size=64, fold=2)
    exact = randomise(Denoiser(config), 5)
    fast = _copy(exact, config, Compute(CPU, dtype))
    fast.use_fast_blocks()  # in float32 nothing else does
    outputs, gradients = [], []
    try:
        nn.functional.conv2d(noise(1, 8, 8, 8).to(dtype), noise(8, 8, 3, 3).to(dtype))
    except RuntimeError:
        pytest.skip(f"this processor has no {dtype}")
    for network in (exact, fast):
        x = noise(2, 3, 64, 64).requires_grad_()
        output = network(x, torch.tensor([100, 400]))
        outputs.append(output.detach())
        gradients.append(torch.autograd.grad((output * noise(2, 6, 64, 64, seed=1)).sum(), x)[0])
        with torch.no_grad():  # the path without a gradient works in place
            again = network(x.detach(), torch.tensor([100, 400]))
        assert _error(again, outputs[-1]) < ROUNDING[dtype]
    assert outputs[1].dtype == torch.float32
    assert _error(outputs[1], outputs[0]) < ROUNDING[dtype]
    assert _error(gradients[1], gradients[0]) < 4 * ROUNDING[dtype]


@pytest.mark.parametrize(
    ("abilities", "expected"),
    [
        ({"avx2": True, "amx_bf16": False, "avx512_bf16": False}, torch.float32),
        ({"avx2": True, "amx_bf16": True}, torch.bfloat16),
        ({"avx512_bf16": True}, torch.bfloat16),
        ({}, torch.float32),
    ],
)
def test_a_processor_is_asked_for_its_units(monkeypatch, abilities, expected):
    """And not measured: a busy machine chooses as an idle one does."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: abilities)
    chosen = Compute.choose("cpu", "auto")
    assert chosen.dtype == expected


def test_networks_that_move_take_the_precision_of_the_new_device(tiny_models, monkeypatch):
    """As on a host that lends a GPU to a run: the processor's choice does not go along."""
    meta = torch.device("meta")
    choices = {"cpu": torch.float32, "meta": torch.bfloat16}
    monkeypatch.setattr(compute_module, "choose_fastest_dtype", lambda device: choices[device.type])
    monkeypatch.setattr(compute_module, "FULL_SIZE", 1)
    asked = copy.deepcopy(tiny_models)
    assert asked.device == CPU
    moved = asked.to("meta")
    assert (moved.device, asked.device) == (meta, meta)  # in place, and both know
    assert moved.compute.precision == "float32"  # was asked for by name
    chosen = copy.deepcopy(dataclasses.replace(tiny_models, compute=Compute.choose("cpu")))
    moved = chosen.to("meta")
    assert (moved.compute.device, moved.compute.precision) == (meta, "bfloat16")
    assert {p.dtype for p in moved.denoiser.parameters()} == {torch.float32, torch.bfloat16}
    assert {p.dtype for p in moved.explainer.parameters()} == {torch.float32}


def test_rounded_weights_are_never_called_float32(tiny_models, monkeypatch):
    """Neither those of the denoiser nor those of a discriminator that a processor rounds."""
    choices = {"cpu": torch.bfloat16, "meta": torch.float32}
    monkeypatch.setattr(compute_module, "choose_fastest_dtype", lambda device: choices[device.type])
    monkeypatch.setattr(compute_module, "FULL_SIZE", 1)
    compute, models = Compute.choose("cpu"), copy.deepcopy(tiny_models)
    for network in models.networks.values():
        compute.prepare(network)
    moved = dataclasses.replace(models, compute=compute).to("meta")
    assert (moved.compute.device.type, moved.compute.precision) == ("meta", "bfloat16")
    for network in (moved.denoiser, moved.explainer):
        assert network.dtype == torch.bfloat16
        assert {p.dtype for p in network.parameters()} == {torch.float32, torch.bfloat16}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_fast_network_on_a_gpu_stays_close(tiny_models, dtype):
    compute = Compute(torch.device("cuda"), dtype)
    fast = _copy(tiny_models.denoiser, TINY_NETWORK, compute)
    x, time = noise(2, 3, 32, 32), torch.tensor([100, 400])
    exact = tiny_models.denoiser(x, time)
    assert _error(fast(x.cuda(), time.cuda()).cpu(), exact) < ROUNDING[dtype]


@pytest.mark.parametrize("device", ["mps", "xpu", "cuda:99", "nothing", "meta:x"])
def test_devices_that_are_not_there_are_refused_in_a_sentence(device):
    with pytest.raises(ValueError, match="cannot be used here") as caught:
        Compute.choose(device)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
