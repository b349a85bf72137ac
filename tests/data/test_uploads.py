"""Every odd file either works as a person would expect or gives one clear sentence."""

import numpy as np
import pytest
from PIL import Image

from dga.data.uploads import MAX_SIDE, MIN_SIDE, UploadError, open_upload

RED, BLUE = (200, 30, 30), (30, 30, 200)


def two_colours(width=48, height=32):
    """Left half red, right half blue."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2], pixels[:, width // 2 :] = RED, BLUE
    return Image.fromarray(pixels)


def opened(tmp_path, image, name, **options):
    path = tmp_path / name
    image.save(path, **options)
    return open_upload(path)


def close(pixel, wanted, tolerance=6):
    return max(abs(int(a) - b) for a, b in zip(pixel, wanted, strict=True)) <= tolerance


def refusal(path):
    with pytest.raises(UploadError) as caught:
        open_upload(path)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert str(path) not in text
    return text


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tiff", "a.webp", "a.gif", "a.jpg"])
def test_allowed_formats(tmp_path, name):
    image = opened(tmp_path, two_colours(), name)
    assert image.mode == "RGB"
    assert image.size == (48, 32)
    assert close(image.getpixel((4, 4)), RED, 12)
    assert close(image.getpixel((44, 4)), BLUE, 12)


def test_nothing_to_read(tmp_path):
    assert "any more" in refusal(tmp_path / "gone.png")
    (tmp_path / "empty.png").touch()
    assert "empty" in refusal(tmp_path / "empty.png")


@pytest.mark.parametrize("size", [(20_000, 40), (40, 20_000), (20_000, 20_000), (8_000, 8_000)])
def test_too_large_is_refused_before_decoding(tmp_path, size, monkeypatch):
    path = tmp_path / "wide.png"
    Image.new("1", size).save(path)

    def decode(*_):
        raise AssertionError("the picture was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decode)
    assert "too large" in refusal(path)


@pytest.mark.parametrize("size", [(1, 1), (300, MIN_SIDE - 1), (MIN_SIDE - 1, 300)])
def test_too_small(tmp_path, size):
    path = tmp_path / "small.png"
    Image.new("RGB", size).save(path)
    assert f"at least {MIN_SIDE} pixels" in refusal(path)


def test_limits_are_inclusive(tmp_path):
    image = opened(tmp_path, Image.new("L", (MAX_SIDE, MIN_SIDE), 77), "long.png")
    assert image.size == (MAX_SIDE, MIN_SIDE)


def even(value, kind):
    return Image.fromarray(np.full((32, 32), value, kind))


@pytest.mark.parametrize(
    ("image", "name", "wanted", "tolerance"),
    [
        (even(255, np.uint8), "grey.png", (255, 255, 255), 0),
        (even(255, np.uint8).convert("1"), "bits.png", (255, 255, 255), 0),
        (even(255, np.uint8).convert("P"), "palette.png", (255, 255, 255), 0),
        (even(200, np.uint16), "dark.png", (1, 1, 1), 0),
        (even(0.5, np.float32), "half.tiff", (128, 128, 128), 0),
        (two_colours().convert("CMYK"), "print.jpg", RED, 16),
    ],
)
def test_other_kinds_of_values(tmp_path, image, name, wanted, tolerance):
    read = opened(tmp_path, image, name)
    assert read.mode == "RGB"
    assert close(read.getpixel((4, 4)), wanted, tolerance)


@pytest.mark.parametrize("name", ["deep.png", "deep.tiff"])
def test_16_bit_grey(tmp_path, name):
    ramp = np.linspace(0, 65535, 32).round().astype(np.uint16)
    image = opened(tmp_path, Image.fromarray(np.tile(ramp, (32, 1))), name)
    assert image.mode == "RGB"
    wanted = np.linspace(0, 255, 32)
    assert np.abs(np.asarray(image)[0, :, 0] - wanted).max() <= 1


@pytest.mark.parametrize("name", ["clear.png", "clear.webp"])
def test_transparent_is_laid_over_white(tmp_path, name):
    pixels = np.zeros((32, 32, 4), np.uint8)
    pixels[:, 16:] = (*RED, 255)
    image = opened(tmp_path, Image.fromarray(pixels), name, lossless=True)
    assert image.getpixel((2, 2)) == (255, 255, 255)
    assert image.getpixel((30, 2)) == RED


def test_transparent_palette(tmp_path):
    picture = two_colours().quantize(4)
    clear = picture.getpixel((2, 2))
    image = opened(tmp_path, picture, "palette.png", transparency=clear)
    assert image.getpixel((2, 2)) == (255, 255, 255)
    assert close(image.getpixel((44, 4)), BLUE)


def test_animation_gives_its_first_frame(tmp_path):
    frames = [Image.new("RGB", (32, 32), colour) for colour in (RED, BLUE)]
    path = tmp_path / "moving.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert close(open_upload(path).getpixel((5, 5)), RED)
