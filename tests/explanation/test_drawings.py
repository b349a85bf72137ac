"""Pages, screens, drawings and what is of one colour are told from photographs."""

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from torch import Tensor, nn

from dga.adaptation import adapt
from dga.corruptions import corrupt
from dga.explanation.drawings import is_one_colour_or_drawing, is_page
from dga.images import recompress_jpeg, to_levels, to_pixels, to_square, to_tensor
from dga.profiles import EVERYDAY16
from dga.systems import parse
from tests.fixtures.pictures import open_sample


@pytest.mark.parametrize("name", ["panda", "windmill"])
def test_a_photograph_overexposed_by_snow_is_no_page(name):
    snowy = corrupt(open_sample(name), "snow", 5, seed=0)
    assert (snowy == 255).all(2).mean() > 0.3
    assert not is_page(to_tensor(snowy))


@pytest.mark.parametrize("saved", [None, 85])
def test_a_cut_out_on_white_and_a_white_window_on_a_screen_are_pages(saved):
    cut_out = np.full((224, 224, 3), 255, np.uint8)
    cut_out[40:180, 30:200] = open_sample("panda")[40:180, 30:200]
    screen = Image.new("RGB", (224, 224), (40, 90, 160))
    pen = ImageDraw.Draw(screen)
    pen.rectangle((20, 30, 200, 190), fill="white")
    for line in range(40, 180, 12):
        pen.text((26, line), "What a window says.", fill="black")
    for page in (Image.fromarray(cut_out), screen):
        pixels = np.asarray(recompress_jpeg(np.asarray(page), saved) if saved else page)
        assert is_page(to_tensor(pixels))


def picture(seed: int = 0, contrast: float = 0.5, size: int = 32) -> Tensor:
    """A smooth picture, ``[3, S, S]`` at 8-bit levels."""
    rng = torch.Generator().manual_seed(seed)
    coarse = torch.rand(1, 3, 6, 6, generator=rng) * 2 - 1
    smooth = nn.functional.interpolate(coarse, size=size, mode="bicubic", align_corners=True)[0]
    smooth = (smooth - smooth.mean()) / smooth.std() * contrast * 0.5
    return to_levels(smooth.clamp(-1, 1))


@pytest.mark.parametrize("colour", [(0, 0, 128), (255, 255, 0), (3, 200, 90)])
@pytest.mark.parametrize("side", [1, 2, 32])
def test_one_colour_is_flat_whatever_the_colour(colour, side):
    pixels = np.full((side, side, 3), colour, np.uint8)
    assert is_one_colour_or_drawing(to_tensor(pixels))
    varied = np.arange(12, dtype=np.uint8).reshape(2, 2, 3) * 20
    assert not is_one_colour_or_drawing(to_tensor(varied))


@pytest.mark.parametrize("count", [1, 5, 40])
def test_single_other_pixels_are_no_damage(count):
    pixels, rng = np.full((224, 224, 3), 255, np.uint8), np.random.default_rng(count)
    places = rng.choice(224 * 224, count, replace=False)
    pixels.reshape(-1, 3)[places] = rng.integers(0, 255, (count, 3))
    assert is_one_colour_or_drawing(to_tensor(pixels))


@pytest.mark.parametrize("lines", [1, 3])
def test_a_drawing_comes_back_as_it_is(tiny_models, lines):
    sheet = Image.new("RGB", (256, 256), "white")
    pen, at = ImageDraw.Draw(sheet), np.random.default_rng(lines).integers(10, 246, (lines, 4))
    for ends in at.tolist():
        pen.line(ends, fill="black", width=4)
    pixels = to_pixels(to_square(sheet, 32))  # its lines have grey edges
    checks = (np.indices((32, 32, 3))[:2].sum(0) // 4 % 2 * 255).astype(np.uint8)
    for drawn in (pixels, 255 - pixels, checks):
        run = adapt(tiny_models, drawn, 0, [parse(EVERYDAY16, "dga-plus")])
        assert np.array_equal(run.reconstructions["dga-plus"].image, drawn)
        assert run.plus.start.explanation.is_unjudgeable


def test_a_faint_grey_photograph_is_no_drawing():
    photograph = 0.2 * picture().mean(0, keepdim=True).expand(3, -1, -1)
    assert not is_one_colour_or_drawing(to_levels(photograph))
    coloured = to_tensor(np.full((32, 32, 3), 255, np.uint8))
    coloured[:, :8] = coloured.new_tensor([-1.0, 0.2, 0.9]).view(3, 1, 1)
    assert not is_one_colour_or_drawing(coloured)
