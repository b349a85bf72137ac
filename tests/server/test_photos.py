"""Photographs in memory: found by their keys alone, for a while, and within bounds."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from app.server.photos import GONE, QUOTA, Photo, Photos, UnknownPhotoError, clean_name
from dga.data.uploads import UploadError
from tests.fuzz.blocks import noise, saved

PNG = saved("PNG")
ONE = len(PNG) + 40 * 32 * 3  # bytes that one takes
DESCRIPTION, MAKER, ORIENTATION = 0x010E, 0x010F, 0x0112


def play(scene: Callable[[Photos], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def act() -> None:
        async with asyncio.timeout(60):
            await scene(Photos(**options))

    asyncio.run(act())


def test_only_the_key_leads_to_a_photo() -> None:
    async def scene(photos: Photos) -> None:
        hers, his = await photos.add("a", "a.png", PNG), await photos.add("b", "a.png", PNG)
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


def test_photos_are_forgotten() -> None:
    async def scene(photos: Photos) -> None:
        photo = await photos.add("a", "a.png", PNG)
        await asyncio.sleep(0.1)
        with pytest.raises(UnknownPhotoError):
            photos.get(photo.key)
        with pytest.raises(UnknownPhotoError):
            photos.keep_result(photo.key, photo.pixels)
        assert not photos._kept

    play(scene, seconds=0.05)


def test_an_address_has_a_quota() -> None:
    async def scene(photos: Photos) -> None:
        first = await photos.add("a", "a.png", PNG)
        await photos.add("a", "a.png", PNG)
        with pytest.raises(UploadError) as error:
            await photos.add("a", "a.png", PNG)
        assert str(error.value) == QUOTA
        await photos.add("b", "a.png", PNG)
        assert photos.get(first.key) is first

    play(scene, most_of_address=2 * ONE)


def test_whoever_has_most_loses_the_oldest() -> None:
    async def scene(photos: Photos) -> None:
        hers = await photos.add("b", "a.png", PNG)
        crowd = [await photos.add("a", "a.png", PNG) for _ in range(4)]
        photos.keep_result(crowd[3].key, crowd[3].pixels)
        assert photos.get(hers.key) is hers
        for photo, is_there in zip(crowd, (False, False, True, True), strict=True):
            assert (photo.key in photos._kept) is is_there

    play(scene, most_bytes=4 * ONE)


def test_only_the_latest_results_are_kept() -> None:
    async def scene(photos: Photos) -> None:
        photo = await photos.add("a", "a.png", PNG)
        results = [photos.keep_result(photo.key, photo.pixels) for _ in range(3)]
        with pytest.raises(UnknownPhotoError):
            await photos.get_result(photo.key, results[0])
        assert (await photos.get_result(photo.key, results[1])).content == PNG

    play(scene)


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        *(("a.png", "a.png"), ("../../etc/passwd", "passwd"), ("C:\\b\\a.png", "a.png")),
        *(
            ("", "photo"),
            ("..", "photo"),
            ("a\x00\r\n\u202eb.png", "ab.png"),
            ("ä ß.JPG", "ä ß.JPG"),
        ),
        ('<a href="x">.png', "a href=x.png"),
        ("a" * 999 + ".png", "a" * 96 + ".png"),
    ],
)
def test_names_lead_nowhere(came: str, kept: str) -> None:
    assert clean_name(came) == kept


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def described(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[DESCRIPTION], exif[MAKER], exif[ORIENTATION] = "a cat", "a camera", orientation
    return exif


async def repaired(photos: Photos, name: str, data: bytes) -> tuple[Photo, str, str, bytes]:
    photo = await photos.add("a", name, data)
    result = photos.keep_result(photo.key, 255 - photo.pixels)
    return photo, *(await photos.get_result(photo.key, result))


@pytest.mark.parametrize(
    ("kind", "name", "becomes", "media_type"),
    [
        ("JPEG", "cat.JPG", "cat-repaired.jpg", "image/jpeg"),
        ("JPEG", "cat.jpeg", "cat-repaired.jpeg", "image/jpeg"),
        ("PNG", "cat.jpg", "cat-repaired.png", "image/png"),  # by its bytes
        ("WEBP", "cat", "cat-repaired.webp", "image/webp"),
        ("TIFF", "cat.tif", "cat-repaired.tif", "image/tiff"),
        ("BMP", "cat.bmp", "cat-repaired.png", "image/png"),
        ("GIF", "cat.gif", "cat-repaired.png", "image/png"),
        ("HEIF", "cat.heic", "cat-repaired.png", "image/png"),
    ],
)
@pytest.mark.parametrize("size", [(48, 32), (1500, 1000)], ids=["its own size", "reduced"])
def test_metadata_survives(
    kind: str, name: str, becomes: str, media_type: str, size: tuple[int, int]
) -> None:
    """Format, name, EXIF, profile and resolution, for large ones too."""
    if kind == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()

    async def scene(photos: Photos) -> None:
        options = {"exif": described().tobytes(), "icc_profile": PROFILE, "dpi": (300, 300)}
        if kind in ("BMP", "GIF"):
            options = {}
        cat = Image.radial_gradient("L").resize(size).convert("RGB")
        data = saved(kind, cat, **options)
        photo, *found = await repaired(photos, name, data)
        assert found[:2] == [becomes, media_type]
        image = Image.open(io.BytesIO(found[2]))
        assert f"image/{str(image.format).lower()}" == media_type
        assert image.size == photo.pixels.shape[1::-1]
        assert photo.came == size
        assert np.abs(np.asarray(image.convert("RGB")).astype(int) - 255 + photo.pixels).mean() < 2
        if options:
            assert image.getexif()[DESCRIPTION] == "a cat"
            assert image.getexif()[MAKER] == "a camera"
            assert image.info["icc_profile"] == PROFILE
        if kind in ("JPEG", "PNG", "TIFF"):
            assert tuple(round(float(number)) for number in image.info["dpi"]) == (300, 300)

    play(scene)


@pytest.mark.parametrize("size", [(48, 32), (1500, 1000)])
def test_a_turned_photo_stands_upright_and_is_not_turned_again(size: tuple[int, int]) -> None:
    async def scene(photos: Photos) -> None:
        data = saved("JPEG", noise(size=size), exif=described(6).tobytes())
        photo, _, _, content = await repaired(photos, "cat.jpg", data)
        assert photo.came == size[::-1]
        height, width, _ = photo.pixels.shape
        assert height > width
        image = Image.open(io.BytesIO(content))
        assert image.size == (width, height)
        assert image.getexif().get(ORIENTATION, 1) == 1
        assert image.getexif()[MAKER] == "a camera"

    play(scene)


def test_what_was_left_alone_is_the_same_file() -> None:
    async def scene(photos: Photos) -> None:
        data = saved("JPEG", noise(), exif=described(6).tobytes())
        photo = await photos.add("a", "cat.jpg", data)
        result = photos.keep_result(photo.key, photo.pixels)
        assert (await photos.get_result(photo.key, result)).content == data

    play(scene)


def test_a_large_photo_is_reduced() -> None:
    async def scene(photos: Photos) -> None:
        photo = await photos.add("a", "a.jpg", saved("JPEG", noise(size=(3000, 2000))))
        height, width, _ = photo.pixels.shape
        assert 900_000 < height * width <= 1_000_000
        assert photo.came == (3000, 2000)

    play(scene)
