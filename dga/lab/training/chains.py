"""Random chains of damage, from which a conditional denoiser learns what to trust in a picture.

A chain is one or two rounds of light, blur, warp, streaks, resampling, noise and JPEG, each left
out at random. All of it is written here: none of the code by which pictures are damaged for
measuring (:mod:`dga.corruptions`, :mod:`dga.everyday`) is used, so that those stay unseen. (Zhang
et al., "Designing a Practical Degradation Model", 2021, shuffle such steps for super-resolution.)
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from dga.images import Pixels, recompress_jpeg
from dga.io.settings import override_settings
from dga.lab.training.draws import draw_log
from dga.profiles.configs import Bounded, bounded

Picture = NDArray[np.float32]
"""``[H, W, 3]``, 0 to 255."""
Rng = np.random.Generator
REACH = 15
"""Pixels from the middle of a kernel to its edge. What lies nearer to a border than that was
blurred with pixels that are not known."""
JPEG_SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")


@dataclass(frozen=True)
class ChainConfig(Bounded):
    """How likely each step of a chain is, 0 to 1, and how strong it may become.

    Raises ``ValueError`` for numbers out of range.
    """

    undamaged: float = bounded(0.1, 0, 1)
    """Share of pictures that stay as they are."""
    second_round: float = bounded(0.35, 0, 1)
    """Share of chains that go through all steps twice."""
    light: float = bounded(0.2, 0, 1)
    blur: float = bounded(0.55, 0, 1)
    warp: float = bounded(0.06, 0, 1)
    jitter: float = bounded(0.5, 0, 1)
    """Share of warps that move each pixel for itself."""
    streaks: float = bounded(0.06, 0, 1)
    resampling: float = bounded(0.3, 0, 1)
    noise: float = bounded(0.5, 0, 1)
    jpeg: float = bounded(0.55, 0, 1)
    magnified: float = bounded(0.1, 0, 1)
    """Share of chains in which contrast is lost before JPEG and brought back after it, with what
    JPEG did to the rest."""
    inverse: float = bounded(0.1, 0, 1)
    """Share of blurs that an inverse with a slightly wrong kernel follows at the end."""
    most_noise: float = bounded(100.0, 2.5, 255)
    """The strongest noise, as a standard deviation in levels of 255."""
    most_blur: float = bounded(10.0, 1.5, REACH)
    """The largest radius of a lens, in pixels."""
    worst_jpeg: int = bounded(7, 1, 95)
    """The lowest quality of JPEG."""


def parse_chains(text: str) -> ChainConfig:
    """Settings as text, such as ``noise=0.5:worst_jpeg=7``; without any the usual ones.

    Raises ``ValueError`` naming what is allowed.
    """
    pairs = [part.partition("=") for part in text.split(":") if part]
    return override_settings(ChainConfig(), {name: value for name, _, value in pairs})


def damage_randomly(pixels: Pixels, rng: Rng, config: ChainConfig = ChainConfig()) -> Pixels:
    """A picture after a random chain of damage, uint8 ``[H, W, 3]`` as before, no side below 48."""
    if rng.random() < config.undamaged:
        return pixels
    x, kernel = pixels.astype(np.float32), None
    for _ in range(2 if rng.random() < config.second_round else 1):
        x, drawn = _damage_once(x, rng, config)
        kernel = drawn if kernel is None else kernel
    if config.magnified and rng.random() < config.magnified:
        x = _magnify(x, rng)
    if kernel is not None and rng.random() < config.inverse:
        x = _invert_roughly(x, kernel, rng)
    return _to_pixels(x)


def _damage_once(
    x: Picture, rng: Rng, config: ChainConfig
) -> tuple[Picture, NDArray[np.float32] | None]:
    """The picture after one round of steps, and the kernel that blurred it, None if none did."""

    def occurs(step: str) -> bool:
        return bool(rng.random() < getattr(config, step))

    kernel = None
    if occurs("light"):
        x = _change_light(x, rng)
    if occurs("blur"):
        kernel = draw_kernel(rng, config.most_blur)
        x = cv2.filter2D(x, -1, kernel, borderType=cv2.BORDER_REFLECT)
    if occurs("warp"):
        x = _warp(x, rng, config.jitter)
    if occurs("streaks"):
        x = _add_streaks(x, rng)
    height, width = x.shape[:2]
    is_small = occurs("resampling")
    if is_small:
        scale = draw_log(rng, 0.22, 0.9)
        size = max(8, round(width * scale)), max(8, round(height * scale))
        kinds = cv2.INTER_AREA, cv2.INTER_LINEAR, cv2.INTER_CUBIC, cv2.INTER_NEAREST
        x = cv2.resize(x, size, interpolation=kinds[rng.integers(4)])
    if occurs("noise"):
        x = _add_noise(x, rng, config.most_noise)
    if is_small:
        enlarging = cv2.INTER_LINEAR, cv2.INTER_CUBIC, cv2.INTER_NEAREST
        x = cv2.resize(x, (width, height), interpolation=enlarging[rng.integers(3)])
    if occurs("jpeg"):
        quality = round(config.worst_jpeg + (97 - config.worst_jpeg) * rng.beta(2, 1.3))
        subsampling = JPEG_SUBSAMPLINGS[rng.integers(3)]
        x = np.asarray(recompress_jpeg(_to_pixels(x), quality, subsampling)).astype(np.float32)
    return x.clip(0, 255), kernel


def _draw_smooth(rng: Rng, shape: tuple[int, ...], spacing: float) -> NDArray[np.float32]:
    """Smooth random numbers of deviation 1, ``[H, W]``, with bumps ``spacing`` pixels apart."""
    coarse = rng.normal(size=[max(2, round(side / spacing) + 2) for side in shape[:2]])
    field = cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return (field / max(float(field.std()), 0.1)).astype(np.float32)


def _change_light(x: Picture, rng: Rng) -> Picture:
    """Apply a tone curve, less contrast, a veil, another white or another brightness."""
    kind = rng.integers(5)
    if kind == 0:
        return (255 * (x / 255) ** draw_log(rng, 0.4, 2.5)).astype(np.float32)
    if kind == 1:
        middle = rng.uniform(70, 190)
        changed = (x - x.mean()) * draw_log(rng, 0.08, 1.6) + middle
    elif kind == 2:
        density = 0.6 + 0.5 * _draw_smooth(rng, x.shape, rng.choice([16, 32, 64, 128]))
        seen = np.exp(-draw_log(rng, 0.2, 2.7) * density.clip(0.05, 2))[..., None]
        changed = x * seen + rng.uniform(140, 255) * (1 - seen)
    elif kind == 3:
        changed = x * np.exp(0.35 * rng.normal(size=3))
    else:
        changed = x + rng.uniform(-110, 110)
    return changed.clip(0, 255).astype(np.float32)


def _magnify(x: Picture, rng: Rng) -> Picture:
    """Lower the contrast, save as JPEG and restore it, as a veil's inverse after saving does."""
    gain, mean, middle = draw_log(rng, 3, 25), x.mean(), rng.uniform(60, 220)
    faint = _to_pixels((x - mean) / gain + middle)
    quality, subsampling = int(rng.integers(60, 98)), JPEG_SUBSAMPLINGS[rng.integers(3)]
    saved = np.asarray(recompress_jpeg(faint, quality, subsampling)).astype(np.float32)
    return ((saved - middle) * gain + mean).clip(0, 255)


def _draw_axes(rng: Rng) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates around the middle of a kernel, along and across a random direction."""
    y, x = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].astype(float)
    angle = rng.uniform(0, math.pi)
    return (
        x * math.cos(angle) + y * math.sin(angle),
        y * math.cos(angle) - x * math.sin(angle),
    )


def draw_kernel(rng: Rng, most_blur: float) -> NDArray[np.float32]:
    """A random point spread function, ``[31, 31]``, sum 1: Gaussian, disk, line or shaken path."""
    along, across = _draw_axes(rng)
    kind = rng.integers(4)
    if kind == 0:
        deviation = draw_log(rng, 0.6, 4.5)
        other = deviation * (rng.uniform(0.4, 1) if rng.random() < 0.5 else 1)
        kernel = np.exp(-((along / deviation) ** 2) / 2 - (across / other) ** 2 / 2)
    elif kind == 1:
        kernel = (draw_log(rng, 1, most_blur) + 0.5 - np.hypot(along, across)).clip(0, 1)
    elif kind == 2:
        length = draw_log(rng, 3, 2 * REACH - 2)
        kernel = (length / 2 + 0.5 - abs(along)).clip(0, 1) * (1 - abs(across)).clip(0, 1)
        if rng.random() < 0.3:  # fades, or lies on one side
            kernel *= (along > 0) if rng.random() < 0.5 else np.exp(-3 * along / length)
    else:
        kernel = _draw_path(rng)
    kernel = kernel / kernel.sum()
    return kernel.astype(np.float32)


def _draw_path(rng: Rng) -> NDArray[np.float64]:
    """The path of a point of light before a shaken camera, whose speed drifts."""
    size = 2 * REACH + 1
    kernel, place, speed = np.zeros((size, size)), np.zeros(2), rng.normal(size=2)
    pace, memory = rng.uniform(0.05, 0.2), rng.uniform(0.9, 0.99)
    for _ in range(int(rng.integers(40, 140))):
        speed = memory * speed + math.sqrt(1 - memory**2) * rng.normal(size=2)
        place = (place + pace * speed).clip(1 - REACH, REACH - 1)
        row, column = np.floor(place).astype(int)
        v, u = place - (row, column)
        corner = kernel[row + REACH : row + REACH + 2, column + REACH : column + REACH + 2]
        corner += np.outer([1 - v, v], [1 - u, u])
    return kernel


def _warp(x: Picture, rng: Rng, jitter: float) -> Picture:
    """Move pixels: each for itself, as behind rough glass, or together with its neighbours."""
    height, width = x.shape[:2]
    strength = draw_log(rng, 0.5, 3)
    if rng.random() < jitter:
        shifts = strength * rng.normal(size=(2, height, width))
    else:
        spacing = draw_log(rng, 4, 14)
        smooth = np.stack([_draw_smooth(rng, x.shape, spacing) for _ in range(2)])
        shifts = strength * smooth.astype(float)
    rows, columns = (np.mgrid[:height, :width] + shifts).astype(np.float32)
    return cv2.remap(x, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)


def _add_streaks(x: Picture, rng: Rng) -> Picture:
    """Draw bright streaks of one direction before a slightly darker picture."""
    along, across = _draw_axes(rng)
    length, thickness = rng.uniform(5, 28), rng.uniform(0.6, 1.6)
    streak = (length / 2 + 0.5 - abs(along)).clip(0, 1) * (thickness - abs(across)).clip(0, 1)
    is_drop = rng.random(x.shape[:2]) < draw_log(rng, 0.003, 0.04)
    drops = np.where(is_drop, rng.random(x.shape[:2]), 0)
    cover = cv2.filter2D(drops, -1, streak, borderType=cv2.BORDER_REFLECT) * rng.uniform(0.4, 1)
    light = cover.clip(0, 1)[..., None] * rng.uniform(120, 255)
    return (x * rng.uniform(0.7, 1) + light).clip(0, 255).astype(np.float32)


def _add_noise(x: Picture, rng: Rng, most: float) -> Picture:
    """Add white, grey, coarse or brightness-dependent noise, or wrong pixels."""
    deviation, is_grey = draw_log(rng, 2, most), rng.random() < 0.3
    noise = rng.normal(size=(*x.shape[:2], 1 if is_grey else 3)).astype(np.float32)
    if rng.random() < 0.12:
        is_wrong = rng.random(noise.shape if rng.random() < 0.5 else (*x.shape[:2], 1))
        values = 255 * (noise > 0) if rng.random() < 0.7 else rng.random(noise.shape) * 255
        return np.where(is_wrong < deviation / 250, values, x).astype(np.float32)
    if rng.random() < 0.4:
        noise = cv2.GaussianBlur(noise, (0, 0), rng.uniform(0.4, 1.1)).reshape(noise.shape)
        noise /= noise.std()
    if rng.random() < 0.4:
        noise = noise * np.sqrt(x.clip(0, 255) / 255 + 0.02)
    return (x + deviation * noise).clip(0, 255).astype(np.float32)


def _invert_roughly(x: Picture, kernel: NDArray[np.float32], rng: Rng) -> Picture:
    """Invert a kernel that is up to 15 % too wide or too narrow (Wiener's filter)."""
    size = 2 * REACH + 1
    scale = draw_log(rng, 0.87, 1.15)
    matrix = cv2.getRotationMatrix2D((REACH, REACH), rng.uniform(-4, 4), scale)
    wrong = cv2.warpAffine(kernel, matrix, (size, size)).clip(0)
    border = cv2.copyMakeBorder(x, size, size, size, size, cv2.BORDER_REFLECT)
    padded = np.zeros(border.shape[:2], np.float32)
    padded[:size, :size] = wrong / wrong.sum()
    transfer = np.fft.rfft2(np.roll(padded, (-REACH, -REACH), (0, 1)))[..., None]
    wiener = transfer.conj() / (abs(transfer) ** 2 + draw_log(rng, 0.003, 0.1))
    spectrum = np.fft.rfft2(border, axes=(0, 1)) * wiener
    inverse = np.fft.irfft2(spectrum, border.shape[:2], axes=(0, 1))
    return inverse[size:-size, size:-size].clip(0, 255).astype(np.float32)


def _to_pixels(x: Picture) -> Pixels:
    return x.round().clip(0, 255).astype(np.uint8)
