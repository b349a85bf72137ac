import pytest

from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.titles import phrase, short, title


@pytest.mark.parametrize(
    ("name", "said", "titled", "one_word"),
    [
        ("gaussian_noise", "Gaussian noise", "Gaussian noise", "Gaussian"),
        ("jpeg_compression", "JPEG compression", "JPEG compression", "JPEG"),
        ("motion_blur", "motion blur", "Motion blur", "Motion"),
        ("fog", "fog", "Fog", "Fog"),
        ("gaussian_blur", "Gaussian blur", "Gaussian blur", "Gaussian blur"),
        ("weather", "weather", "Weather", "Weather"),
    ],
)
def test_corruptions_have_titles(name, said, titled, one_word):
    assert (phrase(name), title(name), short(name)) == (said, titled, one_word)


def test_one_word_tells_them_apart():
    assert len({short(name) for name in (*CORRUPTIONS, *FAMILIES)}) == 19
