"""Everyday damage: fifteen kinds that cameras, files and weather do to pictures, at 5 strengths.

It is used for measuring, beside the fifteen corruptions of ImageNet-C (:mod:`dga.corruptions`).
Each kind follows its physics, in linear light where light adds up. The result has 8-bit levels;
several kinds end as JPEG. Strength 5 takes an ImageNet classifier to about half of its accuracy.
Nothing here is used in training (:mod:`dga.lab.training.chains` has code of its own).

Each kind is a function of a picture ``x`` (sRGB values 0 to 1, ``[H, W, 3]``), a ``level`` (the
strength less 1, 0 to 4) and a random generator.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image

from dga.images import Pixels, recompress_jpeg

Light = NDArray[np.float64]
"""A picture, ``[H, W, 3]``, or one channel of it, ``[H, W]``: values 0 to 1."""
Rng = np.random.Generator


def damage_as_everyday(pixels: Pixels, kind: str, strength: int, seed: int) -> Pixels:
    """Damage a picture, uint8 ``[H, W, 3]``, by one of :data:`EVERYDAY_DAMAGE` at strength 1 to 5.

    The same arguments give the same bits.
    """
    rng = np.random.default_rng(seed)
    damaged = EVERYDAY_DAMAGE[kind](pixels / 255, strength - 1, rng)
    return (255 * damaged).round().clip(0, 255).astype(np.uint8)


def _to_linear(x: Light) -> Light:
    """Convert sRGB values to linear light (IEC 61966-2-1)."""
    return np.where(x <= 0.04045, x / 12.92, ((x.clip(0) + 0.055) / 1.055) ** 2.4)


def _to_srgb(light: Light) -> Light:
    """Convert linear light to sRGB values, clipped to 0 to 1."""
    light = light.clip(0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def _save_as_jpeg(x: Light, quality: int) -> Light:
    """Save a picture as JPEG and read it again."""
    pixels = (255 * x).round().clip(0, 255).astype(np.uint8)
    return np.asarray(recompress_jpeg(pixels, quality)) / 255


def _resize(x: Light, height: int, width: int, kernel: Image.Resampling) -> Light:
    """Round a picture to 8-bit levels and resize it."""
    image = Image.fromarray((255 * x).round().clip(0, 255).astype(np.uint8))
    return np.asarray(image.resize((width, height), kernel)) / 255


def _make_mosaic(shape: Sequence[int]) -> NDArray[np.bool_]:
    """Which colour each pixel of a Bayer sensor (RGGB) sees, ``[H, W, 3]``."""
    rows, columns = np.indices(shape[:2]) % 2
    return np.stack([(rows + columns) == 0, (rows + columns) == 1, (rows + columns) == 2], 2)


def _demosaic(raw: Light, mosaic: NDArray[np.bool_]) -> Light:
    """Bilinear demosaicing: each colour is the weighted mean of its own pixels nearby.

    The weights are 4 for the pixel itself, 2 beside it and 1 at the corners.
    """
    weights = np.outer([1, 2, 1], [1, 2, 1])[..., None] / 4
    total = scipy.ndimage.convolve(raw[..., None] * mosaic, weights, mode="mirror")
    return total / scipy.ndimage.convolve(mosaic.astype(float), weights, mode="mirror")


def _expose(light: Light, photons: float, read_noise: float, rng: Rng) -> Light:
    """A raw exposure through a Bayer mosaic, demosaiced, with photon noise and read noise.

    ``photons``: how many electrons white light frees in a pixel; ``read_noise``: the deviation of
    the amplifier's noise, in electrons.
    """
    mosaic = _make_mosaic(light.shape)
    electrons = rng.poisson(photons * (light * mosaic).sum(2)) + read_noise * rng.normal(
        size=light.shape[:2]
    )
    return _demosaic(electrons / photons, mosaic)


def _convolve(light: Light, kernel: Light) -> Light:
    """Blur light by a point spread function, ``[n, n]`` with odd n; borders are mirrored."""
    reach = len(kernel) // 2
    padded = np.pad(light, ((reach, reach), (reach, reach), (0, 0)), "reflect")
    kernel = kernel / kernel.sum()
    return scipy.signal.fftconvolve(padded, kernel[..., None], "valid", axes=(0, 1)).clip(0)


def _draw_path(rows: Light, columns: Light) -> Light:
    """The point spread function of a path, ``[n, n]`` with odd n.

    ``rows``, ``columns``: points of the path, in pixels from the middle.
    """
    reach = int(np.ceil(max(abs(rows).max(), abs(columns).max()))) + 1
    edges = np.arange(2 * reach + 2) - reach - 0.5
    return scipy.ndimage.gaussian_filter(np.histogram2d(rows, columns, bins=(edges, edges))[0], 0.4)


def _draw_smooth_noise(shape: Sequence[int], size: float, rng: Rng) -> Light:
    """Smooth random numbers of mean 0 and deviation 1, ``[H, W]``.

    ``size``: deviation, in pixels, of the Gaussian that smooths them.
    """
    field = scipy.ndimage.gaussian_filter(rng.normal(size=shape[:2]), size, mode="wrap")
    return (field - field.mean()) / field.std()


def add_sensor_noise(x: Light, level: int, rng: Rng) -> Light:
    """A high ISO: photon and read noise on a Bayer mosaic, demosaiced, saved as JPEG 90."""
    photons = (400, 200, 100, 55, 32)[level]
    return _save_as_jpeg(_to_srgb(_expose(_to_linear(x), photons, 2.0, rng)), 90)


def add_enlarged_noise(x: Light, level: int, rng: Rng) -> Light:
    """A noisy picture of two thirds of the size, enlarged."""
    height, width = x.shape[:2]
    small = _resize(x, height * 2 // 3, width * 2 // 3, Image.Resampling.LANCZOS)
    noisy = small + (0.04, 0.065, 0.095, 0.13, 0.165)[level] * rng.normal(size=small.shape)
    return _resize(noisy, height, width, Image.Resampling.BICUBIC)


def add_film_grain(x: Light, level: int, rng: Rng) -> Light:
    """Film grain: clumps of silver, grey, strongest in the middle tones."""
    grain = _draw_smooth_noise(x.shape, 0.7, rng)[..., None]
    tone = np.sqrt((4 * x * (1 - x)).clip(0)) * 0.8 + 0.2
    return x + (0.04, 0.065, 0.095, 0.125, 0.155)[level] * tone * grain


def blur_by_lens(x: Light, level: int, rng: Rng) -> Light:
    """A lens out of focus, then a little sensor noise and JPEG."""
    radius = (1.2, 1.9, 2.7, 3.5, 4.4)[level]
    reach = int(np.ceil(radius)) + 1
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disk = (radius + 0.5 - np.hypot(rows, columns)).clip(0, 1)
    light = _expose(_convolve(_to_linear(x), disk), 700, 2.0, rng)
    return _save_as_jpeg(_to_srgb(light), 85)


def shake_camera(x: Light, level: int, rng: Rng) -> Light:
    """The camera shakes during a long exposure: the picture moves along an arc at a changing speed.

    The arc turns by up to half a circle.
    """
    length, turn = (5, 9, 13, 18, 24)[level], rng.uniform(0.5, np.pi)
    times = np.linspace(0, 1, 400) ** rng.uniform(0.7, 1.4)
    angle = rng.uniform(0, 2 * np.pi) + turn * times
    path = np.cumsum(np.stack([np.sin(angle), np.cos(angle)]), 1) * length / len(times)
    path -= (path.max(1, keepdims=True) + path.min(1, keepdims=True)) / 2
    return _save_as_jpeg(_to_srgb(_convolve(_to_linear(x), _draw_path(*path))), 92)


def move_part(x: Light, level: int, rng: Rng) -> Light:
    """An object in the middle moved and the rest stood still: blur inside of a soft outline."""
    height, width = x.shape[:2]
    rows, columns = np.indices((height, width))
    centre = np.array([height, width]) * rng.uniform(0.35, 0.65, 2)
    reach = np.array([height, width]) * (0.24, 0.28, 0.32, 0.38, 0.44)[level]
    distance = np.hypot((rows - centre[0]) / reach[0], (columns - centre[1]) / reach[1])
    inside = (4 * (1.1 - distance)).clip(0, 1)[..., None]
    length, angle = (9, 13, 18, 24, 31)[level], rng.uniform(-0.5, 0.5)
    places = np.linspace(-length / 2, length / 2, 8 * length)
    kernel, light = _draw_path(places * np.sin(angle), places * np.cos(angle)), _to_linear(x)
    return _to_srgb(inside * _convolve(light, kernel) + (1 - inside) * light)


def enlarge_picture(x: Light, level: int, _: Rng) -> Light:
    """A small picture from the web: reduced, saved as JPEG 80, and enlarged again."""
    height, width = x.shape[:2]
    factor = (1.8, 2.4, 3.1, 4.0, 5.0)[level]
    size = round(height / factor), round(width / factor)
    small = _save_as_jpeg(_resize(x, *size, Image.Resampling.BOX), 80)
    return _resize(small, height, width, Image.Resampling.BICUBIC)


def save_twice(x: Light, level: int, rng: Rng) -> Light:
    """A poor JPEG, cropped by a few pixels and saved again: two grids of blocks that differ."""
    quality = (28, 18, 12, 8, 6)[level]
    top, left = rng.integers(2, 7, 2)
    padded = np.pad(x, ((top, 8 - top), (left, 8 - left), (0, 0)), "reflect")
    height, width = x.shape[:2]
    cropped = _save_as_jpeg(padded, quality)[top : top + height, left : left + width]
    return _save_as_jpeg(cropped, quality + 10)


def underexpose(x: Light, level: int, rng: Rng) -> Light:
    """Too little light and the sensor's noise, then brightened by half of the missing stops."""
    stops = (2.0, 3.0, 4.0, 5.0, 6.0)[level]
    light = _expose(_to_linear(x) * 2.0**-stops, 3000, 2.5, rng)
    return _save_as_jpeg(_to_srgb(light * 2 ** (stops / 2)), 92)


def shift_white_balance(x: Light, level: int, rng: Rng) -> Light:
    """A wrong white balance: lamplight was taken for daylight, or daylight for lamplight."""
    stops = (0.7, 1.3, 2.0, 3.0, 4.0)[level] * (1 if rng.random() < 0.5 else -1)
    gains = 2.0 ** (stops * np.array([0.5, -0.1 * np.sign(stops), -0.6]))
    return _to_srgb(_to_linear(x) * gains)


def add_rain(x: Light, level: int, rng: Rng) -> Light:
    """Rain: thin bright streaks of one slant, and a thin mist over the whole picture."""
    height, width = x.shape[:2]
    count = round(height * width * (0.003, 0.005, 0.0075, 0.0105, 0.014)[level])
    drops = np.zeros((height, width))
    rows, columns = rng.integers(0, height, count), rng.integers(0, width, count)
    np.add.at(drops, (rows, columns), rng.uniform(0.3, 1.0, count))
    length, slant = rng.integers(9, 17), rng.uniform(-0.35, 0.35)
    streak = np.zeros((length | 1, length | 1))
    fall = np.linspace(-1, 1, 8 * length) * (length // 2)
    places = np.stack([fall, fall * slant]) + length // 2
    np.add.at(streak, tuple(places.round().astype(np.int64)), 1 / 8)
    cover = scipy.signal.fftconvolve(drops, streak, "same").clip(0, 1)[..., None]
    mist = (0.03, 0.06, 0.09, 0.12, 0.15)[level]
    light = _to_linear(x) * (1 - mist) + 0.6 * mist
    return _to_srgb(light + 0.55 * cover * (1 - light))


def add_haze(x: Light, level: int, rng: Rng) -> Light:
    """Haze that thickens with the distance, which grows from the bottom of the picture to the top.

    Koschmieder's law: at distance d the share exp(-beta d) of the light is seen; the rest is the
    air's own light.
    """
    height, width = x.shape[:2]
    unevenness = 0.12 * _draw_smooth_noise((height, width), height / 7, rng)
    distance = np.linspace(1.25, 0.35, height)[:, None] + unevenness
    seen = np.exp(-(0.5, 0.9, 1.3, 1.7, 2.15)[level] * distance.clip(0.05))[..., None]
    air = np.array([0.78, 0.82, 0.86])
    return _save_as_jpeg(_to_srgb(_to_linear(x) * seen + _to_linear(air) * (1 - seen)), 92)


def add_blue_noise(x: Light, level: int, rng: Rng) -> Light:
    """Blue noise: noise without low frequencies, as sharpening and dithering leave it."""
    noise = rng.normal(size=x.shape)
    noise -= scipy.ndimage.gaussian_filter(noise, (1, 1, 0), mode="wrap")
    return x + (0.08, 0.12, 0.165, 0.215, 0.27)[level] * noise / noise.std()


def add_noise_in_frame(x: Light, level: int, rng: Rng) -> Light:
    """A noisy picture between plain bars above and below, black or white, as in a film still."""
    height, width = x.shape[:2]
    bar = round(height * 0.12)
    noisy = x + (0.05, 0.08, 0.12, 0.16, 0.21)[level] * rng.normal(size=x.shape)
    framed = np.full(x.shape, 0.0 if rng.random() < 0.7 else 1.0)
    inside = _resize(noisy, height - 2 * bar, width, Image.Resampling.NEAREST)
    framed[bar : height - bar] = inside
    return framed


def add_ripples(x: Light, level: int, rng: Rng) -> Light:
    """A picture seen through moving water: its points are shifted along two trains of waves."""
    height, width = x.shape[:2]
    rows, columns = np.indices((height, width)).astype(float)
    places = np.stack([rows, columns])
    for _ in range(2):
        length, angle = rng.uniform(14, 28), rng.uniform(0, np.pi)
        phase = rng.uniform(0, 2 * np.pi)
        along = rows * np.sin(angle) + columns * np.cos(angle)
        wave = np.sin(2 * np.pi * along / length + phase)
        sway = (0.7, 1.2, 1.75, 2.3, 2.9)[level] * wave
        places += sway * np.array([np.sin(angle), np.cos(angle)])[:, None, None]
    channels = [
        scipy.ndimage.map_coordinates(channel, places, order=1, mode="mirror")
        for channel in np.moveaxis(x, 2, 0)
    ]
    return np.stack(channels, 2)


EVERYDAY_DAMAGE: dict[str, Callable[[Light, int, Rng], Light]] = {
    "sensor_noise": add_sensor_noise,
    "enlarged_noise": add_enlarged_noise,
    "film_grain": add_film_grain,
    "blue_noise": add_blue_noise,
    "noise_in_frame": add_noise_in_frame,
    "lens_blur": blur_by_lens,
    "camera_shake": shake_camera,
    "moved_part": move_part,
    "enlarged": enlarge_picture,
    "jpeg_twice": save_twice,
    "underexposed": underexpose,
    "white_balance": shift_white_balance,
    "rain": add_rain,
    "haze": add_haze,
    "ripples": add_ripples,
}
"""The function of each kind."""
