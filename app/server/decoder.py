"""Pictures of strangers are decoded apart: a fresh process for each, with little to reach for.

A decoder that writes where it must not ends its own process and nobody else's, and finds nothing
of another visitor in its memory. One is always there, ready for the next picture. On Windows the
page's own process decodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import logging
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from app.server.turns import Turns
from app.server.visitors import NOBODY, Visitor
from dga.data import uploads
from dga.data.picture_files import encode_result, list_losses
from dga.data.uploads import MAX_BYTES, UploadError
from dga.images import Pixels
from dga.io.shipped import ROOT

PHOTO_PIXELS = 1_000_000  # of a photograph; a larger one is reduced
MEMORY = 2**30  # bytes of data; an upload takes a quarter of that
MOST = MAX_BYTES + 2**22  # bytes of an answer; a photograph that was not changed is its own file
CPU_SECONDS = 10  # of computing; the slowest that is read takes four
PATIENCE = 2 * CPU_SECONDS  # for the answer: its process may just have started, or compute nothing
MOST_WORDS = 2_000  # bytes of what is said of a file
DAMAGED = "This picture cannot be decoded; please save it as PNG or choose another."

_DONE, _REFUSED = b"+", b"-"  # what an answer begins with: then comes the content, or a sentence
_HEAD = struct.Struct(">IIII")  # of pixels: height and width; the width and height that came
# Of memory, time, files and cores this process gets no more than a picture needs.
_LIMIT = f'ulimit -d {MEMORY // 1024}; ulimit -t {CPU_SECONDS}; ulimit -f 0; ulimit -c 0; exec "$@"'
# Somebody's own app.py may be found before this package, whatever folder this starts in.
_START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from app.server.decoder import main; main()"
)
_log = logging.getLogger(__name__)


class _Subprocess:
    """A process that waits for one picture, and the line to it; it ends when the page does."""

    def __init__(self) -> None:
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                ["sh", "-c", _LIMIT, "sh", sys.executable, "-c", _START],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                cwd=ROOT,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl+C is for the page
            )

    async def ask(self, request: bytes) -> bytes:
        """All that is answered until nobody can write any more, which must be soon, and little."""
        reader, writer = await asyncio.open_connection(sock=self.line)
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(request)
                writer.write_eof()
                return await reader.readexactly(MOST)
        except asyncio.IncompleteReadError as error:
            return error.partial
        except (TimeoutError, ConnectionError):
            return b""
        finally:
            writer.transport.abort()

    def end(self) -> None:
        self.line.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with all that it started
        self.process.wait()


class Decoder:
    """Reads and writes pictures, one at a time, which bounds the memory; addresses take turns."""

    def __init__(self) -> None:
        self._turns = Turns(64, 32)
        self._ready: _Subprocess | None = None

    async def read_upload(
        self, data: bytes, suffix: str | None = None, visitor: Visitor = NOBODY
    ) -> tuple[Pixels, tuple[int, int], list[str]]:
        """What :func:`dga.data.uploads.read_photograph` returns, in a process of its own, and what
        of the file a repaired one does not keep.

        ``suffix``: of that one; None for a plain picture, of 8 bits and opaque. Raises
        ``UploadError``, and ``BusyError`` where too many wait.
        """
        answer = await self._work(visitor, read, data, suffix)
        if len(answer) > _HEAD.size:
            height, width, full_width, full_height = _HEAD.unpack_from(answer)
            count, end = height * width * 3, _HEAD.size + height * width * 3
            if count <= 3 * PHOTO_PIXELS and end <= len(answer) <= end + MOST_WORDS:
                pixels = np.frombuffer(answer, np.uint8, count, _HEAD.size)
                picture = pixels.reshape(height, width, 3).copy()
                with contextlib.suppress(ValueError):
                    losses = json.loads(answer[end:] or b"[]")
                    if isinstance(losses, list) and all(isinstance(one, str) for one in losses):
                        return picture, (full_width, full_height), losses
        raise UploadError(DAMAGED)

    async def write_photograph(
        self, data: bytes, pixels: Pixels, suffix: str, visitor: Visitor = NOBODY
    ) -> bytes:
        """Call :func:`dga.data.picture_files.encode_result` in a process of its own."""
        return await self._work(visitor, encode_result, data, pixels, suffix)

    def start(self) -> None:
        """Have a process ready for the next picture."""
        if os.name == "posix" and (self._ready is None or self._ready.process.poll() is not None):
            self._ready = _Subprocess()

    async def _work(self, visitor: Visitor, work: Callable[..., bytes], *values: Any) -> bytes:
        """What ``work`` returns, apart. Raises ``UploadError`` with its sentence."""
        async with self._turns.join(visitor) as turn:
            await turn.come()
            self.start()
            if self._ready is None:
                return await asyncio.to_thread(work, *values)
            process, self._ready = self._ready, None
            try:
                answer = await process.ask(pickle.dumps((work, values)))
            finally:
                process.end()
                self.start()
        if answer[:1] == _REFUSED:
            raise UploadError(answer[1:].decode(errors="replace"))
        if answer[:1] != _DONE:
            _log.warning("A picture's decoder ended without an answer")
            raise UploadError(DAMAGED)
        return answer[1:]


def read(data: bytes, suffix: str | None) -> bytes:
    """A photograph's size and pixels, and a list, as JSON, of what a repaired one lacks."""
    pixels, full_size = uploads.read_photograph(data, PHOTO_PIXELS)
    is_plain = suffix is None or pixels.shape[1::-1] != full_size
    losses = list[str]()
    with contextlib.suppress(Exception):  # the picture itself was read
        losses = list_losses(data, suffix or ".png", is_plain)
    words = json.dumps(losses).encode() if losses else b""
    return _HEAD.pack(*pixels.shape[:2], *full_size) + pixels.tobytes() + words


def main() -> None:
    """Entry of the process; the page is at its standard input."""
    Image.init()
    if importlib.util.find_spec("pillow_heif"):
        importlib.import_module("pillow_heif")
    with socket.socket(fileno=0) as line, contextlib.suppress(EOFError, KeyboardInterrupt):
        work, values = pickle.load(line.makefile("rb"))
        try:
            answer = _DONE + work(*values)
        except UploadError as error:
            answer = _REFUSED + str(error).encode()
        line.sendall(answer)
        os._exit(0)
