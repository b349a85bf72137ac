"""Folders, zips and splits."""

import hashlib
import shutil
import zipfile
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dga.lab.data.cropping import Crop
from dga.lab.data.image_sets import (
    ImageSet,
    find_images,
    read_pictures,
    read_tune,
    split_tune,
    take_per_class,
    take_training,
)
from dga.lab.training.windows import PICTURE_SIDE, Photographs


def test_folder_and_zip_hold_the_same_pictures(picture_folder, tmp_path):
    archive = tmp_path / "pictures.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in picture_folder.glob("*/*"):
            file.write(path, f"some/where/{path.parent.name}/{path.name}")
    from_folder = find_images([picture_folder], Crop(32)).load()
    from_zip = find_images([archive], Crop(32)).load()
    assert from_folder.classes == from_zip.classes == ("big cat", "cat")
    assert from_folder.names == from_zip.names
    assert from_folder.pixels.shape == (16, 32, 32, 3)
    assert np.array_equal(from_folder.pixels, from_zip.pixels)
    assert from_folder.labels.tolist() == [0] * 8 + [1] * 8


def test_bad_data_is_named(picture_folder, tmp_path):
    broken = tmp_path / "broken" / "cat" / "broken.png"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"not a picture")
    (tmp_path / "empty").mkdir()
    for sources, options, words in (
        ([tmp_path / "nothing"], {}, "neither a folder nor a zip"),
        ([tmp_path / "empty"], {}, "No pictures"),
        ([picture_folder], {"classes": ("cat",)}, "Unknown classes big cat"),
        ([picture_folder, picture_folder], {}, "Two pictures are called .*: leave one out"),
        ([tmp_path / "broken"], {}, r"cat/broken\.png"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=words):
            find_images(sources, Crop(32), **options).load()


def test_pictures_are_known_by_their_endings(picture_folder, tmp_path):
    """Notes, other files and smaller photographs are passed over, in folders and zips."""
    data = tmp_path / "data"
    shutil.copytree(picture_folder, data)
    for name in ("notes.txt", "labels.csv", "._a.png", ".DS_Store"):
        (data / "cat" / name).write_bytes(b"text")
    Image.new("RGB", (PICTURE_SIDE, PICTURE_SIDE)).save(data / "cat" / "large.PNG")
    for source in (data, shutil.make_archive(str(data), "zip", data)):
        assert len(Photographs.read([Path(source)]).pictures) == 1
        assert len(find_images([source], Crop(32))) == 17
        assert len(find_images([source], Crop(32), has_labels=False)) == 17


def test_capitals_make_no_other_class(picture_folder, tmp_path):
    for name in ("Cat", "BIG_cat", "cat"):
        shutil.copytree(picture_folder / "cat", tmp_path / "data" / name)
    for number, path in enumerate(sorted((tmp_path / "data").glob("*/*"))):
        path.rename(path.with_name(f"{number}{path.suffix}"))
    known = find_images([tmp_path / "data"], Crop(32), classes=("cat", "Big cat"))
    classes = [name.split("/")[0] for name in known.names]
    assert known.labels.tolist() == [int(name == "BIG_cat") for name in classes]
    # Where nothing else tells two classes apart, capitals do.
    apart = find_images([tmp_path / "data"], Crop(32), classes=("cat", "Cat", "big cat"))
    assert set(zip(classes, apart.labels.tolist(), strict=True)) == {
        ("cat", 0), ("Cat", 1), ("BIG_cat", 2)
    }  # fmt: skip


def _many(count: int) -> ImageSet:
    names = tuple(f"c{i % 4}/picture_{i}.jpeg" for i in range(count))
    labels = np.arange(count, dtype=np.int64) % 4
    return ImageSet(names, labels, ("a", "b", "c", "d"), (("", ""),) * count, Crop(1))


def test_the_split_for_choices_is_the_projects_own_and_nothing_elses():
    tune = read_tune("everyday16")
    assert len(tune) == 500
    digest = hashlib.sha256("\n".join(sorted(tune)).encode()).hexdigest()
    assert digest.startswith("81d62acf6fad8cc4")
    names = [f"dog/{name}.JPEG" for name in sorted(tune)[:7]] + ["dog/n02085620_val_1.JPEG"]
    images = ImageSet(tuple(names), np.zeros(8, int), ("dog",), (("", ""),) * 8, Crop(1))
    chosen, rest = split_tune(images, tune)
    assert (list(chosen.names), list(rest.names)) == (names[:7], names[7:])
    assert [len(part) for part in split_tune(_many(1475), tune)] == [0, 1475]
    assert not read_tune("imagenet")


def test_training_split_and_per_class():
    assert len(set(take_training(_many(1000)).names)) == 970
    first_three = take_per_class(_many(400), 3)
    assert np.bincount(first_three.labels).tolist() == [3, 3, 3, 3]
    assert set(first_three.names) < set(take_per_class(_many(400), 6).names)


def test_a_broken_png_is_named_or_skipped(tmp_path):
    (tmp_path / "dog").mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (300, 300, 3), np.uint8)
    for name in ("good.png", "bad.png"):
        Image.fromarray(noise).save(tmp_path / "dog" / name)
    path = tmp_path / "dog" / "bad.png"
    first, _, rest = path.read_bytes().rpartition(b"IDAT")
    path.write_bytes(first + b"\x00\x01\x02\x03" + rest)
    files = find_images([tmp_path], Crop(64))
    read = read_pictures(files.places, repeat(files.crop), is_strict=False)
    readable = [files.names[i] for i, _ in read]
    assert readable == ["dog/good.png"]
    with pytest.raises(ValueError, match=r"bad\.png"):
        files.load()
