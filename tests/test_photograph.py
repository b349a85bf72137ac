"""Photographs of any size, in one piece or in windows."""

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio as psnr

import dga
from dga.explanation.degradation import NO_DEGRADATION, Degradation, Explanation
from dga.explanation.veil import Veil
from dga.images import Pixels, recompress_jpeg
from dga.photograph import Progress, RepairedPhotograph, photograph_steps, repair_photograph
from dga.sentences import describe_photograph
from dga.steps import map_steps, take_result
from tests.fixtures.pictures import add_noise, photograph


@pytest.fixture(scope="module")
def astronaut() -> Pixels:
    return photograph("astronaut", 192)


def test_every_window_of_a_noisy_photograph_is_denoised(shipped_models):
    """Of one that is too large for one piece, and is not mended."""
    large = photograph("astronaut", 400)
    damaged, events = add_noise(large, 60), list[Progress | None]()
    done = take_result(map_steps(photograph_steps(shipped_models, damaged), events.append))
    assert (done.depths > 4).all()
    assert psnr(large, done.image) > psnr(large, damaged) + 5
    last = events[-1]
    assert last is not None
    assert last.done == last.total == done.depths.size > 1


def test_impulses_are_not_taken_for_white_noise(shipped_models, astronaut):
    damaged = dga.corrupt(astronaut, "impulse_noise", 5, 1)
    done = repair_photograph(shipped_models, damaged)
    assert done.explanation.degradation.impulses is not None
    assert psnr(astronaut, done.image) > psnr(astronaut, damaged) + 8
    white = repair_photograph(shipped_models, dga.corrupt(astronaut, "gaussian_noise", 5, 1))
    assert white.explanation.degradation.impulses is None
    assert (white.depths > 8).all()


@pytest.mark.parametrize(("quality", "gained"), [(None, 15), (85, 5)])
def test_salt_and_pepper_goes_also_after_jpeg(photo_models, astronaut, quality, gained):
    rng, damaged = np.random.default_rng(0), astronaut.copy()
    is_wrong = rng.random(astronaut.shape[:2]) < 0.04
    damaged[is_wrong] = rng.choice([0, 255], (is_wrong.sum(), 1))
    if quality:
        damaged = np.asarray(recompress_jpeg(damaged, quality))
    done = repair_photograph(photo_models, damaged)
    assert done.explanation.degradation.impulses is not None
    assert psnr(astronaut, done.image) > psnr(astronaut, damaged) + gained


@pytest.mark.parametrize("shape", [(1, 200), (33, 31), (20, 400), (64, 65)])
def test_any_shape_is_kept(choosy_models, shape):
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    done = repair_photograph(choosy_models, pixels)
    assert done.image.shape == pixels.shape
    assert np.array_equal(repair_photograph(choosy_models, pixels).image, done.image)


HAZE = Degradation(veil=Veil(gain=2.0))


@pytest.mark.parametrize("degradation", [NO_DEGRADATION, HAZE])
@pytest.mark.parametrize("depth", [0, 3])
@pytest.mark.parametrize("is_mended", [False, True])
@pytest.mark.parametrize("is_unchanged", [False, True])
def test_facts_and_sentence_are_those_of_the_picture(degradation, depth, is_mended, is_unchanged):
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
