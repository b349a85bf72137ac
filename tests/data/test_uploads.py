"""Pictures of strangers and owners: read alike at every entrance, or refused in one sentence."""

import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from PIL import Image

import dga
from dga.data.picture_files import StoredPicture
from dga.data.uploads import MAX_SIDE, UploadError, read_photograph
from dga.images import MIN_PICTURE_SIDE as MIN_SIDE
from dga.images import to_pixels, to_square
from dga.io.shipped import ROOT
from dga.lab.data.cropping import Crop
from dga.lab.data.image_sets import find_images
from tests.fixtures.cli import refused
from tests.fixtures.odd_pictures import odd_pictures, unclear_pictures
from tests.fuzz.corpus import read_upload, try_file
from tests.fuzz.files import corpus
from tests.fuzz.uploads import changed_files

NAMES = tuple(corpus())
MAX_MB = 1024
"""What the page's decoder may take."""
SIDE = 24
ODD, UNCLEAR = odd_pictures(), unclear_pictures()
ENDINGS = (".png", ".jpg", ".tiff", ".webp", ".JFIF", ".gif")


# Hostile files


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Any]]:
    """The command's own records, from a process of its own: a decoder's fault would end it."""
    command = [sys.executable, "-m", "tests.fuzz.corpus"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == len(NAMES), done.stderr[-2000:]
    return {record["name"]: record for record in lines}


def test_each_is_a_picture_or_one_sentence(records):
    """Honest pictures with odd company are read; pieces, lies and other things are not."""
    verdicts = {name: record["verdict"] for name, record in records.items()}
    assert set(verdicts.values()) == {"picture", "refused"}
    assert max(record["peak_mb"] for record in records.values()) < MAX_MB
    for name, verdict in verdicts.items():
        kind = name.split("-")[0]
        assert kind not in ("cut", "magic", "size", "other") or verdict == "refused", name
        assert not name.startswith(("rare-jpeg", "rare-gif")) or verdict == "refused", name
    for name in ("bomb-png-heavy", "bomb-jpeg", "bomb-tiff", "both-png-zip", "both-jpeg-php"):
        assert verdicts[name] == "picture"


def test_changes_of_all_of_them(tmp_path):
    """More, and others each time, with EXAMPLES in the environment; the last file stays there."""
    verdicts = Counter[str]()

    @settings(
        max_examples=int(os.environ.get("EXAMPLES", "150")),
        database=None,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(changed_files())
    def attempt(data: bytes) -> None:
        (tmp_path / "last.png").write_bytes(data)
        verdict, said = try_file(tmp_path / "last.png")
        verdicts[verdict] += 1
        assert verdict != "failed", said

    attempt()
    assert min(verdicts["picture"], verdicts["refused"]) > 0


def test_a_large_picture_is_reduced_as_a_whole(tmp_path):
    """Bands that are converted one by one leave no seams, also where sides do not divide."""
    across = np.linspace(0, 255, 3_001).astype(np.uint8)
    path = tmp_path / "large.png"
    Image.fromarray(np.tile(across, (1_703, 1))).save(path)
    image = read_upload(path)
    assert image.size == (1_501, 852)
    shown = np.asarray(image)[..., 0].astype(int)
    assert np.abs(shown - across[::2]).max() <= 1
    assert (shown == shown[0]).all()


# What cannot be read, and limits


def refusal(path: Path) -> str:
    verdict, sentence = try_file(path)
    assert verdict == "refused", sentence
    return sentence


@pytest.mark.parametrize(
    ("length", "words"), [(None, "any more"), (0, "empty"), (2**40, "at most 20 MB")]
)
def test_what_is_gone_empty_or_too_long_is_not_read(tmp_path, length, words):
    path = tmp_path / "a.png"
    if length is not None:
        path.touch()
        os.truncate(path, length)
    assert words in refusal(path)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((20_000, 40), "too large"),
        ((20_000, 20_000), "too large"),
        ((8_000, 8_000), "too large"),
        ((300, MIN_SIDE - 1), f"at least {MIN_SIDE} pixels"),
        ((MIN_SIDE - 1, 300), f"at least {MIN_SIDE} pixels"),
    ],
)
def test_sizes_are_refused_before_decoding(tmp_path, size, words, monkeypatch):
    path = tmp_path / "wide.png"
    Image.new("1", size).save(path)

    def decode(*_):
        raise AssertionError("the picture was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decode)
    assert words in refusal(path)


def test_limits_are_inclusive(tmp_path):
    path = tmp_path / "long.png"
    Image.new("L", (MAX_SIDE, MIN_SIDE), 77).save(path)
    assert read_upload(path).size == (MAX_SIDE, MIN_SIDE)


# One reader


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
    # Of a PIL image no more is to be seen than of these four.
    if name not in ("thumbnail", "12-in-16-white-is-zero", "large-addresses"):
        with pytest.raises(ValueError, match=r"rare way|not numbers"):
            dga.to_pixels(Image.open(path))


@pytest.mark.parametrize(("kind", "side", "orientation"), [("PNG", 1_600, 6), ("JPEG", 2_311, 8)])
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
