"""What the discriminator is shown of right and wrong explanations, and the prior's depths."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dga.diffusion import Schedule
from dga.images import to_tensor
from dga.lab.training import diffusion_trainer
from dga.lab.training.loop import TrainConfig
from dga.lab.training.random_explanations import (
    VISIBLE_CHANGE,
    SecondPicture,
    draw_depth,
    draw_inverse,
    draw_second_picture,
)
from dga.profiles import Profile, get_profile

CONFIG = TrainConfig(images=64, batch=32, lr=1e-3)


@pytest.fixture
def schedule(tiny_profile: Profile) -> Schedule:
    return Schedule.from_config(tiny_profile.schedule)


def _noisy(x: Tensor, deviation: float) -> Tensor:
    return x + deviation * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))


@settings(deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["flat", "noise", "point", "ramp"]))
def test_any_inverse_of_any_picture_is_a_picture(seed, kind):
    x = {
        "flat": torch.full((3, 32, 32), 0.3),
        "noise": _noisy(torch.zeros(3, 32, 32), 0.5).clamp(-1, 1),
        "point": torch.nn.functional.pad(torch.ones(3, 1, 1), (15, 16, 15, 16), value=-1.0),
        "ramp": torch.linspace(-1, 1, 32).expand(3, 32, 32),
    }[kind]
    restored = draw_inverse(x, np.random.default_rng(seed))
    assert restored.shape == x.shape
    assert bool(restored.isfinite().all())
    assert restored.abs().max() <= 1


def test_a_clean_picture_is_spoilt_or_stays_source(cat, schedule):
    """Against a corrupted member that is known by its one colour."""
    x, marked = to_tensor(cat), torch.full((3, *cat.shape[:2]), 0.25)

    def draw(seed: int) -> SecondPicture:
        return draw_second_picture(x, marked, 0, schedule, np.random.default_rng(seed))

    pairs = [draw(seed) for seed in range(200)]
    sources = [pair for pair in pairs if pair.target == 0]
    assert all(float((pair.x - x).abs().mean()) < VISIBLE_CHANGE for pair in sources)
    assert not any(pair.deviation for pair in sources)
    untouched = sum(torch.equal(pair.x, marked) for pair in pairs)
    assert 0.2 < untouched / 200 < 0.6
    assert 0 < len(sources) / 200 < 0.3
    assert torch.equal(draw(3).x, pairs[3].x)
    assert [draw(seed).depth for seed in range(200)] == [pair.depth for pair in pairs]


@given(st.integers(0, 2**32), st.floats(0, 1.5), st.integers(0, 100))
def test_depths_are_in_the_chain(seed, deviation, ordinary):
    schedule = Schedule.from_config(get_profile("everyday16").schedule)
    depth = draw_depth(schedule, ordinary, deviation, np.random.default_rng(seed))
    assert 0 <= depth <= schedule.steps


def test_timesteps_are_drawn_where_they_are_used(tiny_profile, images):
    config = TrainConfig(images=2000, batch=2000, lr=1e-3)
    total = tiny_profile.schedule.timesteps
    last = diffusion_trainer.find_last_timestep(
        tiny_profile.schedule, tiny_profile.schedule.steps // 2
    )
    _, ordinary, noise = diffusion_trainer.DiffusionBatches(images, total, config)[0]
    _, time, same_noise = diffusion_trainer.DiffusionBatches(images, total, config, last)[0]
    assert torch.equal(noise, same_noise)
    deep, usually = (float((drawn > last).float().mean()) for drawn in (time, ordinary))
    assert 0.02 < deep < 0.08 < usually
    inside = time[time <= last].double() / last
    assert np.histogram(inside, 4, (0, 1))[0].min() > 350
    assert int(time.max()) < total


@pytest.mark.parametrize("depth", [0, 101])
def test_a_deepest_depth_is_one_of_the_chain(tiny_profile, depth):
    with pytest.raises(ValueError, match="deepest depth is 1 to"):
        diffusion_trainer.find_last_timestep(tiny_profile.schedule, depth)
