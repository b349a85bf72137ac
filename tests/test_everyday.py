"""Everyday damage: every kind damages, grows with its strength, and repeats for a seed."""

import numpy as np
import pytest

from dga.corruptions import EVERYDAY, corrupt
from dga.everyday import KINDS
from dga.lab.data.corruption_names import parse_corruptions


@pytest.mark.parametrize("kind", EVERYDAY)
def test_every_kind_damages_more_with_its_strength(kind: str, cat: np.ndarray) -> None:
    picture = cat
    weak, strong = (corrupt(picture, kind, strength, 3) for strength in (1, 5))
    assert weak.shape == strong.shape == picture.shape
    assert weak.dtype == np.uint8
    errors = [np.abs(one.astype(float) - picture).mean() for one in (weak, strong)]
    assert 0 < errors[0] < errors[1]
    np.testing.assert_array_equal(strong, corrupt(picture, kind, 5, 3))


def test_names_and_functions_are_the_same_fifteen() -> None:
    assert tuple(KINDS) == EVERYDAY == parse_corruptions("everyday")
