"""Visitors' photographs: in memory only, for less than an hour, under keys nobody can guess."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from app.server import decoder
from app.server.turns import Turns
from dga.data.results import KINDS
from dga.data.uploads import UploadError, format_of
from dga.images import Pixels

GONE = "This photo is no longer here: uploads are deleted within an hour. Please choose it again."
QUOTA = "As many photos as fit have come from your network within an hour. Please try again later."
SECONDS = 3300.0  # 55 minutes
MOST_BYTES = 2**29
MOST_OF_ADDRESS = 2**28
MOST_RESULTS = 2  # of a photo


class UnknownPhotoError(LookupError):
    """There is no such photo (any more). The message is one sentence for the visitor."""


@dataclass(frozen=True, eq=False)
class Photo:
    """``pixels``: uint8 ``[H, W, 3]``; ``full_size``: its width and height before it was reduced.

    ``source``: the file's own bytes; ``address``: whose it is; ``results``: what was made of it.
    """

    key: str
    name: str
    pixels: Pixels
    full_size: tuple[int, int]
    source: bytes
    address: str
    results: dict[str, Pixels] = field(default_factory=dict)
    thumbnails: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        texts = sum(map(len, self.thumbnails.values()))
        pictures = sum(one.nbytes for one in (self.pixels, *self.results.values()))
        return len(self.source) + texts + pictures


class Download(NamedTuple):
    """A file for the visitor: its name, its media type, its bytes."""

    name: str
    kind: str
    content: bytes


class Photos:
    """All photographs that visitors sent; each is found by its key alone."""

    def __init__(
        self, most_bytes: int = MOST_BYTES, most_of_address: int = MOST_OF_ADDRESS,
        seconds: float = SECONDS,
    ) -> None:  # fmt: skip
        self.most_bytes, self.most_of_address = most_bytes, most_of_address
        self.seconds = seconds
        self.on_forget: Callable[[str], object] = lambda key: None
        """Called with the key of a photo that is no longer here, to drop what was made of it."""
        self._photos: dict[str, Photo] = {}  # the oldest first
        self._lock = threading.Lock()
        self._turns = Turns(most_waiting=64, most_per_visitor=32)

    async def add(self, address: str, name: str, data: bytes) -> Photo:
        """Decode a photograph and keep it; addresses take turns.

        Raises :class:`~dga.data.uploads.UploadError` and :class:`~app.server.turns.BusyError`.
        """
        async with self._turns.join(address) as turn:
            async for _ in turn.wait():
                pass
            with self._lock:
                if self._count_bytes(address) + len(data) > self.most_of_address:
                    raise UploadError(QUOTA)
            pixels, full_size = await asyncio.to_thread(decoder.read_photograph, data)
        key = secrets.token_urlsafe(16)
        photo = Photo(key, clean_name(name), pixels, full_size, data, address)
        with self._lock:
            self._photos[key] = photo
            self._make_room()
        asyncio.get_running_loop().call_later(self.seconds, self._forget, key)
        return photo

    def get(self, key: str) -> Photo:
        """Raises :class:`UnknownPhotoError`."""
        try:
            return self._photos[key]
        except KeyError:
            raise UnknownPhotoError(GONE) from None

    def keep_result(self, key: str, pixels: Pixels) -> str:
        """Keep what was made of a photograph; returns a key for it."""
        results, result = self.get(key).results, secrets.token_urlsafe(16)
        with self._lock:
            results[result] = pixels
            while len(results) > MOST_RESULTS:
                del results[next(iter(results))]
            self._make_room()
        return result

    async def get_result(self, key: str, result: str) -> Download:
        """The result as a file in the photo's format, with its EXIF, profile and resolution.

        Raises :class:`UnknownPhotoError`.
        """
        photo = self.get(key)
        if (pixels := photo.results.get(result)) is None:
            raise UnknownPhotoError(GONE)
        name, source = PurePath(photo.name), photo.source
        fitting = [end for end, (kind, _) in KINDS.items() if kind == format_of(source)] or [".png"]
        suffix = name.suffix.lower() if name.suffix.lower() in fitting else fitting[0]
        content = await asyncio.to_thread(decoder.write_photograph, source, pixels, suffix)
        kind = KINDS[suffix][0].lower()
        return Download(f"{name.stem}-repaired{suffix}", f"image/{kind}", content)

    def __contains__(self, key: str) -> bool:
        return key in self._photos

    def _forget(self, key: str) -> None:
        with self._lock:
            self._photos.pop(key, None)
        self.on_forget(key)

    def _count_bytes(self, address: str) -> int:
        return sum(photo.size for photo in self._photos.values() if photo.address == address)

    def _make_room(self) -> None:
        """The oldest photos of whoever has most of them go."""
        photos = self._photos
        while sum(photo.size for photo in photos.values()) > self.most_bytes:
            greedy = max((photo.address for photo in photos.values()), key=self._count_bytes)
            oldest = next(key for key, photo in photos.items() if photo.address == greedy)
            del photos[oldest]
            self.on_forget(oldest)


def clean_name(name: str) -> str:
    """The file's own name, without folders and without what other systems do not allow."""
    last = re.split(r"[/\\]", name)[-1]
    allowed = "".join(letter for letter in last if letter.isprintable() and letter not in ':*?"<>|')
    return allowed.strip(". ")[-100:] or "photo"
