"""The low-pass filter and its gradient step."""

from __future__ import annotations

import pytest
import torch

from dga.diffusion import reverse
from dga.guidance import low_pass, structural_guide, structural_loss
from dga.networks.models import Models
from dga.profiles import GuidanceConfig


def _noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_low_pass_keeps_slow_waves_and_drops_fast_ones() -> None:
    ramp = torch.arange(64.0)
    slow = torch.cos(2 * torch.pi * ramp / 64).expand(1, 3, 64, 64)
    fast = torch.cos(torch.pi * ramp).expand(1, 3, 64, 64)
    inner = slice(8, 56)
    assert (low_pass(slow, 4) - slow)[..., inner, inner].abs().max() < 0.05
    assert low_pass(fast, 4)[..., inner, inner].abs().max() < 0.02


def test_low_pass_is_linear_and_keeps_constants() -> None:
    x, y = _noise(2, 3, 32, 32), _noise(2, 3, 32, 32, seed=1)
    torch.testing.assert_close(
        low_pass(2 * x + y, 4), 2 * low_pass(x, 4) + low_pass(y, 4), atol=1e-5, rtol=1e-5
    )
    flat = torch.full((1, 3, 64, 64), 0.3)
    torch.testing.assert_close(low_pass(flat, 4), flat, atol=1e-6, rtol=0)


def test_norm_is_taken_per_picture() -> None:
    x, y = _noise(3, 3, 32, 32), _noise(3, 3, 32, 32, seed=1)
    config = GuidanceConfig()
    together = structural_loss(x, y, config)
    alone = torch.cat([structural_loss(x[i : i + 1], y[i : i + 1], config) for i in range(3)])
    torch.testing.assert_close(together, alone)
    squared = structural_loss(x, y, GuidanceConfig(squared=True))
    torch.testing.assert_close(squared, 0.5 * together.square())


def test_guide_is_lambda_times_the_gradient() -> None:
    reference = _noise(2, 3, 32, 32, seed=1)
    x_k = _noise(2, 3, 32, 32).requires_grad_()
    x0_hat = 0.5 * x_k  # a network whose Jacobian is known
    pull = structural_guide(reference, GuidanceConfig(scale=3.0))(x_k, x0_hat, torch.arange(2))
    step = 1e-3
    direction = pull / pull.norm()
    before = structural_loss(0.5 * x_k, reference, GuidanceConfig()).sum()
    after = structural_loss(0.5 * (x_k - step * direction), reference, GuidanceConfig()).sum()
    assert ((before - after) / step).item() == pytest.approx(pull.norm().item() / 3.0, rel=2e-2)


def test_guidance_does_not_depend_on_the_batch(tiny_models: Models) -> None:
    reference = _noise(8, 3, 32, 32, seed=4).clamp(-1, 1)
    x = _noise(8, 3, 32, 32)
    seeds, depths = list(range(8)), [3, 1, 2, 3, 3, 1, 2, 3]
    config = GuidanceConfig(scale=2.0)

    def finish(rows: slice) -> list[torch.Tensor]:
        guide = structural_guide(reference[rows], config)
        states: dict[int, torch.Tensor] = {}
        for step in reverse(
            tiny_models.schedule, tiny_models.denoiser, x[rows], depths[rows], seeds[rows], guide
        ):
            states |= dict(zip(step.rows.tolist(), step.x, strict=True))
        return [states[i] for i in sorted(states)]

    together = finish(slice(0, 8))
    for i in range(8):
        torch.testing.assert_close(finish(slice(i, i + 1))[0], together[i], atol=1e-4, rtol=0)


def test_guidance_moves_the_result_towards_the_reference(tiny_models: Models) -> None:
    reference = _noise(1, 3, 32, 32, seed=9).clamp(-1, 1)
    x = _noise(1, 3, 32, 32)

    def distance(scale: float) -> float:
        guide = structural_guide(reference, GuidanceConfig(scale=scale)) if scale else None
        *_, last = reverse(tiny_models.schedule, tiny_models.denoiser, x, [40], [0], guide)
        return float(structural_loss(last.x, reference, GuidanceConfig()))

    assert distance(2.0) < distance(0.0)
