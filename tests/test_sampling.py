"""Few-step sampling against the guided_diffusion package; what guides a step."""

import numpy as np
import pytest
import torch
from guided_diffusion import gaussian_diffusion as gd
from guided_diffusion.respace import SpacedDiffusion
from torch import Tensor, nn

from dga.diffusion import ANCESTRAL, FewSteps, ReverseProcess, draw_step_noise, predict_x0
from dga.guidance import StructuralGuide
from dga.profiles import GuidanceConfig
from tests.fixtures.models import noise

TOLERANCE = 2e-5


def _package(times: set[int]) -> SpacedDiffusion:
    return SpacedDiffusion(
        use_timesteps=times,
        betas=gd.get_named_beta_schedule("linear", 1000),
        model_mean_type=gd.ModelMeanType.EPSILON,
        model_var_type=gd.ModelVarType.LEARNED_RANGE,
        loss_type=gd.LossType.MSE,
        rescale_timesteps=False,
    )


def test_steps_are_even_and_end_at_zero():
    assert FewSteps(8).list_depths(24) == (24, 21, 18, 15, 12, 9, 6, 3, 0)
    assert FewSteps(4).list_depths(0) == (0,)
    for steps in (1, 3, 7, 100):
        for depth in range(1, 101):
            depths = FewSteps(steps).list_depths(depth)
            assert (depths[0], depths[-1], len(depths)) == (depth, 0, min(steps, depth) + 1)
            hops = -np.diff(depths)
            assert hops.min() >= 1
            assert hops.max() - hops.min() <= 1
    assert list(ANCESTRAL.list_depths(3)) == [3, 2, 1, 0]


@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_few_steps_equal_the_package(tiny_models, monkeypatch, eta):
    schedule, sampler = tiny_models.schedule, FewSteps(5, eta)
    way = sampler.list_depths(60)
    x = noise(1, 3, 32, 32)
    *before, ours = ReverseProcess(schedule, tiny_models.denoiser, sampler).run(x, [60], [9])
    package, theirs = _package({int(schedule.time[k]) for k in way[:-1]}), x
    for index, depth in zip(range(4, -1, -1), way, strict=False):
        drawn = draw_step_noise(9, "reverse", depth, (3, 32, 32))[None]
        monkeypatch.setattr(torch, "randn_like", lambda like, drawn=drawn: drawn)
        step = package.ddim_sample(tiny_models.denoiser, theirs, torch.tensor([index]), eta=eta)
        theirs = step["sample"]
    assert (ours.x - theirs).abs().max() < TOLERANCE
    assert len(before) == 4


class Constant(nn.Module):
    """A network whose noise does not depend on what it sees; it must never be asked for more."""

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        return noise(len(x), 6, *x.shape[2:], seed=4) * 0.3


def test_without_the_network_the_gradient_treats_noise_as_constant(tiny_models):
    """Where the noise is a constant, both gradients are the same; the clip counts in both."""
    schedule, x = tiny_models.schedule, noise(2, 3, 32, 32)
    reference = noise(2, 3, 32, 32, seed=1).clamp(-1, 1)
    ends = []
    for through in (True, False):
        config = GuidanceConfig(scale=3.0, through_network=through)
        guide = StructuralGuide(reference, config)
        *_, last = ReverseProcess(schedule, Constant(), guide=guide).run(x, [30, 20], [1, 2])
        ends.append(last.x)
    assert torch.equal(*ends)
    eps, depth = Constant()(x, x)[:, :3], torch.tensor([30, 20])
    assert (predict_x0(schedule, x, depth, eps).abs() == 1).any()


def test_a_long_step_is_guided_as_often_as_it_skips(tiny_models):
    """One step over all depths, unguided and guided, differs by depth times the pull."""
    schedule, x = tiny_models.schedule, noise(1, 3, 32, 32)
    guide = StructuralGuide(torch.zeros(1, 3, 32, 32), GuidanceConfig(scale=1.0))
    parts = schedule, tiny_models.denoiser, FewSteps(1)
    (free,) = ReverseProcess(*parts).run(x, [10], [0])
    (held,) = ReverseProcess(*parts, guide).run(x, [10], [0])
    leaf = x.clone().requires_grad_()
    eps = tiny_models.denoiser(leaf, schedule.time[[10]])[:, :3]
    pull = guide(leaf, predict_x0(schedule, leaf, torch.tensor([10]), eps), torch.tensor([0]))
    torch.testing.assert_close(free.x - held.x, 10 * pull, atol=1e-5, rtol=1e-4)
