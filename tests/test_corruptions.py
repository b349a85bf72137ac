"""Fifteen corruptions and fifteen everyday kinds of damage, each with its own seed."""

import hashlib

import numpy as np
import pytest

from dga.corruptions import CORRUPTIONS, EVERYDAY, EXTRA_CORRUPTIONS, corrupt


@pytest.mark.parametrize("name", CORRUPTIONS + EXTRA_CORRUPTIONS)
def test_the_same_seed_gives_the_same_picture(cat, name):
    """Whatever NumPy's global generator has drawn, and it goes on as before; from 32 pixels up."""
    small, results = cat[:32, :47], []
    for state in (1, 2):
        np.random.seed(state)
        expected = np.random.random(3)
        np.random.seed(state)
        results.append(corrupt(small, name, 5, seed=7))
        assert np.array_equal(np.random.random(3), expected)
    first, again = results
    assert first.dtype == np.uint8
    assert first.shape == small.shape
    assert np.array_equal(first, again)
    assert not np.array_equal(first, small)
    if name in ("gaussian_noise", "glass_blur", "snow", "elastic_transform"):
        assert not np.array_equal(first, corrupt(small, name, 5, seed=8))


PINNED = {
    "gaussian_noise": (111.80, 59.24), "shot_noise": (110.78, 62.28),
    "impulse_noise": (113.25, 55.80), "defocus_blur": (111.66, 33.52),
    "glass_blur": (110.00, 35.43), "motion_blur": (113.37, 34.58), "zoom_blur": (109.12, 38.84),
    "snow": (182.65, 45.14), "frost": (206.44, 38.97), "fog": (109.20, 27.34),
    "brightness": (168.20, 55.97), "contrast": (111.79, 28.84),
    "elastic_transform": (112.61, 40.83), "pixelate": (112.45, 39.29),
    "jpeg_compression": (112.74, 40.88),
}  # fmt: skip
"""Mean and deviation of chelsea's values at 64 px, severity 3, seed 0."""
DIGESTS = {"gaussian_noise": "b32f37590c258d41", "shot_noise": "5f4b73ed543ef891"}
"""SHA-256 of the same; the others' last bits differ between builds of OpenCV and processors."""


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_new_release_of_the_package_changes_no_result(cat, name):
    """What was evaluated and trained stays comparable; which corruptions take a seed, too."""
    picture = corrupt(cat, name, 3, seed=0)
    assert (picture.mean(), picture.std()) == pytest.approx(PINNED[name], abs=0.02)
    if name in DIGESTS:
        assert hashlib.sha256(picture.tobytes()).hexdigest()[:16] == DIGESTS[name]


def test_bad_requests_say_what_is_allowed(cat):
    with pytest.raises(ValueError, match="gaussian_noise, shot_noise"):
        corrupt(cat, "hail", 3, seed=0)
    for severity in (0, 6, 2.5, True):
        with pytest.raises(ValueError, match="from 1 to 5"):
            corrupt(cat, "fog", severity, seed=0)
    with pytest.raises(ValueError, match="at least 32 pixels"):
        corrupt(cat[:20], "fog", 3, seed=0)


@pytest.mark.parametrize("kind", EVERYDAY)
def test_every_kind_damages_more_with_its_strength(kind, cat):
    weak, strong = (corrupt(cat, kind, strength, 3) for strength in (1, 5))
    errors = [np.abs(one.astype(float) - cat).mean() for one in (weak, strong)]
    assert 0 < errors[0] < errors[1]
