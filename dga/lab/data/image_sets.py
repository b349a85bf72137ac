"""Image folders and zips of them, in memory or read as they are taken, and their fixed splits."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from pathlib import Path, PurePosixPath
from typing import Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from dga.data.uploads import (
    OWNER_LIMITS,
    Limits,
    UploadError,
    list_pictures,
    open_picture,
    read_bytes,
    refuse_unreadable,
)
from dga.images import Pixels
from dga.io.parsing import first_names
from dga.lab.data.cropping import Crop
from dga.lab.data.imagenet_c import are_wnid_folders
from dga.profiles.imagenet_labels import read_imagenet_labels

T = TypeVar("T")
PicturePlace = tuple[str, str]
"""A folder or zip, and the path of a picture inside it."""
MAX_LISTED_NAMES = 20
LABELLED = Limits(OWNER_LIMITS.size, OWNER_LIMITS.side, OWNER_LIMITS.pixels, 1)
"""Limits of a picture in a data set, which may be tiny."""
HELD_OUT = 0.03
"""The share of the training pictures on which nothing is trained."""
MEMORY_LIMIT = 2 << 30
"""Bytes of pixels that are held in memory; larger sets are read from disk as they are used."""


@dataclass(frozen=True)
class ImageSet:
    """Labelled pictures of one size: on disk until their pixels are wanted, or in memory."""

    names: tuple[str, ...]
    """The class and file of each picture, such as ``cat/a.png``."""
    labels: NDArray[np.int64]
    """The position of each picture's class in ``classes``, ``[N]``."""
    classes: tuple[str, ...]
    places: tuple[PicturePlace, ...]
    """Where each picture lies: a folder or zip, and the path inside it."""
    crop: Crop
    """Turns an opened picture into pixels."""
    pixels_in_memory: Pixels | None = None
    """uint8 ``[N, S, S, 3]``, once they are in memory."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def pixels(self) -> Pixels:
        """uint8 ``[N, S, S, 3]``, read from disk where they are not in memory.

        Raises ``ValueError`` naming the first picture that cannot be read.
        """
        return self.load().pixels if self.pixels_in_memory is None else self.pixels_in_memory

    def take(self, indices: Sequence[int] | NDArray[np.int64]) -> Self:
        """The pictures at these positions, in this order."""
        positions, pixels = np.asarray(indices, dtype=np.int64), self.pixels_in_memory
        return replace(
            self,
            names=tuple(self.names[i] for i in positions),
            labels=self.labels[positions],
            places=tuple(self.places[i] for i in positions),
            pixels_in_memory=None if pixels is None else pixels[positions],
        )

    @property
    def is_large(self) -> bool:
        """Whether the pixels take more memory than :data:`MEMORY_LIMIT`."""
        return len(self) * self.crop.side**2 * 3 > MEMORY_LIMIT

    def load(self) -> Self:
        """Read the pixels into memory. Raises ``ValueError`` naming the first unreadable one."""
        side = self.crop.side
        pixels = np.empty((len(self), side, side, 3), dtype=np.uint8)
        for i, picture in read_pictures(self.places, repeat(self.crop)):
            pixels[i] = picture
        return replace(self, pixels_in_memory=pixels)

    def compute_fingerprint(self) -> str:
        """Hexadecimal SHA-256 of names and pixels; of names alone where pixels are on disk.

        Reading every picture of a large set would take hours.
        """
        digest = hashlib.sha256(os.fsencode("\n".join(self.names)))
        if self.pixels_in_memory is not None:
            digest.update(np.ascontiguousarray(self.pixels_in_memory).data)  # no copy, as tobytes
        return digest.hexdigest()


def read_pictures(
    places: Iterable[PicturePlace],
    makers: Iterable[Callable[[Image.Image], T]],
    is_strict: bool = True,
) -> Iterator[tuple[int, T]]:
    """The position of each place, and what its maker returns of the opened picture there.

    Each zip is opened once. Raises ``ValueError`` naming the first picture that cannot be read;
    unless ``is_strict``, that picture is left out.
    """
    with ExitStack() as opened:
        open_zip = cache(lambda source: opened.enter_context(zipfile.ZipFile(source)))
        for i, ((source, member), make) in enumerate(zip(places, makers, strict=False)):
            try:
                if Path(source).is_file():
                    with refuse_unreadable("zip"):
                        data = open_zip(source).read(member)
                else:
                    data = read_bytes(Path(source, member), LABELLED)
                picture = make(open_picture(data, LABELLED))
            except UploadError as error:
                if is_strict:
                    raise UploadError(f"{member} in {source}: {error}") from None
            else:
                yield i, picture


def find_images(
    sources: Sequence[str | Path],
    crop: Crop,
    classes: tuple[str, ...] | None = None,
    has_labels: bool = True,
) -> ImageSet:
    """List the pictures of some folders or zips laid out as ``class/picture``; none is read yet.

    In the name of a folder an underscore stands for a space, and capitals count as small letters;
    folders named by ImageNet's wnids are the classes of that order. Without ``classes`` the sorted
    names of the folders are the classes. Unless ``has_labels``, pictures lie at any depth, and all
    are of one class without a name.

    Raises ``ValueError`` for unknown classes, for two pictures of one name and for no pictures at
    all; ``FileNotFoundError`` for a missing source.
    """
    pattern, layout = (
        ("*/*", " (class/picture.jpeg, right inside of it)") if has_labels else ("**/*", "")
    )
    places = [
        (str(source), name)
        for source in sources
        for name in list_pictures(Path(source), pattern)
        if "/" in name or not has_labels
    ]
    if not places:
        raise ValueError(f"No pictures in {', '.join(map(str, sources))}{layout}.")
    if has_labels:
        names = tuple("/".join(name.split("/")[-2:]) for _, name in places)
        labels, classes = _label_names(names, classes)
    else:
        names, classes = tuple(name for _, name in places), ("",)
        labels = np.zeros(len(places), dtype=np.int64)
    _refuse_duplicates(names, places)
    return ImageSet(names, labels, classes, tuple(places), crop)


def _refuse_duplicates(names: Sequence[str], places: Sequence[PicturePlace]) -> None:
    """Raise ``ValueError`` for two pictures of one name."""
    firsts = dict[str, PicturePlace]()
    for name, place in zip(names, places, strict=True):
        first = firsts.setdefault(name, place)
        if first is not place:
            raise ValueError(
                f"Two pictures are called {name}, {'/'.join(first)} and {'/'.join(place)}: "
                "leave one out."
            )


def _label_names(
    names: Sequence[str], classes: tuple[str, ...] | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The position of each picture's class, int64 ``[N]``, and the classes.

    ``names``: class and file of each. Raises ``ValueError`` naming classes that are not known.
    """
    folders = [name.split("/")[0] for name in names]
    wnids = tuple(read_imagenet_labels()) if are_wnid_folders(set(folders)) else ()
    if wnids and len(classes or wnids) == len(wnids):
        classes, titles = classes or wnids, wnids
    else:
        folders = [folder.replace("_", " ") for folder in folders]
        titles = classes = classes or tuple(sorted(set(folders)))
    positions = find_positions(folders, titles)
    if unknown := sorted({f for f, i in zip(folders, positions, strict=True) if i is None}):
        raise ValueError(
            f"Unknown classes {first_names(unknown, MAX_LISTED_NAMES)}. The classes are: "
            f"{first_names(titles, MAX_LISTED_NAMES)}."
        )
    return np.array(positions, dtype=np.int64), classes


def find_positions(names: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """The position of each name among titles, None where it is none of them.

    Capitals count only where two titles differ in nothing else.
    """
    exact = {title: i for i, title in enumerate(titles)}
    position = {title.casefold(): i for title, i in exact.items()} | exact
    return [position.get(name, position.get(name.casefold())) for name in names]


def _in_hash_order(images: ImageSet) -> list[int]:
    """Positions in the order of the hashes of the file names."""
    files = (os.fsencode(PurePosixPath(name).name) for name in images.names)
    keys = [hashlib.sha256(file).hexdigest() for file in files]
    return sorted(range(len(images)), key=keys.__getitem__)


@cache
def read_tune(profile: str) -> frozenset[str]:
    """File names, without their endings, of the split ``tune``; empty where a profile has none.

    Of everyday16 they are the first 500 of the project's own validation set by SHA-256 of the file
    name, of photo 120 photographs of ImageNet, one of a class and named by it.
    """
    path = Path(__file__).with_name(f"{profile}-tune.txt")
    return frozenset(path.read_text("utf-8").split()) if path.exists() else frozenset()


def split_tune(images: ImageSet, tune: Collection[str]) -> tuple[ImageSet, ImageSet]:
    """Split pictures into two sets, tune and report: those that ``tune`` names, and the rest.

    Every choice is made on ``tune``; published numbers come from ``report`` only. Of a set
    that is not the project's own, all is ``report``.
    """
    chosen = [PurePosixPath(name).stem in tune for name in images.names]
    return images.take(np.flatnonzero(chosen)), images.take(np.flatnonzero(np.invert(chosen)))


def take_training(images: ImageSet) -> ImageSet:
    """All but a share of :data:`HELD_OUT`, on which nothing is trained: by the file names' hash.

    Raises ``ValueError`` where no picture is left to train on.
    """
    if len(images) < 2:
        raise ValueError("Training needs at least two pictures: one is held out.")
    held_out = max(1, int(len(images) * HELD_OUT))
    return images.take(sorted(_in_hash_order(images)[held_out:]))


def take_per_class(images: ImageSet, count: int) -> ImageSet:
    """At most ``count`` pictures of each class, the first by the hash of their file names."""
    labels = pd.Series(images.labels).iloc[_in_hash_order(images)]
    return images.take(sorted(labels.groupby(labels).head(count).index))
