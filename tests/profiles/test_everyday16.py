"""The shipped everyday16 models on real photographs that come with installed packages."""

from pathlib import Path

import gradio
import pytest
from PIL import Image

from dga.adaptation import judge_curve
from dga.corruptions import corrupt
from dga.images import Pixels, to_pixels, to_square, to_tensor
from dga.pipeline import ForwardProcess
from dga.steps import take_result
from tests.fixtures.pictures import photograph

MEDIA = Path(gradio.__file__).parent / "media_assets" / "images"


@pytest.fixture(scope="module")
def photographs() -> list[Pixels]:
    """Eight of people's own, downsized from high resolution: source data."""
    names = "chelsea", "coffee", "astronaut", "rocket", "retina"
    others = [Image.open(MEDIA / f"{name}.jpg") for name in ("lion", "cheetah", "tower")]
    return [
        *(photograph(name, 64) for name in names),
        *(to_pixels(to_square(image, 64)) for image in others),
    ]


def test_clean_photographs_stop_early_and_noisy_ones_late(shipped_models, photographs):
    """Of the clean ones 7 of 8 by depth 4."""

    def t_star(pixels: Pixels, seed: int) -> int:
        process = ForwardProcess(shipped_models, to_tensor(pixels), seed)
        forward = take_result(judge_curve(process, shipped_models.profile.stopping, 0))
        return forward.stop.t_star

    clean = [t_star(pixels, seed) for seed, pixels in enumerate(photographs)]
    assert sum(depth <= 4 for depth in clean) >= 7, clean
    for seed, pixels in enumerate(photographs):
        assert t_star(corrupt(pixels, "gaussian_noise", 5, seed), seed) >= 10, seed
