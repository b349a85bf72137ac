"""The diffusion process against the guided_diffusion package, and its own properties."""

import pytest
import torch
from guided_diffusion.respace import SpacedDiffusion
from guided_diffusion.script_util import create_gaussian_diffusion

from dga.diffusion import (
    ANCESTRAL,
    ForwardPath,
    ReverseProcess,
    Schedule,
    draw_step_noise,
    predict_x0,
)
from dga.profiles import ScheduleConfig

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
    noise = (chain - abar[depth].sqrt() * x_0) / (1 - abar[depth]).sqrt()
    expected = package.q_sample(x_0[None], torch.tensor([depth - 1]), noise=noise.float()[None])
    assert (path[depth] - expected[0]).abs().max() < TOLERANCE


@pytest.mark.parametrize("depth", [1, 2, 3, 50, 100])
def test_ancestral_step_equals_p_sample(schedule, package, tiny_models, monkeypatch, depth):
    generator = torch.Generator().manual_seed(depth)
    x = torch.randn(2, 3, 32, 32, generator=generator)
    noise = torch.randn(2, 3, 32, 32, generator=generator)
    both = torch.tensor([depth, depth])
    output = tiny_models.denoiser(x, schedule.time[both])
    x0_hat = predict_x0(schedule, x, both, output[:, :3])
    ours = ANCESTRAL.step(schedule, output, x0_hat, x, both, both - 1, noise)
    monkeypatch.setattr(torch, "randn_like", lambda like: noise)
    theirs = package.p_sample(tiny_models.denoiser, x, torch.tensor([depth - 1] * 2))
    assert (ours - theirs["sample"]).abs().max() < TOLERANCE
    assert (x0_hat - theirs["pred_xstart"]).abs().max() < TOLERANCE


def test_reverse_lets_pictures_leave_at_their_own_depth(schedule, tiny_models):
    x = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(3))
    depths = [2, 0, 5, 1]
    process = ReverseProcess(schedule, tiny_models.denoiser)
    steps = list(process.run(x, depths, seeds=[1, 2, 3, 4]))
    assert [s.indices.tolist() for s in steps] == [[0, 2, 3], [0, 2], [2], [2], [2]]
    assert torch.equal(steps[-1].x[1], x[1])
    for i, depth in enumerate(depths):
        alone = list(process.run(x[i : i + 1], [depth], seeds=[i + 1]))
        assert len(alone) == depth
        if depth:
            torch.testing.assert_close(alone[-1].x[0], steps[-1].x[i], atol=1e-5, rtol=0)
