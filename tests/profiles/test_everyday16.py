"""The shipped everyday16 models on real photographs that come with installed packages."""

from pathlib import Path

import gradio
import numpy as np
import skimage.data
from PIL import Image

from dga.adaptation import adapt, adapt_steps
from dga.corruptions import corrupt
from dga.images import Pixels, to_pixels, to_square
from dga.systems import parse

MEDIA = Path(gradio.__file__).parent / "media_assets" / "images"
PHOTOGRAPHS = {
    "cat": lambda: Image.fromarray(skimage.data.chelsea()),
    "coffee": lambda: Image.fromarray(skimage.data.coffee()),
    "portrait": lambda: Image.fromarray(skimage.data.astronaut()),
    "rocket": lambda: Image.fromarray(skimage.data.rocket()),
    "retina": lambda: Image.fromarray(skimage.data.retina()),
    "lion": lambda: Image.open(MEDIA / "lion.jpg"),
    "cheetah": lambda: Image.open(MEDIA / "cheetah.jpg"),
    "tower": lambda: Image.open(MEDIA / "tower.jpg"),
}


def _photograph(name: str) -> np.ndarray:
    return to_pixels(to_square(PHOTOGRAPHS[name](), 64))


def test_clean_photographs_stop_early_and_noisy_ones_late(shipped_models):
    """Photographs downsized from high resolution are source data: 7 of 8 stop by depth 4."""

    def t_star(pixels: Pixels, seed: int) -> int:
        *_, run = adapt_steps(shipped_models, pixels, seed, [], curve_depth=0)
        return run.t_star

    clean = [t_star(_photograph(name), seed) for seed, name in enumerate(PHOTOGRAPHS)]
    assert sum(depth <= 4 for depth in clean) >= 7, clean
    for seed, name in enumerate(PHOTOGRAPHS):
        noisy = corrupt(_photograph(name), "gaussian_noise", 5, seed)
        assert t_star(noisy, seed) >= 10, name


def test_clean_photographs_come_back_bit_for_bit(shipped_models):
    """Photographs of people's own, downsized from high resolution: 6 of 8 untouched."""
    same = []
    for seed, name in enumerate(PHOTOGRAPHS):
        pixels = _photograph(name)
        run = adapt(shipped_models, pixels, seed, [parse(shipped_models.profile, "dga-plus")])
        same.append(np.array_equal(run.plus.image, pixels))
        assert run.plus_forward.is_unchanged == same[-1]
    assert sum(same) >= 6, same
