"""Pages, screens and cut-outs are told from photographs that light or saving made as plain."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from dga.corruptions import corrupt
from dga.explanation.drawings import is_page
from dga.images import recompress_jpeg, to_tensor
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
