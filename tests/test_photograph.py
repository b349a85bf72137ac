"""Whole photographs: a depth for each window."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio as psnr

import dga
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.grid import Grid
from dga.explanation.search import Explanation
from dga.explanation.veil import Veil
from dga.images import Pixels, to_pixels, to_square
from dga.networks.models import Models
from dga.photograph import Progress, RepairedPhotograph, photograph_steps, repair_photograph
from dga.sentences import describe_photograph


@pytest.fixture(scope="module")
def astronaut() -> Pixels:
    return to_pixels(to_square(Image.fromarray(skimage.data.astronaut()), 192))


def noisy(pixels: Pixels, deviation: float | np.ndarray, channels: int = 3) -> Pixels:
    noise = np.random.default_rng(0).normal(size=(*pixels.shape[:2], channels)) * deviation
    return (pixels + noise).round().clip(0, 255).astype(np.uint8)


# Windows


@pytest.mark.parametrize("shape", [(64, 64), (65, 200), (64, 1000), (190, 129)])
def test_windows_cover_everything_and_leave_no_seam(shape: tuple[int, int]) -> None:
    grid = Grid.over(shape, 64, 16)
    total, ones = torch.zeros(3, *shape), torch.ones(3, 64, 64)
    for number in range(len(grid)):
        grid.blend_into(total, number, ones)
    assert grid.tops[-1] + 64 == shape[0]
    assert grid.lefts[-1] + 64 == shape[1]
    assert max(np.diff(grid.tops), default=0) <= 48
    torch.testing.assert_close(total / grid.weight_map(), torch.ones(3, *shape))


# Repair


def test_a_picture_of_one_window_is_dga_plus(shipped_models: Models, cat: Pixels) -> None:
    noisy = dga.corrupt(cat, "gaussian_noise", 3, 0)
    seed = 7
    plus = dga.adapt(shipped_models, noisy, seed).reconstructions["dga-plus"]
    done = repair_photograph(shipped_models, noisy, seed)
    assert np.array_equal(done.image, plus.image)
    assert done.depths.tolist() == [[plus.depth]]
    assert not done.is_unchanged


UNDAMAGED: dict[str, Callable[[], Pixels]] = {
    "fine texture in grey": lambda: grey_of(skimage.data.coffee()[:256, :256, 1]),
    "fine texture in grey, too": lambda: grey_of(skimage.data.camera()[256:, 128:384]),
    "a dark sky": lambda: skimage.data.rocket()[:256, -256:],
}


@pytest.mark.parametrize("name", UNDAMAGED)
def test_undamaged_photographs_come_back_bit_for_bit(shipped_models: Models, name: str) -> None:
    pixels = np.ascontiguousarray(UNDAMAGED[name]())
    done = repair_photograph(shipped_models, pixels)
    assert done.is_unchanged
    assert np.array_equal(done.image, pixels)
    assert not done.depths.any()


def grey_of(values: np.ndarray) -> Pixels:
    """Grey as a picture, uint8 ``[H, W, 3]``."""
    return np.repeat(values[..., None], 3, 2)


def test_every_window_of_a_noisy_photograph_is_denoised(
    shipped_models: Models, astronaut: Pixels
) -> None:
    damaged = noisy(astronaut, 60)
    events = list(photograph_steps(shipped_models, damaged))
    done = events[-1]
    assert isinstance(done, RepairedPhotograph)
    assert (done.depths > 4).all()
    assert psnr(astronaut, done.image) > psnr(astronaut, damaged) + 5
    counted = [event for event in events if isinstance(event, Progress)]
    assert counted[-1].done == counted[-1].total == done.depths.size
    again = repair_photograph(shipped_models, damaged)
    assert np.array_equal(again.image, done.image)


def test_a_drawing_in_large_modules_is_left_alone(shipped_models: Models) -> None:
    modules = np.random.default_rng(0).integers(0, 2, (28, 28, 1), np.uint8) * 255
    drawing = np.repeat(np.repeat(modules, 8, 0), 8, 1).repeat(3, 2)
    assert (repair_photograph(shipped_models, drawing).image == drawing).all()


def test_impulses_are_not_taken_for_white_noise(shipped_models: Models, astronaut: Pixels) -> None:
    damaged = dga.corrupt(astronaut, "impulse_noise", 5, 1)
    done = repair_photograph(shipped_models, damaged)
    assert done.explanation.degradation.impulses is not None
    assert psnr(astronaut, done.image) > psnr(astronaut, damaged) + 8
    white = repair_photograph(shipped_models, dga.corrupt(astronaut, "gaussian_noise", 5, 1))
    assert white.explanation.degradation.impulses is None
    assert (white.depths > 8).all()


@pytest.mark.parametrize("shape", [(1, 200), (33, 31), (20, 400), (64, 65)])
def test_any_shape_is_kept(choosy_models: Models, shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    done = repair_photograph(choosy_models, pixels)
    assert done.image.shape == pixels.shape
    assert np.array_equal(repair_photograph(choosy_models, pixels).image, done.image)


HAZE = Degradation(veil=Veil(gain=2.0))


@pytest.mark.parametrize("degradation", [NO_DEGRADATION, HAZE])
@pytest.mark.parametrize("depth", [0, 3])
@pytest.mark.parametrize("is_mended", [False, True])
@pytest.mark.parametrize("is_unchanged", [False, True])
def test_facts_and_sentence_are_those_of_the_picture(
    degradation: Degradation, depth: int, is_mended: bool, is_unchanged: bool
) -> None:
    """Nothing is found where nothing was undone, and something where the picture changed."""
    facts = RepairedPhotograph(
        np.zeros((9, 9, 3), np.uint8),
        Explanation(degradation, 0, 0.0),
        np.array([[depth]]),
        is_crossed=True,
        is_mended=is_mended,
        is_unchanged=is_unchanged,
    ).facts()
    sentence = describe_photograph(facts)
    assert (facts["found"] == "none") == is_unchanged
    assert facts["mended"] == (is_mended and not is_unchanged)
    assert ("gain" in sentence) == (degradation is HAZE and not is_unchanged)
    assert ("left as it is" in sentence) == is_unchanged
    assert "none" not in sentence
    assert ("depth 3" in sentence) == (depth == 3 and not is_unchanged and not is_mended)
    assert ("invented" in sentence) == (is_mended and not is_unchanged)
