"""Warped photographs are recognised by their waviness; others, soft and plain ones are not."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio as psnr

from dga.corruptions import corrupt
from dga.explanation.warp import measure_warp, measure_waviness
from dga.images import Pixels, recompress_jpeg, to_tensor
from dga.photograph import repair_photograph
from tests.fixtures.pictures import photograph

NAMES = ("astronaut", "chelsea", "coffee", "rocket")


def warp(pixels: Pixels, spacing: float, shift: float) -> Pixels:
    """Move pixels by so many on average, together with those that are nearer than ``spacing``."""
    rng, (height, width) = np.random.default_rng(1), pixels.shape[:2]
    coarse = rng.normal(size=(2, round(height / spacing), round(width / spacing)))
    moves = [
        shift * cv2.resize(one, (width, height), interpolation=cv2.INTER_CUBIC) for one in coarse
    ]
    rows, columns = (np.mgrid[:height, :width] + moves).astype(np.float32)
    return cv2.remap(pixels, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quality", [None, 85])
def test_warping_is_recognised_and_nothing_else_is_taken_for_it(name, quality):
    clean = photograph(name)
    warped = warp(clean, 6, 2.5)
    others = [clean, *(corrupt(clean, kind, 5, seed=1) for kind in ("defocus_blur", "frost"))]
    if quality:
        warped, *others = (np.asarray(recompress_jpeg(one, quality)) for one in (warped, *others))
    assert measure_warp(to_tensor(warped)) is not None
    assert all(measure_warp(to_tensor(one)) is None for one in others)


def test_the_more_is_warped_the_wavier_lines_are():
    clean = photograph("chelsea")
    waviness = [measure_warp(to_tensor(warp(clean, 6, shift))) or 0.0 for shift in (0.2, 2, 3)]
    assert waviness == sorted(waviness)
    assert waviness[0] == 0


@pytest.mark.parametrize("size", [(64, 64), (64, 300)])
def test_small_and_plain_pictures_are_not_warped(size):
    plain = np.full((*size, 3), 128, np.uint8)
    assert measure_warp(to_tensor(plain)) is None


@pytest.mark.parametrize("name", ["chelsea", "coffee"])
def test_warped_lines_are_straightened(photo_models, name):
    clean = photograph(name)
    warped = warp(clean, 6, 2.5)
    result = repair_photograph(photo_models, warped)
    assert result.facts()["found"] == "warping"
    assert result.is_mended
    assert measure_waviness(to_tensor(result.image)) < measure_waviness(to_tensor(warped))
    assert psnr(clean, result.image) > psnr(clean, warped)
    without = repair_photograph(replace(photo_models, dewarper=None), warped)
    assert not np.array_equal(without.image, result.image)


def test_texture_that_no_denoiser_straightens_is_left_alone(photo_models, monkeypatch):
    """As if a photograph passed for warped."""
    monkeypatch.setattr("dga.explanation.search.measure_warp", lambda x: 0.06)
    clean = photograph("chelsea")
    assert repair_photograph(photo_models, clean).is_unchanged
