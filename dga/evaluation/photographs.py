"""Photographs at their own size, damaged and repaired: is a depth for each place worth choosing?

Photographs come from installed packages. Rivals are classical denoisers, told the noise level that
we measured; controls are one depth for the whole photograph, and depths of other places.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from torch import Tensor
from tqdm import tqdm

from dga.corruptions import CORRUPTIONS, corrupt
from dga.evaluation.permutation import make_permutation
from dga.evaluation.results_file import ResultRow, ResultsFile
from dga.explanation.noise_level import matched_depth, noise_deviation
from dga.explanation.sharpness import disk
from dga.images import Pixels, through_jpeg, to_pixels, to_square, to_tensor
from dga.networks.classifier import predict
from dga.networks.models import Models
from dga.photograph import repair_photograph, usual
from dga.pipeline import Permutation

SEVERITIES = (3, 5)
LEVEL = 25.0
"""Of even noise, in 8-bit levels."""
SINGLE = range(2, 33, 2)
"""Depths among which the best single one is looked for."""
SINGLE_LEVELLED, SINGLE_ALIKE = "best single depth", "best single depth, same noise everywhere"
"""To a pixel that has noise only what it lacks is added, or to all the same."""
NOISES = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")
CLEAN = "none"


@dataclass(frozen=True)
class Source:
    """A photograph in an installed package, ``file`` below it."""

    package: str
    file: str
    licence: str

    def path(self) -> Path | None:
        """None where the package is not installed or has moved it."""
        spec = importlib.util.find_spec(self.package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        return folder / self.file if (folder / self.file).is_file() else None


# Settings are chosen on scikit-image's and figures reported from the others.
SPLITS: dict[str, dict[str, Source]] = {
    "tune": {
        "astronaut": Source("skimage", "data/astronaut.png", "public domain (NASA)"),
        "cat": Source("skimage", "data/chelsea.png", "CC0"),
        "coffee": Source("skimage", "data/coffee.png", "CC0"),
        "rocket": Source("skimage", "data/rocket.jpg", "CC0"),
    },
    "report": {
        "temple": Source("sklearn", "datasets/images/china.jpg", "CC BY 2.0 (danielbuechele)"),
        "flower": Source("sklearn", "datasets/images/flower.jpg", "CC BY 2.0 (vultilion)"),
        "hopper": Source(
            "matplotlib", "mpl-data/sample_data/grace_hopper.jpg", "public domain (US Navy)"
        ),
        "cheetah": Source("gradio", "media_assets/images/cheetah.jpg", "Apache-2.0 package"),
        "cheetahs-face": Source("gradio", "test_data/cheetah2.jpg", "Apache-2.0 package"),
        "lion": Source("gradio", "media_assets/images/lion.jpg", "Apache-2.0 package"),
        "tower": Source("gradio", "media_assets/images/tower.jpg", "Apache-2.0 package"),
    },
}


def ramp(pixels: Pixels) -> Pixels:
    """White noise that grows from left to right."""
    across = np.linspace(0, 1, pixels.shape[1])[None, :, None]
    return _noisy(pixels, 90 * across**1.5)


def strokes(pixels: Pixels) -> Pixels:
    """White noise in two strokes of a brush, the rest untouched."""
    height, width = pixels.shape[:2]
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width]).reshape(2, 1, 1)
    first = ((y - 0.30) / 0.13) ** 2 + ((x - 0.42) / 0.20) ** 2
    second = ((y - 0.75) / 0.12) ** 2 + ((x - 0.70) / 0.22) ** 2
    return _noisy(pixels, 85 * np.maximum(np.exp(-(first**2)), np.exp(-(second**2)))[..., None])


def half_defocus(pixels: Pixels) -> Pixels:
    """Out of focus by 4 pixels on the right, fading over the middle tenth."""
    from scipy.ndimage import convolve

    kernel = disk(4.0).numpy()[..., None]
    blurred = convolve(pixels.astype(np.float64), kernel, mode="mirror")
    return _mixed(pixels, blurred, np.clip((_across(pixels) - 0.45) / 0.1, 0, 1))


def dark_corner(pixels: Pixels) -> Pixels:
    """A quarter of the light in the lower left corner."""
    rows = np.linspace(0, 1, pixels.shape[0])[:, None, None]
    return _mixed(pixels, pixels / 4, np.clip(1.5 * (rows - _across(pixels)), 0, 1))


UNEVEN: dict[str, Callable[[Pixels], Pixels]] = {
    "ramp": ramp, "strokes": strokes, "half defocus": half_defocus, "dark corner": dark_corner,
}  # fmt: skip


def grain(pixels: Pixels) -> Pixels:
    """White noise, the same in all three channels."""
    return _noisy(pixels, LEVEL, 1)


def stored_noise(pixels: Pixels) -> Pixels:
    """White noise, then JPEG of quality 75, which keeps less of the colours."""
    return to_pixels(through_jpeg(_noisy(pixels, LEVEL), 75))


COLOURLESS: dict[str, Callable[[Pixels], Pixels]] = {"grain": grain, "stored noise": stored_noise}


def _across(pixels: Pixels) -> np.ndarray:
    return np.linspace(0, 1, pixels.shape[1])[None, :, None]


def _noisy(pixels: Pixels, deviation: float | np.ndarray, channels: int = 3) -> Pixels:
    """``channels``: 1 for the same noise in all."""
    noise = np.random.default_rng(0).normal(size=(*pixels.shape[:2], channels)) * deviation
    return (pixels + noise).round().clip(0, 255).astype(np.uint8)


def _mixed(pixels: Pixels, other: np.ndarray, share: np.ndarray) -> Pixels:
    return (pixels * (1 - share) + other * share).round().clip(0, 255).astype(np.uint8)


def damages() -> dict[str, Callable[[Pixels], Pixels]]:
    """Undamaged, uneven ones, noise without colours, every corruption at each severity; by name."""
    found: dict[str, Callable[[Pixels], Pixels]] = {CLEAN: lambda p: p, **UNEVEN, **COLOURLESS}
    for severity in SEVERITIES:
        for name in (*CORRUPTIONS, "speckle_noise"):
            found[f"{name} {severity}"] = partial(
                corrupt, corruption=name, severity=severity, seed=1
            )
    return found


# Methods: a repaired picture, and at which depth, where there is a single one.

Repairs = Iterator[tuple[str, Callable[[], Pixels]]]


def repairs(models: Models, damaged: Pixels, damage: str) -> Repairs:
    """Methods by name; rivals where the damage is noise, controls there and where it is uneven."""
    noisy = damage.split()[0] in NOISES or damage in COLOURLESS
    yield "own depths", lambda: repair_photograph(models, damaged).image
    if noisy or damage in UNEVEN:
        yield "one depth", lambda: one_depth(models, damaged)
        yield "exchanged depths", lambda: exchanged(models, damaged)
    if noisy:
        level = float(noise_deviation(to_tensor(damaged)[None])[0]) / 2  # of pixels in [0, 1]
        yield from ((name, partial(rival, damaged, level)) for name, rival in RIVALS.items())


def one_depth(models: Models, damaged: Pixels) -> Pixels:
    """From the depth that the noise of the whole photograph matches."""
    level = float(noise_deviation(to_tensor(damaged)[None])[0])
    return repair_photograph(models, damaged, depth=matched_depth(models.schedule, level)).image


def exchanged(models: Models, damaged: Pixels) -> Pixels:
    """Each place gets noise level and depth of another one."""

    def control(windows: Tensor, seeds: Sequence[int]) -> Permutation:
        return make_permutation(models, windows, seeds, "noise")

    return repair_photograph(models, damaged, permutation=control).image


def non_local_means(damaged: Pixels, level: float) -> Pixels:
    """scikit-image's, with its documentation's settings."""
    from skimage.restoration import denoise_nl_means

    x = damaged / 255
    how = {"h": 0.8 * level, "sigma": level, "patch_size": 5, "patch_distance": 6}
    return _to_8_bits(denoise_nl_means(x, fast_mode=True, channel_axis=-1, **how))


def wavelets(damaged: Pixels, level: float) -> Pixels:
    """scikit-image's BayesShrink."""
    from skimage.restoration import denoise_wavelet

    return _to_8_bits(
        denoise_wavelet(
            damaged / 255, sigma=level, channel_axis=-1, convert2ycbcr=True, rescale_sigma=True
        )
    )


def opencv(damaged: Pixels, level: float) -> Pixels:
    """OpenCV's non-local means for colours."""
    import cv2

    strength = 255 * level
    return np.asarray(cv2.fastNlMeansDenoisingColored(damaged, None, strength, strength, 7, 21))


def bm3d(damaged: Pixels, level: float) -> Pixels:
    """Dabov et al., 2007; the package of its authors, a development dependency."""
    import bm3d as package

    return _to_8_bits(package.bm3d_rgb(damaged / 255, level))


RIVALS: dict[str, Callable[[Pixels, float], Pixels]] = {
    "non-local means": non_local_means, "wavelets": wavelets, "OpenCV": opencv, "BM3D": bm3d,
}  # fmt: skip


def _to_8_bits(x: np.ndarray) -> Pixels:
    return (np.nan_to_num(x) * 255).round().clip(0, 255).astype(np.uint8)


# The measurement


def measure(models: Models, split: str, out: Path, side: int, command: str) -> list[ResultRow]:
    """Repair every damaged photograph of a split; killed at any moment, the same call goes on.

    ``side``: of the middle square that is used, in pixels. Raises ``ValueError`` for an unknown
    split or results of other settings.
    """
    if split not in SPLITS:
        raise ValueError(f"Unknown split {split!r}. Splits: {', '.join(SPLITS)}.")
    done = ResultsFile(out, {
        "kind": "photographs", "split": split, "side": side, "profile": models.profile.name,
        "weights": models.weights, "methods": {}, "command": command,
        "precision": models.compute.precision,
    }, resume=True)  # fmt: skip
    found = {name: source.path() for name, source in SPLITS[split].items()}
    work = [(name, damage) for name in found if found[name] for damage in damages()]
    for name, damage in tqdm(work, unit="photograph", mininterval=1.0):
        path = found[name]
        assert path is not None
        with Image.open(path) as image:
            truth = to_pixels(to_square(image, side))
        done.append(_rows(models, name, truth, damage, done))
    return done.lines


def _rows(
    models: Models, name: str, truth: Pixels, damage: str, done: ResultsFile
) -> Iterator[ResultRow]:
    damaged = damages()[damage](truth)
    read = _reading(models, truth)

    def row(method: str, image: Pixels, seconds: float, depth: int | None = None) -> ResultRow:
        quality, similarity = compared(truth, image)
        return {
            "corruption": damage, "path": name, "method": method, "psnr": quality,
            "ssim": similarity, "same_reading": _reading(models, image) == read,
            "unchanged": bool(np.array_equal(image, damaged)), "depth": depth,
            "seconds": seconds,
        }  # fmt: skip

    if not done.has(damage, name, "damaged"):
        yield row("damaged", damaged, 0.0)
    for method, repair in repairs(models, damaged, damage):
        if not done.has(damage, name, method):
            begun = time.perf_counter()
            image = repair()
            yield row(method, image, time.perf_counter() - begun)
    for method, levelled in (SINGLE_LEVELLED, True), (SINGLE_ALIKE, False):
        if damage in UNEVEN and not done.has(damage, name, method):
            begun, tried = time.perf_counter(), []
            config = replace(usual(models), levelled=levelled)
            for depth in SINGLE:
                image = repair_photograph(models, damaged, config=config, depth=depth).image
                tried.append((compared(truth, image)[0], depth, image))
            _, depth, image = max(tried, key=lambda one: one[:2])
            each = (time.perf_counter() - begun) / len(tried)
            yield row(method, image, each, depth)


def compared(truth: Pixels, image: Pixels) -> tuple[float, float]:
    """PSNR in dB (at most 100) and SSIM."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    if np.array_equal(truth, image):
        return 100.0, 1.0
    similarity = structural_similarity(truth, image, channel_axis=-1)
    return float(peak_signal_noise_ratio(truth, image)), float(similarity)


def _reading(models: Models, pixels: Pixels) -> str:
    """What the classifier reads from the thumbnail."""
    size = models.profile.image_size
    x = to_tensor(to_pixels(to_square(Image.fromarray(pixels), size)))[None].to(models.device)
    return predict(models.classifier, x, models.profile.classifier)[0].label


def summary(rows: Sequence[ResultRow]) -> str:
    """A Markdown table of mean PSNR and SSIM by damage and method."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    text = frame.groupby(["corruption", "method"], sort=False)[["psnr", "ssim"]].mean()
    shown = text.apply(lambda one: f"{one['psnr']:.1f} / {one['ssim']:.2f}", axis=1).unstack()
    order = [m for m in dict.fromkeys(frame["method"]) if m in shown]
    lines = [["damage", *order], ["---"] * (len(order) + 1)]
    for damage in dict.fromkeys(frame["corruption"]):
        cells = shown.loc[damage, order]
        lines.append([damage, *(cell if isinstance(cell, str) else "" for cell in cells)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
