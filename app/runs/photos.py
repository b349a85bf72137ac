"""Photographs: visitors' in memory only, for less than an hour, under keys nobody can guess."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from app.server.decoder import Decoder
from app.server.visitors import NOBODY, Account, Visitor, VisitorError
from dga.data.picture_files import choose_suffix
from dga.data.uploads import detect_format
from dga.images import Pixels

GONE = "This photo is no longer here: uploads are deleted within an hour. Please choose it again."
LIFETIME_SECONDS = 3300.0  # 55 minutes
MOST_RESULTS = 2  # of a photo


class UnknownPhotoError(VisitorError):
    """There is no such photo (any more)."""

    status = 404


@dataclass(frozen=True, eq=False)
class Photo:
    """A photo as it came, and what was made of it.

    ``pixels``: uint8 ``[H, W, 3]``; ``label``: what it shows, None if nobody said; ``results``:
    repaired; ``layers``: as brushes make it. Of an upload ``content`` is the file's own bytes,
    ``owner`` who sent it, ``full_size`` its width and height before it was reduced, and ``losses``
    what of the file a repaired one does not keep.
    """

    key: str
    pixels: Pixels
    label: str | None = None
    name: str = ""
    content: bytes = b""
    owner: Visitor = NOBODY
    full_size: tuple[int, int] = (0, 0)
    losses: Sequence[str] = ()
    results: dict[str, Pixels] = field(default_factory=dict)
    layers: dict[str, Pixels] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        pictures = [self.pixels, *list(self.results.values()), *list(self.layers.values())]
        return len(self.content) + sum(picture.nbytes for picture in pictures)


class Photos:
    """``samples``, for all; and what visitors sent, on their account, each found by its key alone.

    Results come from the thread that computes. What both threads change is gone through as a copy.
    """

    def __init__(self, decoder: Decoder, memory: Account, samples: Sequence[Photo] = ()) -> None:
        self.decoder, self.memory = decoder, memory
        self.samples = {photo.key: photo for photo in samples}
        self.on_forget: Callable[[str], object] = lambda key: None
        """Called with the key of a photo that is no longer here, to drop what was made of it."""
        self._photos: dict[str, Photo] = {}  # the oldest first

    async def add(self, owner: Visitor, name: str, data: bytes) -> Photo:
        """Decode a photograph and keep it. Raises what :meth:`Decoder.read_upload` raises."""
        name = clean_name(name)
        suffix = choose_suffix(detect_format(data), name)
        pixels, full_size, losses = await self.decoder.read_upload(data, suffix, owner)
        key = secrets.token_urlsafe(16)
        photo = Photo(key, pixels, None, name, data, owner, full_size, losses)
        self._photos[key] = photo
        self.make_room()
        asyncio.get_running_loop().call_later(LIFETIME_SECONDS, self._forget, key)
        return photo

    def get(self, key: str) -> Photo:
        """Raises :class:`UnknownPhotoError`."""
        photo = self.samples.get(key) or self._photos.get(key)
        if photo is None:
            raise UnknownPhotoError(GONE)
        return photo

    def keep_result(self, key: str, pixels: Pixels) -> str:
        """Keep what was made of a photograph; returns a key for it."""
        results, result = self.get(key).results, secrets.token_urlsafe(16)
        results[result] = pixels
        for old in list(results)[:-MOST_RESULTS]:
            del results[old]
        self.make_room()
        return result

    async def get_result(self, key: str, result: str) -> tuple[str, bytes]:
        """The result as a file in the photo's format, with its EXIF, profile and resolution: its
        name and content.

        Raises :class:`UnknownPhotoError`, and what :meth:`Decoder.write_photograph` raises.
        """
        photo = self.get(key)
        if (pixels := photo.results.get(result)) is None:
            raise UnknownPhotoError(GONE)
        suffix = choose_suffix(detect_format(photo.content), photo.name)
        content = await self.decoder.write_photograph(photo.content, pixels, suffix, photo.owner)
        return f"{PurePath(photo.name).stem}-repaired{suffix}", content

    def __contains__(self, key: str) -> bool:
        return key in self.samples or key in self._photos

    def _forget(self, key: str) -> None:
        self._photos.pop(key, None)
        self.on_forget(key)

    def make_room(self) -> None:
        """The oldest photos of whoever has most of them go."""
        while photos := list(self._photos.values()):
            sizes = Counter[str]()
            for photo in photos:
                sizes[photo.owner.address] += photo.size
            greedy = self.memory.find_greedy(sizes)
            if greedy is None:
                return
            self._forget(next(photo.key for photo in photos if photo.owner.address == greedy))


def clean_name(name: str) -> str:
    """The file's own name, without folders and without what other systems do not allow."""
    last = re.split(r"[/\\]", name)[-1]
    allowed = "".join(letter for letter in last if letter.isprintable() and letter not in ':*?"<>|')
    return allowed.strip(". ")[-100:] or "photo"
