"""The shipped everyday16 models on real photographs that come with installed packages."""

from pathlib import Path

import gradio
import numpy as np
import pytest
import skimage.data
from PIL import Image

from dga.corruptions import corrupt
from dga.images import Pixels, to_pixels, to_square, to_tensor
from dga.networks.models import Models
from dga.one_picture import Reconstruction, adapt, adapt_steps, classify
from dga.pipeline import ForwardResult
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


@pytest.mark.parametrize(("name", "label"), [("cat", "cat"), ("lion", "big cat")])
def test_classifier_knows_animals(shipped_models, name, label):
    assert classify(shipped_models, to_tensor(_photograph(name))[None])[0].label == label


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


def test_adaptation_removes_noise(shipped_models):
    """The rebuilt picture is closer to the clean one than its noisy input was."""
    lion = _photograph("lion").astype(float)
    noisy = corrupt(_photograph("lion"), "gaussian_noise", 3, seed=0)
    run = adapt(shipped_models, noisy, 0, [parse(shipped_models.profile, "dga-guided")])
    guided = run.reconstructions["dga-guided"].image
    assert np.square(guided - lion).mean() < 0.55 * np.square(noisy - lion).mean()
    assert run.forward.stop.is_crossed
    assert 4 < run.t_star < shipped_models.profile.stopping.max_depth


def _explain(
    models: Models, pixels: np.ndarray, seed: int = 0
) -> tuple[ForwardResult, Reconstruction]:
    run = adapt(models, pixels, seed, [parse(models.profile, "dga-plus")])
    return run.plus_forward, run.reconstructions["dga-plus"]


def test_clean_photographs_come_back_bit_for_bit(shipped_models):
    """Photographs of people's own, downsized from high resolution: 6 of 8 untouched."""
    same = []
    for seed, name in enumerate(PHOTOGRAPHS):
        pixels = _photograph(name)
        explained, result = _explain(shipped_models, pixels, seed)
        same.append(np.array_equal(result.image, pixels))
        assert explained.is_unchanged == same[-1]
    assert sum(same) >= 6, same


def test_the_entry_depth_reads_the_noise_level(shipped_models):
    """Deeper with every severity of Gaussian noise; other kinds are found, too."""
    lion = _photograph("lion")

    def entry(name: str, severity: int) -> int:
        explained, result = _explain(shipped_models, corrupt(lion, name, severity, seed=0))
        assert result.depth >= explained.explanation.entry > 0
        assert result.forward.steps == 1
        return explained.explanation.entry

    entries = [entry("gaussian_noise", severity) for severity in (2, 3, 4, 5)]
    assert entries == sorted(set(entries)), entries
    assert min(entry("shot_noise", 4), entry("impulse_noise", 4)) > 5
