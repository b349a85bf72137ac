"""Simple degradations and their inverses."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.testing import assert_close

import dga
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Exposure
from dga.explanation.noise_level import remove_impulses
from dga.explanation.operators import ArcMotion, Blocks, Disk, MotionBlur
from dga.explanation.zoom import Zoom
from dga.images import Pixels, to_levels, to_tensor
from tests.fixtures.pictures import photograph

SIDES = st.sampled_from([1, 2, 3, 5, 8, 16, 33])
SHAPES = st.tuples(SIDES, SIDES, st.just(3))


def draw_noise(shape: tuple[int, ...], seed: int) -> Pixels:
    """Any level at every place."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


PICTURES = arrays(np.uint8, SHAPES) | st.builds(draw_noise, SHAPES, st.integers(0, 99))
"""Of one colour but for some pixels, and noise; uint8 ``[H, W, 3]``."""
DEGRADATIONS = st.builds(
    Degradation,
    exposure=st.builds(Exposure, gain=st.floats(1, 30), black=st.floats(0, 0.9)),
    impulses=st.none() | st.floats(0, 2),
    noise=st.floats(0, 2),
)


@settings(max_examples=150, deadline=None)
@given(DEGRADATIONS, PICTURES)
def test_every_inverse_is_a_picture(degradation, pixels):
    """Same shape, finite, within [-1, 1], at 8-bit levels, and the input keeps its bits."""
    x = to_tensor(pixels)
    before = x.clone()
    z = degradation.invert(x)
    assert z.shape == x.shape
    assert z.isfinite().all()
    assert float(z.abs().max()) <= 1
    assert torch.equal(to_levels(z), z)
    assert torch.equal(x, before)


def test_nothing_to_invert_keeps_every_bit():
    x = to_tensor(draw_noise((9, 7, 3), 1))
    assert NO_DEGRADATION.invert(x) is x
    assert Degradation(noise=0.5).invert(x) is x


def test_impulses_go_and_other_values_keep_their_bits():
    x = torch.full((3, 9, 9), 0.25)
    x[0, 4, 4], x[1, 2, 7] = 1.0, -1.0
    assert torch.equal(remove_impulses(x, 0.35), torch.full_like(x, 0.25))
    smooth = torch.linspace(-1, 1, 33).expand(3, 9, -1)
    assert torch.equal(remove_impulses(smooth, 0.35), smooth)


def test_impulses_that_hide_one_another_go_too():
    """Of a quarter of all values hardly one is left, where a single median leaves hundreds."""
    x = to_tensor(photograph("chelsea"))
    y = to_tensor(dga.corrupt(photograph("chelsea"), "impulse_noise", 5, 0))
    is_left = (remove_impulses(y, 0.35) - x).abs() > 0.7
    assert float((y != x).float().mean()) > 0.2
    assert float(is_left.float().mean()) < 0.001


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize(
    "operator",
    [
        Blocks((0, 3, 6), (0, 4, 8)),
        Disk(3.0),
        MotionBlur(9.0, 30.0),
        ArcMotion(9.0, 90.0, 30.0, 0.2),
        Zoom(1.2),
    ],
    ids=lambda operator: operator.kind,
)
def test_operators_on_a_gpu(operator):
    x, y = (to_tensor(draw_noise((40, 40, 3), seed)) for seed in (1, 2))
    far_x, far_y = x.cuda(), y.cuda()
    assert_close(operator.invert(far_x).cpu(), operator.invert(x), atol=1e-3, rtol=1e-3)
    near = operator.solve_proximal(x, y, 0.01)
    assert_close(operator.solve_proximal(far_x, far_y, 0.01).cpu(), near, atol=1e-3, rtol=1e-3)
