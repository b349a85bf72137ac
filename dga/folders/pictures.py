"""Pictures as people have them: in folders, zips, lists of paths, or each a file."""

import functools
import os
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dga.data.formats import ALLOWED
from dga.data.picture_files import StoredPicture
from dga.data.uploads import is_picture, list_pictures, refuse_unreadable
from dga.images import PictureError
from dga.io.files import LINES, RECORD

ENCRYPTED = 1
"""A zip's flag of a file that a password locks."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its ``name`` in lines, and when it was written, in nanoseconds.

    ``source``: the folder or zip that holds it, empty for none; ``path``: there. There may be a
    million of these, which share their strings.
    """

    name: str
    source: str
    path: str
    modified: int

    @property
    def safe_name(self) -> Path:
        """A relative path for its results, which leads nowhere above, whatever its name."""
        parts = (part for part in PurePosixPath(self.name).parts if part != "/")
        return Path(*("up" if part == ".." else part for part in parts))

    def read(self) -> StoredPicture:
        """Read and decode its file. Raises :class:`~dga.data.uploads.UploadError`."""
        if not Path(self.source).is_file():
            return StoredPicture.read(Path(self.source, self.path))
        with refuse_unreadable("zip"):
            archive = _open_zip(self.source)
            if archive.getinfo(self.path).flag_bits & ENCRYPTED:
                raise PictureError("The zip asks for a password: unpack it, and name the folder.")
            data = archive.read(self.path)
        return StoredPicture.decode(data)


@functools.lru_cache(maxsize=4)
def _open_zip(path: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def find_pictures(sources: Sequence[Path], out: Path) -> tuple[dict[str, Picture], list[str]]:
    """Find all pictures of some sources, by name; and say in a sentence each what cannot be used.

    A source is a folder, at any depth of which they lie, a zip, a picture, or a ``.txt`` with a
    path a line. Neither ``out`` nor other folders of results are looked into. What cannot be used
    are folders that cannot be read, and sources beside others that hold no pictures. Raises
    ``ValueError`` for other sources, where one is ``out`` itself, and where there are no pictures.
    """
    if out.resolve() in (source.resolve() for source in sources):
        raise ValueError(f"{out} holds the pictures themselves: name another folder with --out.")
    pictures, denied, empty = dict[str, Picture](), list[str](), list[str]()
    for source in sources:
        root, paths, known = str(source.resolve()), list[str](), len(denied)
        if source.is_dir():
            paths = _walk_folder(Path(root), out.resolve(), denied)
        elif zipfile.is_zipfile(source):
            paths = list_pictures(source)
        elif source.suffix.lower() == ".txt" and source.is_file():
            root, paths = "", source.read_text("utf-8-sig", "surrogateescape").splitlines()
        elif source.is_file() and is_picture(source.name):
            root, paths = "", [str(source)]
        else:
            raise ValueError(
                f"{source} is neither a folder, a zip, a picture nor a .txt with a path a line."
            )
        if not paths and len(denied) == known:
            empty.append(f"{source}: It holds no pictures.")
        before = f"{source.as_posix()}/" if root and len(sources) > 1 else ""
        for path in filter(str.strip, paths):
            place = path if root else str(Path(path).absolute())
            file = Path(root) if root and not source.is_dir() else Path(root, place)
            name = before + path if before else path
            modified = 0
            with suppress(OSError):  # told where it is read
                modified = file.stat().st_mtime_ns
            pictures[name] = Picture(name, root, place, modified)
    if not pictures and not denied:
        raise ValueError(f"{', '.join(map(str, sources))} holds no pictures ({ALLOWED}).")
    _refuse_shared_places(pictures)
    return pictures, denied + empty


def _refuse_shared_places(pictures: Mapping[str, Picture]) -> None:
    """Raise ``ValueError`` for two names, as of a list, whose results would be one file."""
    places = dict[str, str]()
    for name, picture in pictures.items():
        place = picture.safe_name.as_posix()
        if place == name:
            continue
        if other := place if place in pictures else places.get(place):
            raise ValueError(f"{name} and {other} would have one result: leave one of them out.")
        places[place] = name


def _walk_folder(folder: Path, out: Path, denied: list[str]) -> list[str]:
    """Paths of pictures at any depth, also behind links; each folder outside is entered once.

    ``denied`` is told of folders that cannot be read.
    """
    paths, entered = list[str](), {folder}

    def note(error: OSError) -> None:
        denied.append(f"{os.path.relpath(error.filename, folder)}: {error.strerror}")

    def holds_results(path: Path) -> bool:
        with suppress(OSError):  # what cannot be looked into is told where that is tried
            return path == out or any((path / name).is_file() for name in (LINES, RECORD))
        return False

    def is_entered_elsewhere(path: Path) -> bool:
        if not path.is_symlink():
            return False
        target = path.resolve()
        is_circle = folder.is_relative_to(target)
        if is_circle or any(target.is_relative_to(other) for other in entered):
            return True
        entered.add(target)
        return False

    for base, folders, names in os.walk(folder, onerror=note, followlinks=True):
        inner = (Path(base, name) for name in sorted(folders))
        folders[:] = [p.name for p in inner if not (holds_results(p) or is_entered_elsewhere(p))]
        files = (Path(base, name) for name in names if is_picture(name))
        # What a link names, and is not there, is told where it is read.
        paths += [
            str(path.relative_to(folder)) for path in files if path.is_file() or not path.exists()
        ]
    return sorted(paths)
