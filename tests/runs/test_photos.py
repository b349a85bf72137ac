"""Photographs in memory: found by their keys alone, for a while, and within bounds."""

import asyncio
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from app.runs import photos as photographs
from app.runs.photos import GONE, Photo, Photos, UnknownPhotoError, clean_name
from app.server.decoder import PHOTO_PIXELS, Decoder
from app.server.visitors import Account, Visitor, Visitors
from dga.data.picture_files import encode_result, list_losses
from dga.data.uploads import read_photograph
from tests.fuzz.blocks import noise, saved

PNG = saved("PNG")
ONE = len(PNG) + 40 * 32 * 3  # bytes that one takes
ORIENTATION = 0x0112


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
    ("kind", "name", "download"),
    [
        ("JPEG", "cat.JPG", "cat-repaired.jpg"),
        ("JPEG", "cat.jpeg", "cat-repaired.jpeg"),
        ("PNG", "cat.jpg", "cat-repaired.png"),  # by its bytes
        ("WEBP", "cat", "cat-repaired.webp"),
        ("TIFF", "cat.tif", "cat-repaired.tif"),
        ("BMP", "cat.bmp", "cat-repaired.png"),
    ],
)
def test_a_download_has_its_photos_name_and_format(kind, name, download):
    photo, (result, content) = invert(name, saved(kind))
    assert result == download
    assert content == encode_result(photo.content, 255 - photo.pixels, Path(download).suffix)


@pytest.mark.parametrize("size", [(48, 32), (1500, 1000), (1538, 1537)])
def test_a_turned_photo_stands_upright_and_is_not_turned_again(size):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    data = saved("JPEG", noise(size=size), exif=exif)
    photo, (_, content) = invert("cat.jpg", data)
    assert photo.full_size == size[::-1]
    height, width, _ = photo.pixels.shape
    assert height >= width
    image = Image.open(io.BytesIO(content))
    assert image.size == (width, height)
    assert image.getexif().get(ORIENTATION, 1) == 1
