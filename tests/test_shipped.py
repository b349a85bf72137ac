"""The shipped everyday16 models on real photographs that come with installed packages."""

from __future__ import annotations

from pathlib import Path

import gradio
import numpy as np
import pytest
import skimage.data
from PIL import Image

from dga.corruptions import corrupt
from dga.images import to_pixels, to_square, to_tensor
from dga.models import Models
from dga.pipeline import adapt, classify

MEDIA = Path(gradio.__file__).parent / "media_assets" / "images"
PHOTOGRAPHS = {
    "cat": lambda: Image.fromarray(skimage.data.chelsea()),
    "lion": lambda: Image.open(MEDIA / "lion.jpg"),
    "cheetah": lambda: Image.open(MEDIA / "cheetah.jpg"),
    "bus": lambda: Image.open(MEDIA / "bus.png"),
}
LABELS = {"cat": "cat", "lion": "big cat", "cheetah": "big cat", "bus": "bus"}


def _photograph(name: str) -> np.ndarray:
    return to_pixels(to_square(PHOTOGRAPHS[name](), 64))


def test_classifier_knows_most_of_them(shipped_models: Models) -> None:
    said = {n: classify(shipped_models, to_tensor(_photograph(n))[None]).label for n in LABELS}
    assert sum(said[name] == label for name, label in LABELS.items()) >= 3, said


@pytest.mark.parametrize("seed", [0, 1])
def test_clean_photographs_stop_early_and_noisy_ones_late(
    shipped_models: Models, seed: int
) -> None:
    clean, noisy = [], []
    for name in PHOTOGRAPHS:
        pixels = _photograph(name)
        clean.append(adapt(shipped_models, pixels, seed, routes=[]).t_star)
        damaged = corrupt(pixels, "gaussian_noise", 5, seed)
        noisy.append(adapt(shipped_models, damaged, seed, routes=[]).t_star)
    assert np.median(clean) <= 4, clean
    assert min(noisy) >= 10, noisy


def test_adaptation_removes_noise(shipped_models: Models, cat: np.ndarray) -> None:
    """The rebuilt picture is closer to the clean one than its noisy input was."""
    noisy = corrupt(cat, "gaussian_noise", 4, seed=0)
    run = adapt(shipped_models, noisy, seed=0)

    def error(pixels: np.ndarray) -> float:
        return float(np.sqrt(np.mean((pixels.astype(float) - cat) ** 2)))

    guided = run.reconstructions["dga-guided"].image
    assert error(guided) < 0.75 * error(noisy)
    assert run.stop.crossed
