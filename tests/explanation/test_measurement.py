"""Damage that a picture tells by itself: what was done is measured, and undoing it helps."""

from dataclasses import replace

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image
from scipy import ndimage, signal
from torch import Tensor

import dga
from dga.explanation.blocks import measure_blocks
from dga.explanation.blur import BlurFits
from dga.explanation.degradation import Degradation
from dga.explanation.exposure import measure_brightness, measure_darkness
from dga.explanation.haze import Haze
from dga.explanation.noise_level import measure_noise
from dga.explanation.operators import (
    ArcMotion,
    Blocks,
    Convolution,
    Disk,
    GaussianBlur,
    MotionBlur,
    Operator,
)
from dga.explanation.rain import find_streaks, measure_rain
from dga.explanation.ripples import Ripples, Wave, find_ripples
from dga.explanation.streaks import remove_streaks
from dga.explanation.veil import Veil, list_veils
from dga.explanation.zoom import Zoom
from dga.images import Pixels, from_tensor, recompress_jpeg, to_levels, to_tensor
from dga.photograph import repair_photograph
from tests.fixtures.models import noise
from tests.fixtures.pictures import open_sample, photograph

NAMES = "coffee", "chelsea"


@pytest.fixture(scope="module", params=NAMES)
def clear(request: pytest.FixtureRequest) -> Pixels:
    """A photograph that nothing damaged."""
    return photograph(request.param)


def measure_veil(x: Tensor) -> Veil | Haze | None:
    """The likeliest veil."""
    return next(iter(list_veils(x)), None)


def psnr(x: Tensor, y: Tensor) -> float:
    return float(10 * torch.log10(4 / (x - y).square().mean()))


def damage(operator: Operator, x: Tensor) -> Tensor:
    """H x by SciPy, for ``[C, H, W]``; borders are mirrored."""
    planes = x.numpy()
    if isinstance(operator, Blocks):
        for axis, begins in ((1, operator.rows), (2, operator.columns)):
            lengths = np.diff([*begins, planes.shape[axis]])
            means = np.add.reduceat(planes, begins, axis)
            means /= np.expand_dims(lengths, (0, 3 - axis))
            planes = means.repeat(lengths, axis)
    elif isinstance(operator, Zoom):
        planes = np.stack([zoom(plane, operator.factor) for plane in planes])
    elif isinstance(operator, Convolution):
        kernel, reach = operator.kernel.numpy()[None], len(operator.kernel) // 2
        padded = np.pad(planes, [(0, 0), (reach, reach), (reach, reach)], "reflect")
        planes = signal.fftconvolve(padded, kernel, "valid", axes=(1, 2))
    return torch.from_numpy(planes).to(x)


def zoom(plane: np.ndarray, factor: float) -> np.ndarray:
    """The mean of ``[H, W]``, counted twice, and of ten copies zoomed up to ``factor``."""
    centre, copies = (np.array(plane.shape) - 1) / 2, [plane]
    for one in np.linspace(1, factor, 11):
        scale = np.full(2, 1 / one)
        copies.append(ndimage.affine_transform(plane, scale, centre - centre / one, order=1))
    return np.mean(copies, axis=0)


def damaged_by(operator: Operator, x: Tensor) -> Tensor:
    """As a picture file would hold it."""
    return to_levels(damage(operator, x).clamp(-1, 1))


def gain(operator: Operator, x: Tensor, y: Tensor) -> float:
    """By how many decibels the inverse brings ``y`` closer to ``x``."""
    return psnr(x, Degradation(operator=operator).invert(y)) - psnr(x, y)


# What was done is what is measured


@pytest.mark.parametrize(
    ("severity", "blocks", "quality"),
    [(1, 134, None), (3, 89, None), (2, 112, 95), (4, 67, 85), (5, 56, 75)],
)
def test_blocks_are_counted_and_smoothed_also_after_jpeg(clear, severity, blocks, quality):
    pixels = dga.corrupt(clear, "pixelate", severity, 0)
    saved = np.asarray(recompress_jpeg(pixels, quality)) if quality else pixels
    x, y = to_tensor(clear), to_tensor(saved)
    measured = measure_blocks(y)
    assert measured is not None
    assert (len(measured.rows), len(measured.columns)) == (blocks, blocks)
    assert gain(measured, x, y) > (0.3 if quality else 1)


@pytest.mark.parametrize("quality", [7, 30, 75])
def test_the_blocks_of_jpeg_itself_are_not_taken_for_any(clear, quality):
    assert measure_blocks(to_tensor(np.asarray(recompress_jpeg(clear, quality)))) is None


def test_a_plain_margin_is_no_block(clear):
    framed = np.pad(clear, ((60, 60), (80, 80), (0, 0)), constant_values=255)
    assert measure_blocks(to_tensor(framed)) is None
    coarse = framed[::4, ::4].repeat(4, 0).repeat(4, 1)
    blocks = measure_blocks(to_tensor(coarse))
    assert blocks is not None
    assert (len(blocks.rows), len(blocks.columns)) == framed[::4, ::4].shape[:2]


BLURS: dict[Operator, float] = {
    **{Disk(radius): 2 for radius in (2.5, 6.2, 9.0)},
    **{GaussianBlur(sigma): 2 for sigma in (2.0, 3.0, 6.0)},
    **{
        MotionBlur(length, angle, one_sided=True): 5  # motion that fades
        for length, angle in ((5.0, -150), (5.0, 22.5), (8.0, -60), (8.0, 90))
    },
    **{MotionBlur(length, angle): 2 for length, angle in ((10.0, 0), (10.0, 157.5), (16.0, 45))},
    **{Zoom(factor): 4 for factor in (1.11, 1.31)},
}
"""By how many decibels undoing each helps, at least."""


def test_an_inverse_does_not_assume_what_lies_beyond_the_borders(clear):
    """A part of a larger blurred picture: what moved in from outside leaves no seam."""
    moved, x = MotionBlur(16, 45), to_tensor(clear)
    part = (..., slice(50, -50), slice(50, -50))
    assert gain(moved, x[part], damaged_by(moved, x)[part]) > 2


@pytest.mark.parametrize("made", BLURS, ids=str)
def test_blur_is_measured_and_undone(clear, made):
    """A lens to a quarter pixel, a soft blur to a tenth, a zoom to a twentieth, motion by line."""
    x = to_tensor(clear)
    y = damaged_by(made, x)
    measured = BlurFits(y).find_certain()
    assert type(measured) is type(made)
    if isinstance(measured, Disk) and isinstance(made, Disk):
        assert measured.radius == pytest.approx(made.radius, abs=0.25)
    if isinstance(measured, GaussianBlur) and isinstance(made, GaussianBlur):
        assert measured.sigma == pytest.approx(made.sigma, rel=0.1)
    if isinstance(measured, Zoom) and isinstance(made, Zoom):
        assert measured.factor == pytest.approx(made.factor, abs=0.05)
    if isinstance(measured, MotionBlur) and isinstance(made, MotionBlur):
        assert measured.one_sided == made.one_sided
        turn = 360 if made.one_sided else 180  # degrees after which a direction comes back
        difference = (measured.angle - made.angle) % turn
        assert min(difference, turn - difference) <= 7.5
        if made.one_sided:
            assert gain(replace(measured, angle=measured.angle - 180), x, y) < 0
        else:
            assert measured.length == pytest.approx(made.length, rel=0.4)
    assert gain(measured, x, y) > BLURS[made]


EVEN = [(length, angle, None) for length, angle in ((7, 20), (13, 70), (21, 0), (30, 160))]
EVEN += [(length, angle, 90) for length, angle in ((9, 20), (13, 70), (21, 0), (25, 115))]


@pytest.mark.parametrize(("length", "angle", "quality"), EVEN)
def test_even_motion_of_every_length_is_measured_also_after_jpeg(clear, length, angle, quality):
    x = to_tensor(clear)
    pixels = from_tensor(damaged_by(MotionBlur(length, angle), x))
    y = to_tensor(np.asarray(recompress_jpeg(pixels, quality)) if quality else pixels)
    measured = BlurFits(y).find_certain()
    assert isinstance(measured, MotionBlur)
    assert not measured.one_sided
    assert measured.length == pytest.approx(length, rel=0.1)
    assert gain(measured, x, y) > (0.5 if quality else 3)


@pytest.mark.parametrize("turn", [60.0, -140.0])
def test_the_arc_of_a_shaken_camera_is_measured_in_its_own_direction(clear, turn):
    x = to_tensor(clear)
    made = ArcMotion(16.0, turn, angle=35.0, skew=0.3)
    pixels = from_tensor(damaged_by(made, x))
    y = to_tensor(np.asarray(recompress_jpeg(pixels, 92)))
    measured = BlurFits(y).find_certain()
    assert isinstance(measured, ArcMotion)
    assert measured.length == pytest.approx(made.length, rel=0.1)
    assert abs(measured.turn) == pytest.approx(abs(made.turn), abs=25)
    assert gain(measured, x, y) > 2
    assert gain(measured.mirror(), x, y) < 0


def look_through_water(x: Tensor, waves: list[tuple[float, float, float]]) -> Tensor:
    """``[3, H, W]`` through waves of a length, a direction in degrees and a shift, by SciPy."""
    places = np.indices(x.shape[1:]).astype(float)
    seen = places.copy()
    for length, angle, sway in waves:
        way = np.array([np.sin(np.radians(angle)), np.cos(np.radians(angle))])
        along = np.tensordot(way, places, 1)
        seen += way[:, None, None] * sway * np.sin(2 * np.pi * along / length + angle)
    planes = [ndimage.map_coordinates(plane, seen, order=1, mode="mirror") for plane in x.numpy()]
    return torch.from_numpy(np.stack(planes)).to(x)


@pytest.mark.parametrize("quality", [None, 85])
@pytest.mark.parametrize("waves", [[(18, 20, 2.5), (24, 110, 2)], [(26, 75, 3)]])
def test_ripples_are_measured_and_undone(clear, waves, quality):
    x = to_tensor(clear)
    y = to_levels(look_through_water(x, waves))
    y = to_tensor(np.asarray(recompress_jpeg(from_tensor(y), quality))) if quality else y
    ripples = find_ripples(y)
    assert ripples is not None
    lengths = [1 / np.hypot(wave.down, wave.across) for wave in ripples.waves]
    assert sorted(lengths) == pytest.approx([length for length, _, _ in waves], rel=0.03)
    assert gain(ripples, x, y) > 5


def test_ripples_of_a_large_photograph_are_those_of_its_middle(monkeypatch):
    x = to_tensor(np.asarray(skimage.data.astronaut()))
    x = torch.nn.functional.interpolate(x[None], (1100, 1300), mode="bicubic")[0].clamp(-1, 1)
    y = to_levels(look_through_water(x, [(22, 30, 3)]))
    ripples = find_ripples(y)
    assert ripples is not None
    assert gain(ripples, to_levels(x), y) > 5
    by_parts = ripples.invert(y)
    monkeypatch.setattr("dga.explanation.ripples.LARGEST", 1300)
    assert float((ripples.invert(y) - by_parts).abs().max()) < 0.02  # without a seam


def test_ripples_shift_more_than_a_picture_is_wide():
    ripples = Ripples((Wave(0.03, 0.01, 24.0, 1.0), Wave(-0.01, 0.04, 24.0, 4.0)))
    y = torch.rand(3, 9, 300) * 2 - 1
    z = ripples.invert(y)
    assert z.isfinite().all()
    assert float(z.abs().max()) <= 1


def add_rain(x: Tensor, slant: float) -> Tensor:
    """White streaks, 12 px long, in half of their opacity."""
    height, width = x.shape[1:]
    rng, cover = np.random.default_rng(0), np.zeros((height, width), np.float32)
    for row, column in zip(rng.integers(0, height, 500), rng.integers(0, width, 500), strict=True):
        for down in range(12):
            cover[(row + down) % height, (column + round(down * slant)) % width] = 0.5
    return to_levels(x + torch.from_numpy(cover) * (1 - x))


@pytest.mark.parametrize("slant", [-0.3, 0.0, 0.2])
def test_rain_is_recognised_and_taken_away(clear, slant):
    x = to_tensor(clear)
    y = add_rain(x, slant)
    measured = measure_rain(y)
    assert measured == pytest.approx(slant, abs=0.13)
    assert 0.06 < find_streaks(y, measured).mean() < 0.2
    assert psnr(x, Degradation(rain=measured).invert(y)) > psnr(x, y) + 3


def test_rain_and_ripples_are_repaired(photo_models, clear):
    x = to_tensor(clear)
    for y in (add_rain(x, 0.1), to_levels(look_through_water(x, [(18, 20, 2.5), (24, 110, 2)]))):
        repaired = repair_photograph(photo_models, from_tensor(y))
        assert psnr(x, to_tensor(repaired.image)) > psnr(x, y) + 2


@pytest.mark.parametrize("lean", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("spacing", [12, 24])
def test_walls_of_bricks_are_no_rain(spacing, lean):
    """Joints are bright and thin, too, and end nowhere; from below they fan out."""
    rng, rows = np.random.default_rng(0), np.arange(224)
    wall = rng.normal(80, 6, (224, 224))
    for number, left in enumerate(range(-60, 300, spacing)):
        columns = (left + lean * rows * (left - 112) / 112).round().astype(int)
        for column in (columns, columns + 1):
            is_inside = (column >= 0) & (column < 224)
            wall[rows[is_inside], column[is_inside]] = 150
        for top in range(25 * (number % 2), 224, 50):
            start = columns[top].clip(0, 223)
            wall[top : top + 2, start : start + spacing] = 150
    assert measure_rain(to_tensor(np.repeat(wall[..., None], 3, 2).astype(np.uint8))) is None


def test_fences_and_stripes_are_no_rain(clear):
    fence = clear.copy()
    fence[:, ::9] = 230
    fence[:, 4::9] = 20
    assert measure_rain(to_tensor(fence)) is None


@pytest.mark.parametrize("name", ["camera_shake", "enlarged", "moved_part"])
def test_what_is_no_even_blur_is_not_taken_for_one(clear, name):
    x, y = to_tensor(clear), to_tensor(dga.corrupt(clear, name, 5, 1))
    measured = BlurFits(y).find_certain()
    assert measured is None or gain(measured, x, y) > -1.2


@pytest.mark.parametrize("saved", [None, 85])
def test_a_picture_behind_glass_is_straightened_by_the_dewarper(photo_models, coffee, saved):
    damaged = dga.corrupt(coffee, "glass_blur", 5, 0)
    damaged = np.asarray(recompress_jpeg(damaged, saved)) if saved else damaged
    repaired = repair_photograph(photo_models, damaged)
    assert repaired.is_mended
    assert "glass" in repaired.facts()["found"]
    image, before = to_tensor(repaired.image), to_tensor(damaged)
    assert image.diff().abs().mean() > 1.1 * before.diff().abs().mean()
    assert psnr(image, to_tensor(coffee)) > psnr(before, to_tensor(coffee)) - 0.3
    without = repair_photograph(replace(photo_models, dewarper=None), damaged)
    assert not np.array_equal(without.image, repaired.image)


@pytest.mark.parametrize("saved", [None, 95, 85])
def test_an_enlarged_picture_is_not_blurred(clear, saved):
    small = Image.fromarray(clear).resize((56, 56), Image.Resampling.BOX)
    enlarged = np.asarray(small.resize((224, 224), Image.Resampling.BICUBIC))
    fits = BlurFits(to_tensor(recompress_jpeg(enlarged, saved) if saved else enlarged))
    assert fits.find_certain() is None
    assert fits.measure_glass() is None


@pytest.mark.parametrize("severity", [3, 5])
def test_lost_contrast_is_brought_back(clear, severity):
    x, y = to_tensor(clear), to_tensor(dga.corrupt(clear, "contrast", severity, 0))
    veil = measure_veil(y)
    assert veil is not None
    assert psnr(veil.remove(y), x) > 24
    saved = to_tensor(recompress_jpeg(from_tensor(y), 85))
    veil = measure_veil(saved)
    assert veil is not None
    assert psnr(veil.remove(saved), x) > 20


def test_a_picture_that_is_too_bright_is_darkened(clear):
    """Its darkest pixels were lifted by half; the others keep their hues."""
    x, bright = to_tensor(clear), to_tensor(dga.corrupt(clear, "brightness", 5, 0))
    exposure = measure_brightness(bright)
    assert exposure is not None
    assert psnr(exposure.apply(bright), x) > psnr(bright, x)
    is_clipped = (bright == 1).any(0)
    hue = (x - x.mean(0))[:, ~is_clipped].sign()
    darkened = exposure.apply(bright)
    assert float(((darkened - darkened.mean(0))[:, ~is_clipped].sign() == hue).float().mean()) > 0.9


@pytest.mark.slow
def test_brightness_is_undone_in_a_repair(photo_models):
    bright = dga.corrupt(open_sample("great-wall"), "brightness", 5, 0)
    repaired = repair_photograph(photo_models, bright)
    assert repaired.explanation.degradation.exposure.black > 0.3
    assert np.asarray(repaired.image).mean() < bright.mean() - 20


@pytest.mark.parametrize("name", ["chelsea", "astronaut"])
def test_fog_is_a_veil_that_is_uneven(name):
    veil = measure_veil(to_tensor(dga.corrupt(photograph(name), "fog", 5, 0)))
    assert veil is not None
    assert veil.smooth


def test_snow_falls_in_streaks_which_are_taken_away(clear):
    y = to_tensor(dga.corrupt(clear, "snow", 5, 0))
    veil = measure_veil(y)
    assert veil is not None
    assert veil.streaks is not None
    rest = remove_streaks(y, veil.streaks)
    assert (rest <= y).all()
    assert (rest < y - 0.1).float().mean() > 0.02
    assert "streaks" in str(veil)


# What was not done is not measured


@pytest.mark.parametrize("turn", [lambda pixels: pixels, np.rot90, np.flipud])
@pytest.mark.parametrize("name", [*NAMES, "astronaut"])
def test_nothing_is_measured_in_an_undamaged_photograph(name, turn):
    x = to_tensor(np.ascontiguousarray(turn(photograph(name))))
    light, water = (measure_veil(x), measure_brightness(x)), (measure_rain(x), find_ripples(x))
    assert (measure_blocks(x), BlurFits(x).find_certain(), *light, *water) == (None,) * 6


@pytest.mark.parametrize("size", [(96, 96), (65, 240), (300, 200), (64, 64)])
@pytest.mark.parametrize(
    "name", [None, "pixelate", "glass_blur", "contrast", "snow", "rain", "ripples"]
)
def test_any_size_is_measured(size, name):
    """A picture may be too small to tell, but it is no error, and an inverse is a picture."""
    pixels = np.ascontiguousarray(skimage.data.coffee()[: size[0], : size[1]])
    if name:
        pixels = dga.corrupt(pixels, name, 3, 0)
    x = to_tensor(pixels)
    found = Degradation(
        operator=measure_blocks(x) or BlurFits(x).find_certain() or find_ripples(x),
        rain=measure_rain(x),
        veil=measure_veil(x),
    )
    z = found.invert(x)
    assert z.shape == x.shape
    assert z.isfinite().all()
    assert float(z.abs().max()) <= 1


@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_nothing_is_measured_in_one_colour_or_a_ramp(value):
    flat = torch.full((3, 100, 80), value)
    ramp = torch.linspace(-1, 1, 80).expand(3, 100, 80).contiguous()
    for x in (flat, ramp):
        assert measure_blocks(x) is None
        assert BlurFits(x).find_certain() is None
    assert measure_veil(flat) is None
    assert measure_brightness(flat) is None


@pytest.mark.parametrize("level", [0, 1])
def test_a_sky_of_stars_is_not_too_dark(level):
    """All but a few pixels are black, or nearly so."""
    sky = torch.full((3, 200, 200), level / 127.5 - 1)
    sky[:, 95:105, 95:105] = 1
    assert measure_darkness(sky) is None


@pytest.mark.parametrize("weight", [0.05, 1.0])
@pytest.mark.parametrize("operator", [Blocks((0, 3, 5, 9), (0, 2, 7)), Zoom(1.2)], ids=str)
def test_agreement_is_the_least_squares_solution(operator, weight):
    """argmin |H x - y|^2 + weight |x - z|^2, as a dense solver gives it."""
    shape = 1, 12, 10
    units = torch.eye(120).view(120, *shape)
    h = torch.stack([damage(operator, unit).flatten() for unit in units], 1)
    y, z = 0.4 * noise(*shape, seed=2), 0.4 * noise(*shape, seed=3)
    left, right = h.T @ h + weight * torch.eye(120), h.T @ y.flatten() + weight * z.flatten()
    exact = torch.linalg.solve(left.double(), right.double()).float().view(shape)
    found = operator.solve_proximal(z.expand(3, -1, -1), y.expand(3, -1, -1), weight)
    torch.testing.assert_close(found, exact.expand(3, -1, -1), atol=0.02, rtol=0)


@pytest.mark.parametrize("strength", [3, 5])
def test_haze_that_thickens_with_the_distance_is_removed_evenly(clear, strength):
    """Of its top, which is far, as of its bottom: contrast comes back to both."""
    y, x = to_tensor(dga.corrupt(clear, "haze", strength, 0)), to_tensor(clear)
    veil = measure_veil(y)
    assert isinstance(veil, Haze)
    assert "haze" in str(veil)
    cleared, height = veil.remove(y), x.shape[1]
    assert psnr(cleared, x) > psnr(y, x) + 3
    for half in (slice(0, height // 2), slice(height // 2, None)):
        contrast = [float(one[:, half].diff(dim=2).abs().mean()) for one in (y, cleared, x)]
        assert contrast[1] > 0.4 * contrast[2] > contrast[0]


def test_drawn_shading_is_no_veil():
    """Stripes as of a desktop's background, whose neighbours are mostly equal."""
    down, across = np.mgrid[-1:1:262j, -1:1:420j]
    stripes = np.repeat(np.random.default_rng(0).integers(-6, 7, 42), 10)
    grey = (180 - 100 * (down**2 + across**2) / 2 + stripes).round().astype(np.uint8)
    assert measure_veil(to_tensor(np.repeat(grey[..., None], 3, 2))) is None


@pytest.mark.parametrize("deviation", [0.1, 0.3, 0.6])
def test_the_noise_level_is_measured(deviation):
    """White noise of a known deviation, on a smooth picture, unclipped."""
    x = torch.linspace(-0.5, 0.5, 64).expand(3, 64, -1)
    noisy = x + deviation * noise(*x.shape, seed=1)
    assert measure_noise(noisy) == pytest.approx(deviation, rel=0.08)
