"""One reader: whatever stands in a file, every entrance has the same pixels, or refuses it."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dga
from dga.data.formats import WRITTEN
from dga.data.picture_files import StoredPicture, encode_result
from dga.data.uploads import UploadError, open_picture, read_photograph
from dga.images import read_exif, to_image_like, to_pixels, to_square
from dga.lab.data.cropping import Crop
from dga.lab.data.image_sets import find_images
from tests.fixtures.cli import refused
from tests.fixtures.odd_pictures import (
    odd_pictures,
    srgb_profile,
    swapped_profile,
    truth,
    unclear_pictures,
)
from tests.fuzz.corpus import read_upload

SIDE = 24
ODD, UNCLEAR = odd_pictures(), unclear_pictures()
ENDINGS = (".png", ".jpg", ".tiff", ".webp", ".JFIF", ".gif")


def square_of(pixels: np.ndarray) -> np.ndarray:
    return to_pixels(to_square(Image.fromarray(pixels), SIDE))


def page(path: Path) -> np.ndarray:
    """What the page's decoder does in its process."""
    return read_photograph(path.read_bytes(), 1_000_000)[0]


def entrances(path: Path) -> dict[str, np.ndarray]:
    """The middle square as every entrance has it; the commands' by the functions that they call."""
    folder = path.parent.parent
    with zipfile.ZipFile(folder / "set.zip", "w") as archive:
        archive.write(path, f"set/class/{path.name}")
    return {
        "page": square_of(page(path)),
        "adapt": to_pixels(to_square(StoredPicture.read(path).image, SIDE)),
        "repair": square_of(StoredPicture.read(path).pixels),
        "train": find_images([folder], Crop(SIDE)).load().pixels[0],
        "evaluate": find_images([folder / "set.zip"], Crop(SIDE)).load().pixels[0],
        "a program": dga.to_pixels(dga.to_square(Image.open(path), SIDE)),
        "a program, whole": square_of(dga.to_pixels(Image.open(path))),
    }


@pytest.mark.parametrize(("number", "name"), enumerate(ODD))
def test_every_entrance_has_the_same_pixels(tmp_path, number, name):
    data, shown, tolerance = ODD[name]()
    path = tmp_path / "class" / f"picture{ENDINGS[number % len(ENDINGS)]}"
    path.parent.mkdir()
    path.write_bytes(data)
    pictures = entrances(path)
    for entrance, pixels in pictures.items():
        assert np.abs(pixels.astype(int) - pictures["page"]).max() <= 1, entrance
    whole = to_pixels(read_upload(path)).astype(int)
    assert whole.shape == shown.shape
    assert np.abs(whole - shown).max() <= tolerance
    assert np.abs(whole - shown).mean() <= max(1, tolerance / 8) or tolerance == 255


def test_a_tiff_of_large_addresses_is_called_one():
    file = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE)).save(file, "TIFF", big_tiff=True)
    with pytest.raises(UploadError, match="This TIFF is stored in a rare way"):
        open_picture(file.getvalue())


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_is_unclear_is_refused_everywhere(tmp_path, name):
    path = tmp_path / "class" / "picture.tif"
    path.parent.mkdir()
    path.write_bytes(UNCLEAR[name])
    for read in (read_upload, StoredPicture.read, page):
        with pytest.raises(UploadError) as caught:
            read(path)
        assert "rare way" in str(caught.value) or "not numbers" in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"picture\.tif"):
        find_images([tmp_path], Crop(SIDE)).load()
    for command in ("adapt", "repair"):
        assert str(path) in refused(command, path, "--out", tmp_path / "out.png")
    # Of a PIL image there is no more to be seen than of these three.
    if name not in ("thumbnail", "12-in-16-white-is-zero"):
        with pytest.raises(ValueError, match=r"rare way|not numbers"):
            dga.to_pixels(Image.open(path))


@pytest.mark.parametrize(
    ("kind", "side", "orientation"),
    [("PNG", 1_600, 1), ("PNG", 2_311, 6), ("JPEG", 1_600, 3), ("JPEG", 2_311, 8)],
)
def test_large_pictures_too(tmp_path, kind, side, orientation):
    """Where they are reduced first; an edge between two colours tells a shift of a pixel."""
    pixels = np.zeros((side, side + 700, 3), np.uint8)
    pixels[side // 3 :, side // 2 :] = 250, 200, 30
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "class" / "large.png"
    path.parent.mkdir()
    Image.fromarray(pixels).save(path, kind, exif=exif, quality=95)
    pictures = entrances(path)
    for entrance in ("adapt", "train", "evaluate", "a program"):
        assert np.abs(pictures[entrance].astype(int) - pictures["page"]).max() <= 1, entrance


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif"])
@pytest.mark.parametrize("name", [name for name in ODD if "-turned-6-" in name])
def test_profile_exif_and_resolution_survive(tmp_path, name, suffix):
    """What is unchanged keeps its very bytes in its own format, and its colours in others."""
    data = ODD[name]()[0]
    kind, path = name.split("-")[0], tmp_path / "a"
    path.write_bytes(data)
    picture = StoredPicture.read(path)
    same = encode_result(picture.data, picture.pixels.copy(), suffix)
    assert (same == picture.data) == (WRITTEN[suffix].name == picture.image.format)
    changed = picture.pixels.copy()
    changed[:9, :9] = 40, 90, 160
    for expected, content in (
        (changed, encode_result(picture.data, changed, suffix)),
        (picture.pixels, same),
    ):
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            if "broken" not in name:
                assert image.info.get("icc_profile") == picture.image.info.get("icc_profile")
            assert image.getexif().get(0x010F) == "Maker"
            if "WEBP" not in (kind, WRITTEN[suffix].name):
                assert np.allclose(image.info["dpi"], 300, atol=1)
            pixels = to_pixels(image).astype(int)
        lossless = WRITTEN[suffix].name in ("PNG", "TIFF")
        assert pixels.shape == expected.shape
        assert np.abs(pixels - expected).mean() <= (0.2 if lossless else 8)


@pytest.mark.parametrize("profile", [swapped_profile, srgb_profile])
def test_a_program_has_its_picture_back_with_its_profile(choosy_models, profile):
    data = ODD["PNG-turned-6-profile-swapped"]()[0]
    image = Image.open(io.BytesIO(data))
    image.info["icc_profile"] = profile()
    read = dga.to_pixels(image)
    assert read.shape == truth().shape
    done = dga.repair(image, choosy_models)
    expected = dga.repair(read, choosy_models)
    assert np.abs(to_pixels(done).astype(int) - expected).max() <= 2
    assert done.info["icc_profile"] == profile()
    back = to_image_like(expected, image)
    assert back.info["icc_profile"] == profile()
    assert read_exif(image)
