"""Photographs in memory: found by their keys alone, for a while, and within bounds."""

import asyncio
import io
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from app.server import photos as photographs
from app.server.decoder import PHOTO_PIXELS, Decoder
from app.server.photos import GONE, Photo, Photos, UnknownPhotoError, clean_name
from app.server.visitors import Account, Visitor, Visitors
from dga.data.picture_files import encode_result, list_losses
from dga.data.uploads import read_photograph
from tests.fuzz.blocks import noise, saved

PNG = saved("PNG")
ONE = len(PNG) + 40 * 32 * 3  # bytes that one takes
DESCRIPTION, MAKER, ORIENTATION = 0x010E, 0x010F, 0x0112
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


class NoProcess(Decoder):
    """What is done in a process of its own (``test_decoder.py``) is done in this one."""

    async def read_upload(self, data: bytes, suffix: str | None = None, visitor: Any = None) -> Any:
        return (*read_photograph(data, PHOTO_PIXELS), list_losses(data, suffix or ".png", False))

    async def write_photograph(self, *values: Any) -> bytes:
        return encode_result(*values[:3])


def play(
    scene: Callable[[Photos], Coroutine[Any, Any, None]],
    memory: Account | None = None,
) -> None:
    async def act() -> None:
        async with asyncio.timeout(60):
            await scene(Photos(NoProcess(), memory or Visitors().memory))

    asyncio.run(act())


def test_only_the_key_leads_to_a_photo():
    async def scene(photos: Photos) -> None:
        hers, his = [await photos.add(Visitor(who), "a.png", PNG) for who in "ab"]
        assert photos.get(hers.key) is hers
        assert hers.key != his.key
        assert len(hers.key) >= 21
        result = photos.keep_result(hers.key, hers.pixels)
        for key in ("", "a.png", hers.key[:-1], hers.key.swapcase(), f"{hers.key}/../{his.key}"):
            with pytest.raises(UnknownPhotoError) as error:
                photos.get(key)
            assert str(error.value) == GONE
        for key, name in ((his.key, result), (hers.key, "x"), (hers.key, hers.key), (result, "")):
            with pytest.raises(UnknownPhotoError):
                await photos.get_result(key, name)

    play(scene)


def test_photos_are_forgotten(monkeypatch):
    async def scene(photos: Photos) -> None:
        forgotten = list[str]()
        photos.on_forget = forgotten.append
        photo = await photos.add(Visitor("a"), "a.png", PNG)
        await asyncio.sleep(0.1)
        assert forgotten == [photo.key]
        assert photo.key not in photos
        with pytest.raises(UnknownPhotoError):
            photos.get(photo.key)
        with pytest.raises(UnknownPhotoError):
            photos.keep_result(photo.key, photo.pixels)

    monkeypatch.setattr(photographs, "LIFETIME_SECONDS", 0.05)
    play(scene)


def test_an_address_has_a_quota():
    async def scene(photos: Photos) -> None:
        first, *others = [await photos.add(Visitor(who), "a.png", PNG) for who in "abaa"]
        assert [photo.key in photos for photo in others] == [True] * 3
        assert first.key not in photos

    play(scene, Account(most_of_one=2 * ONE))


def test_whoever_has_most_loses_the_oldest():
    """Of photographs as of their results."""

    async def scene(photos: Photos) -> None:
        hers = await photos.add(Visitor("b"), "a.png", PNG)
        crowd = [await photos.add(Visitor("a"), "a.png", PNG) for _ in range(4)]
        photos.keep_result(crowd[3].key, crowd[3].pixels)
        for gone in crowd[:2]:
            with pytest.raises(UnknownPhotoError):
                photos.get(gone.key)
        for photo in (hers, *crowd[2:]):
            assert photos.get(photo.key) is photo
        first, *others = (photos.keep_result(hers.key, hers.pixels) for _ in range(3))
        with pytest.raises(UnknownPhotoError):
            await photos.get_result(hers.key, first)
        assert (await photos.get_result(hers.key, others[0]))[1] == PNG

    play(scene, Account(4 * ONE))


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("a.png", "a.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\b\\a.png", "a.png"),
        ("", "photo"),
        ("..", "photo"),
        ("a\x00\r\n\u202eb.png", "ab.png"),
        ("ä ß.JPG", "ä ß.JPG"),
        ('<a href="x">.png', "a href=x.png"),
        ("a" * 999 + ".png", "a" * 96 + ".png"),
    ],
)
def test_names_lead_nowhere(name, cleaned):
    assert clean_name(name) == cleaned


def described(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[DESCRIPTION], exif[MAKER], exif[ORIENTATION] = "a cat", "a camera", orientation
    return exif


def invert(name: str, data: bytes) -> tuple[Photo, tuple[str, bytes]]:
    """A photograph, and the file of a result with all its values inverted."""
    done = list[Any]()

    async def scene(photos: Photos) -> None:
        photo = await photos.add(Visitor("a"), name, data)
        result = photos.keep_result(photo.key, 255 - photo.pixels)
        done.extend((photo, await photos.get_result(photo.key, result)))

    play(scene)
    return done[0], done[1]


@pytest.mark.parametrize(
    ("kind", "name", "download", "written"),
    [
        ("JPEG", "cat.JPG", "cat-repaired.jpg", "JPEG"),
        ("JPEG", "cat.jpeg", "cat-repaired.jpeg", "JPEG"),
        ("PNG", "cat.jpg", "cat-repaired.png", "PNG"),  # by its bytes
        ("WEBP", "cat", "cat-repaired.webp", "WEBP"),
        ("TIFF", "cat.tif", "cat-repaired.tif", "TIFF"),
        ("BMP", "cat.bmp", "cat-repaired.png", "PNG"),
        ("GIF", "cat.gif", "cat-repaired.png", "PNG"),
        ("HEIF", "cat.heic", "cat-repaired.png", "PNG"),
    ],
)
def test_metadata_survives(kind, name, download, written):
    """Format, name, EXIF, profile and resolution, also where it is reduced."""
    if kind == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    size = (1500, 1000) if kind in ("JPEG", "BMP") else (48, 32)
    metadata = {"exif": described().tobytes(), "icc_profile": PROFILE, "dpi": (300, 300)}
    has_metadata = kind not in ("BMP", "GIF")
    cat = Image.radial_gradient("L").resize(size).convert("RGB")
    photo, (result, content) = invert(name, saved(kind, cat, **metadata if has_metadata else {}))
    image = Image.open(io.BytesIO(content))
    assert (result, image.format) == (download, written)
    assert (image.size, photo.full_size) == (photo.pixels.shape[1::-1], size)
    assert np.abs(np.asarray(image.convert("RGB")).astype(int) - 255 + photo.pixels).mean() < 2
    if has_metadata:
        assert image.getexif()[DESCRIPTION] == "a cat"
        assert image.getexif()[MAKER] == "a camera"
        assert image.info["icc_profile"] == PROFILE
    if kind in ("JPEG", "PNG", "TIFF"):
        assert tuple(round(float(number)) for number in image.info["dpi"]) == (300, 300)


@pytest.mark.parametrize("size", [(48, 32), (1500, 1000), (1538, 1537)])
def test_a_turned_photo_stands_upright_and_is_not_turned_again(size):
    data = saved("JPEG", noise(size=size), exif=described(6).tobytes())
    photo, (_, content) = invert("cat.jpg", data)
    assert photo.full_size == size[::-1]
    height, width, _ = photo.pixels.shape
    assert height >= width
    image = Image.open(io.BytesIO(content))
    assert image.size == (width, height)
    assert image.getexif().get(ORIENTATION, 1) == 1
