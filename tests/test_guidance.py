"""The low-pass filter and its gradient step."""

import pytest
import torch
import torch.nn.functional as F

from dga.guidance import StructuralGuide, compute_structural_loss, low_pass
from dga.profiles import GuidanceConfig
from tests.fixtures.models import noise


@pytest.mark.parametrize("size", [(64, 64), (37, 50), (5, 64), (3, 1)])
@pytest.mark.parametrize("factor", [1, 4, 7])
def test_low_pass_is_the_interpolation(size, factor):
    """Down and up, and its gradient; twice the same bits."""
    x = noise(2, 3, *size).requires_grad_()
    small = tuple(max(1, side // factor) for side in size)
    down = F.interpolate(x, size=small, mode="bicubic", antialias=True)
    expected = F.interpolate(down, size=size, mode="bicubic", antialias=True)
    with torch.inference_mode():
        low_pass(x, factor)  # what this leaves behind must not hinder a gradient
    ours, weight = low_pass(x, factor), noise(2, 3, *size, seed=1)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    gradients = [torch.autograd.grad((y * weight).sum(), x)[0] for y in (ours, expected)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=0)
    again = low_pass(x, factor)
    assert torch.equal(again, ours)
    assert torch.equal(torch.autograd.grad((again * weight).sum(), x)[0], gradients[0])


def test_guide_is_lambda_times_the_gradient():
    reference = noise(2, 3, 32, 32, seed=1)
    x_k = noise(2, 3, 32, 32).requires_grad_()
    x0_hat = 0.5 * x_k  # a network whose Jacobian is known
    pull = StructuralGuide(reference, GuidanceConfig(scale=3.0))(x_k, x0_hat, torch.arange(2))
    step = 1e-3
    direction = pull / pull.norm()
    before = compute_structural_loss(0.5 * x_k, reference, GuidanceConfig()).sum()
    after = compute_structural_loss(
        0.5 * (x_k - step * direction), reference, GuidanceConfig()
    ).sum()
    assert ((before - after) / step).item() == pytest.approx(pull.norm().item() / 3.0, rel=2e-2)
