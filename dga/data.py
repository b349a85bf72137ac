"""Image folders and zips of them, held in memory, and their fixed splits."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dga.images import Pixels, to_pixels, to_square

EXTENSIONS = {".jpeg", ".jpg", ".png", ".webp", ".bmp"}
TUNE_SIZE = 500


@dataclass(frozen=True)
class ImageSet:
    """Labelled pictures of one size.

    ``names``: "class/file" of each; ``pixels``: uint8 ``[N, S, S, 3]``;
    ``labels``: int64 ``[N]``, positions in ``classes``.
    """

    names: tuple[str, ...]
    pixels: Pixels
    labels: NDArray[np.int64]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def take(self, indices: Sequence[int] | NDArray[np.int64]) -> ImageSet:
        """The pictures at these positions, in this order."""
        rows = np.asarray(indices, dtype=np.int64)
        return ImageSet(
            tuple(self.names[i] for i in rows), self.pixels[rows], self.labels[rows], self.classes
        )


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield ("class/file", bytes) of every picture under a folder or in a zip."""
    if source.is_dir():
        for path in sorted(source.glob("*/*")):
            if path.suffix.lower() in EXTENSIONS:
                yield f"{path.parent.name}/{path.name}", path.read_bytes()
    elif source.is_file() and zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            for name in sorted(archive.namelist()):
                path_in_zip = PurePosixPath(name)
                if path_in_zip.suffix.lower() in EXTENSIONS and len(path_in_zip.parts) >= 2:
                    yield "/".join(path_in_zip.parts[-2:]), _member(archive, name)
    else:
        raise FileNotFoundError(f"{source} is neither a folder nor a zip of images.")


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{name} in {archive.filename} is damaged.") from error


def read_images(
    sources: Sequence[str | Path],
    size: int,
    classes: tuple[str, ...] | None = None,
    unreadable: list[str] | None = None,
) -> ImageSet:
    """Read every picture of some folders or zips laid out as ``class/picture``.

    Pictures are cropped and resized to ``size`` pixels a side; an underscore in a
    folder's name stands for a space. Without ``classes``
    the folder names, sorted, are the classes. Names of pictures that cannot be read
    are added to ``unreadable``; without that list the first of them raises
    ``ValueError``, as do unknown classes and no pictures at all. Raises
    ``FileNotFoundError`` for a missing source.
    """
    names, pixels = [], []
    for source in sources:
        for name, content in _files(Path(source)):
            try:
                with Image.open(BytesIO(content)) as image:
                    pixels.append(to_pixels(to_square(image, size)))
            except (OSError, ValueError, Image.DecompressionBombError) as error:
                if unreadable is not None:
                    unreadable.append(name)
                    continue
                raise ValueError(f"{name} in {source} is not a readable picture.") from error
            names.append(name)
    if not names:
        raise ValueError(f"No pictures in {', '.join(map(str, sources))} (class/picture.jpeg).")
    found = [name.split("/")[0].replace("_", " ") for name in names]
    classes = classes or tuple(sorted(set(found)))
    unknown = sorted(set(found) - set(classes))
    if unknown:
        raise ValueError(
            f"Unknown classes {', '.join(unknown)}. The classes are: {', '.join(classes)}."
        )
    labels = np.array([classes.index(name) for name in found], dtype=np.int64)
    return ImageSet(tuple(names), np.stack(pixels), labels, classes)


def read_picture(path: Path, size: int) -> Pixels:
    """One picture, uint8 ``[size, size, 3]``. Raises ``ValueError`` naming it if it cannot."""
    try:
        with Image.open(path) as image:
            return to_pixels(to_square(image, size))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path} is missing or not a readable picture.") from error


def _hash(name: str) -> str:
    return hashlib.sha256(PurePosixPath(name).name.encode()).hexdigest()


def split_validation(images: ImageSet, tune_size: int = TUNE_SIZE) -> tuple[ImageSet, ImageSet]:
    """Split validation pictures into (tune, report) by a hash of the file name.

    Every choice is made on ``tune``; published numbers come from ``report`` only.
    """
    order = sorted(range(len(images)), key=lambda i: _hash(images.names[i]))
    return images.take(sorted(order[:tune_size])), images.take(sorted(order[tune_size:]))


def split_training(images: ImageSet, held_out: float = 0.03) -> tuple[ImageSet, ImageSet]:
    """Split training pictures into (used, held out) by a hash of the file name."""
    order = sorted(range(len(images)), key=lambda i: _hash(images.names[i]))
    cut = max(1, int(len(images) * held_out))
    return images.take(sorted(order[cut:])), images.take(sorted(order[:cut]))


def per_class(images: ImageSet, count: int) -> ImageSet:
    """The first ``count`` pictures of each class, chosen by the same hash."""
    chosen: list[int] = []
    for label in range(len(images.classes)):
        rows = [i for i in range(len(images)) if images.labels[i] == label]
        chosen += sorted(rows, key=lambda i: _hash(images.names[i]))[:count]
    return images.take(sorted(chosen))
