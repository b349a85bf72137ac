"""Plain frames are set aside: the inside is repaired as if it stood alone, the frame stays."""

import numpy as np
import pytest
from scipy import ndimage

from dga.images import Pixels, recompress_jpeg
from dga.photograph import repair_photograph
from dga.plain_frame import find_inside


def frame(pixels: Pixels, sides: tuple[int, int], level: int) -> Pixels:
    """With bars of so many rows and columns around it."""
    rows, columns = sides
    pad = (rows, rows), (columns, columns), (0, 0)
    return np.pad(pixels, pad, constant_values=level)


@pytest.mark.parametrize("level", [0, 128, 255])
@pytest.mark.parametrize("sides", [(1, 1), (30, 0), (0, 17), (12, 40)])
def test_frames_bars_and_lines_are_found(coffee, sides, level):
    rows, columns = find_inside(frame(coffee, sides, level))
    assert (rows.start, columns.start) == sides
    assert (rows.stop - rows.start, columns.stop - columns.start) == coffee.shape[:2]


def test_a_frame_around_a_frame_is_one_too(coffee):
    rows, columns = find_inside(frame(frame(coffee, (3, 3), 0), (20, 20), 255))
    assert (rows, columns) == (slice(23, 247), slice(23, 247))


def test_bars_are_found_after_jpeg(coffee):
    saved = np.asarray(recompress_jpeg(frame(coffee, (32, 0), 0), 90))
    rows, _ = find_inside(saved)
    assert abs(rows.start - 32) <= 1
    assert abs(rows.stop - 256) <= 1


def test_what_has_no_frame_is_left_whole(coffee):
    whole = tuple(slice(0, side) for side in coffee.shape[:2])
    fading = coffee * np.linspace(0, 1, 224)[:, None, None]
    for picture in (coffee, fading.astype(np.uint8), np.zeros_like(coffee)):
        assert find_inside(picture) == whole


def test_the_margin_of_a_page_is_no_frame_beside_a_black_bar(coffee):
    page = np.full((200, 200, 3), 255, np.uint8)
    page[20:180, 60:140] = coffee[:160, :80]
    page[40:170:8, 40:160] = 0  # lines of text across the picture
    page = page[:, 20:180]
    barred = np.vstack([np.zeros((30, 160, 3), np.uint8), page])
    assert find_inside(page) == (slice(0, 200), slice(0, 160))
    assert find_inside(barred) == (slice(0, 230), slice(0, 160))


@pytest.mark.parametrize("sides", [(1, 1), (30, 0)])
def test_blur_inside_a_frame_is_undone_as_without_it(photo_models, coffee, sides):
    blurred = ndimage.gaussian_filter(coffee.astype(float), (3, 3, 0), mode="mirror")
    blurred = blurred.round().astype(np.uint8)
    framed = frame(blurred, sides, 0)
    done = repair_photograph(photo_models, framed, seed=0)
    inside = find_inside(framed)
    alone = repair_photograph(photo_models, blurred, seed=0)
    assert np.array_equal(done.image[inside], alone.image)
    outside = np.ones(framed.shape[:2], bool)
    outside[inside] = False
    assert np.array_equal(done.image[outside], framed[outside])
    assert not done.is_unchanged
