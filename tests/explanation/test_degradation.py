"""Simple degradations and their inverses."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

import dga
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import Exposure
from dga.explanation.glass import Glass
from dga.explanation.noise_level import remove_impulses
from dga.explanation.operators import Blocks, Disk, MotionBlur
from dga.explanation.zoom import Zoom
from dga.images import to_levels, to_tensor
from tests.fixtures.pictures import photograph

SIDES = st.sampled_from([1, 2, 3, 5, 8, 16, 33])
KINDS = ("noise", "flat", "one bright pixel", "black and white", "ramp")


def drawn(kind: str, height: int, width: int, seed: int) -> Tensor:
    """A picture of an awkward kind, ``[3, H, W]`` at 8-bit levels."""
    rng = torch.Generator().manual_seed(seed)
    if kind == "flat":
        x = torch.full((3, height, width), float(torch.rand((), generator=rng) * 2 - 1))
    elif kind == "one bright pixel":
        x = torch.full((3, height, width), -1.0)
        x[:, seed % height, seed % width] = 1.0
    elif kind == "black and white":
        x = (torch.rand(1, height, width, generator=rng) > 0.5).float().expand(3, -1, -1) * 2 - 1
    elif kind == "ramp":
        x = torch.linspace(-1, 1, width).expand(3, height, width)
    else:
        x = torch.rand(3, height, width, generator=rng) * 2 - 1
    return to_levels(x).clone()


degradations = st.builds(
    Degradation,
    exposure=st.builds(
        Exposure, gain=st.floats(0.05, 30), offset=st.tuples(*[st.floats(-30, 30)] * 3)
    ),
    blur=st.sampled_from([0.0, 0.7, 1.0, 2.0, 5.5, 12.0]),
    regularisation=st.floats(1e-4, 1),
    impulses=st.none() | st.floats(0, 2),
    noise=st.floats(0, 2),
)


@settings(max_examples=150, deadline=None)
@given(degradations, st.sampled_from(KINDS), SIDES, SIDES, st.integers(0, 99))
def test_every_inverse_is_a_picture(found, kind, height, width, seed):
    """Same shape, finite, within [-1, 1], at 8-bit levels, and the input keeps its bits."""
    x = drawn(kind, height, width, seed)
    before = x.clone()
    z = found.invert(x)
    assert z.shape == x.shape
    assert z.isfinite().all()
    assert float(z.abs().max()) <= 1
    assert torch.equal(to_levels(z), z)
    assert torch.equal(x, before)


def test_nothing_to_invert_keeps_every_bit():
    x = drawn("noise", 9, 7, 1)
    assert NO_DEGRADATION.invert(x) is x
    assert Degradation(noise=0.5).invert(x) is x
    assert str(NO_DEGRADATION) == "none"
    found = Degradation(Exposure(3.0, (0.1, 0.0, -0.1)), blur=2.0, noise=0.41)
    assert str(found) == "gain 3, offset +0.10/+0.00/-0.10, blur 2 px, noise 0.41"


def test_impulses_go_and_other_values_keep_their_bits():
    x = torch.full((3, 9, 9), 0.25)
    x[0, 4, 4], x[1, 2, 7] = 1.0, -1.0
    assert torch.equal(remove_impulses(x, 0.35), torch.full_like(x, 0.25))
    smooth = drawn("ramp", 9, 33, 0)
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
    [Blocks((0, 3, 6), (0, 4, 8)), Disk(3.0), MotionBlur(9.0, 30.0), Glass(2.0), Zoom(1.2)],
    ids=lambda operator: operator.kind,
)
def test_operators_on_a_gpu(operator):
    x, y = (drawn("noise", 40, 40, seed) for seed in (1, 2))
    far_x, far_y = x.cuda(), y.cuda()
    assert_close(operator.invert(far_x).cpu(), operator.invert(x), atol=1e-3, rtol=1e-3)
    near = operator.solve_proximal(x, y, 0.01)
    assert_close(operator.solve_proximal(far_x, far_y, 0.01).cpu(), near, atol=1e-3, rtol=1e-3)
