"""The diffusion process against the guided_diffusion package, and its own properties."""

import numpy as np
import pytest
import torch
from guided_diffusion import gaussian_diffusion as gd
from guided_diffusion.respace import SpacedDiffusion
from guided_diffusion.script_util import create_gaussian_diffusion

from dga.diffusion import (
    ANCESTRAL,
    Estimate,
    FewSteps,
    ForwardPath,
    ReverseProcess,
    Schedule,
    draw_step_noise,
    predict_x0,
)
from dga.guidance import StructuralGuide
from dga.profiles import GuidanceConfig, ScheduleConfig
from tests.fixtures.models import noise

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    return Schedule.from_config(ScheduleConfig())


@pytest.fixture(scope="module")
def package() -> SpacedDiffusion:
    return create_gaussian_diffusion(
        steps=1000, learn_sigma=True, noise_schedule="linear", timestep_respacing="100"
    )


def test_schedule_equals_package(schedule, package):
    assert schedule.steps == 100
    assert schedule.time.tolist() == [0, *package.timestep_map]
    assert schedule.alpha_bar[0] == 1
    expected = torch.from_numpy(package.alphas_cumprod)
    torch.testing.assert_close(schedule.alpha_bar[1:], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("depth", [1, 2, 37, 100])
def test_forward_path_equals_q_sample(schedule, package, depth):
    x_0 = torch.rand(3, 16, 16, generator=torch.Generator().manual_seed(0)) * 2 - 1
    path = ForwardPath(schedule, x_0, seed=5).up_to(schedule.steps)
    abar = schedule.alpha_bar
    chain = x_0.double()
    for k in range(1, depth + 1):
        alpha = abar[k] / abar[k - 1]
        chain = alpha.sqrt() * chain + (1 - alpha).sqrt() * draw_step_noise(
            5, "forward", k, x_0.shape
        )
    assert (path[depth] - chain).abs().max() < TOLERANCE
    # The chain's marginal noise, given to the package's own closed form.
    marginal = (chain - abar[depth].sqrt() * x_0) / (1 - abar[depth]).sqrt()
    expected = package.q_sample(x_0[None], torch.tensor([depth - 1]), noise=marginal.float()[None])
    assert (path[depth] - expected[0]).abs().max() < TOLERANCE


@pytest.mark.parametrize("depth", [1, 2, 3, 50, 100])
def test_ancestral_step_equals_p_sample(schedule, package, tiny_models, monkeypatch, depth):
    x, drawn = noise(2, 3, 32, 32, seed=depth), noise(2, 3, 32, 32, seed=depth + 1)
    both = torch.tensor([depth, depth])
    output = tiny_models.denoiser(x, schedule.time[both])
    x0_hat = predict_x0(schedule, x, both, output[:, :3])
    mean, deviation = ANCESTRAL.step(schedule, Estimate(x, both, output, x0_hat), both - 1)
    ours = mean + deviation * drawn
    monkeypatch.setattr(torch, "randn_like", lambda like: drawn)
    theirs = package.p_sample(tiny_models.denoiser, x, torch.tensor([depth - 1] * 2))
    assert (ours - theirs["sample"]).abs().max() < TOLERANCE
    assert (x0_hat - theirs["pred_xstart"]).abs().max() < TOLERANCE


# A few steps, and what guides them


def keep_steps(times: set[int]) -> SpacedDiffusion:
    """The package's process of these timesteps alone."""
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
    package, theirs = keep_steps({int(schedule.time[k]) for k in way[:-1]}), x
    for index, depth in zip(range(4, -1, -1), way, strict=False):
        drawn = draw_step_noise(9, "reverse", depth, (3, 32, 32))[None]
        monkeypatch.setattr(torch, "randn_like", lambda like, drawn=drawn: drawn)
        step = package.ddim_sample(tiny_models.denoiser, theirs, torch.tensor([index]), eta=eta)
        theirs = step["sample"]
    assert (ours.x - theirs).abs().max() < 2 * TOLERANCE
    assert len(before) == 4


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
