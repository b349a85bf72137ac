"""Pictures of strangers are decoded apart: a fresh process for each, with little to reach for.

A decoder that writes where it must not ends its own process and nobody else's, and finds nothing
of another visitor in its memory. One is always there, ready for the next picture. On Windows the
page's own process decodes.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import logging
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from dga.data import results, uploads
from dga.data.uploads import MAX_BYTES, UploadError
from dga.images import Pixels
from dga.io.shipped import ROOT

PHOTO_PIXELS = 1_000_000  # of a photograph; a larger one is reduced
MEMORY = 2**30  # bytes of data; an upload takes a quarter of that
MOST = MAX_BYTES + 2**22  # bytes of an answer; a photograph that was not changed is its own file
SECONDS = 10  # others wait; the slowest that is read takes four
PATIENCE = 2 * SECONDS  # for the answer: a decoder that was taken over may stop its own clock
DAMAGED = "This picture cannot be decoded; please save it as PNG or choose another."
BUSY = "The server is too busy for another picture now. Please try again in a minute."

_PIXELS, _FILE, _SENTENCE = b"p", b"f", b"s"  # what an answer holds
_HEAD = struct.Struct(">IIII")  # of pixels: height and width; the width and height that came
# Somebody's own app.py may be found before this package, whatever folder this starts in.
_START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from app.server.decoder import main; main()"
)
_log = logging.getLogger(__name__)


class _Process:
    """A process that waits for one picture, and the line to it; it ends when the page does."""

    def __init__(self) -> None:
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                cwd=ROOT,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl+C is for the page
            )

    def ask(self, request: bytes) -> bytes:
        """All that is answered until nobody can write any more, which must be soon, and little."""
        answer, end = bytearray(), time.monotonic() + PATIENCE
        self.line.settimeout(PATIENCE)
        with contextlib.suppress(TimeoutError, ConnectionError):
            self.line.sendall(request)
            self.line.shutdown(socket.SHUT_WR)
            while len(answer) <= MOST and (piece := self.line.recv(2**20)):
                answer += piece
                self.line.settimeout(max(0.001, end - time.monotonic()))
        return bytes(answer)

    def end(self) -> None:
        self.line.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with all that it started
        self.process.wait()


class Decoder:
    """Reads and writes pictures, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: _Process | None = None

    def read_photograph(self, data: bytes) -> tuple[Pixels, tuple[int, int]]:
        """Call :func:`dga.data.uploads.read_photograph` in a process of its own."""
        answer = self._work(read, data)
        if answer[:1] == _PIXELS and len(answer) > _HEAD.size:
            height, width, full_width, full_height = _HEAD.unpack_from(answer, 1)
            content = answer[1 + _HEAD.size :]
            if 0 < height * width <= PHOTO_PIXELS and len(content) == height * width * 3:
                pixels = np.frombuffer(content, np.uint8).reshape(height, width, 3).copy()
                return pixels, (full_width, full_height)
        raise UploadError(DAMAGED)

    def write_photograph(self, data: bytes, pixels: Pixels, suffix: str) -> bytes:
        """Call :func:`dga.data.results.encode_result` in a process of its own."""
        answer = self._work(write, data, pixels, suffix)
        if answer[:1] != _FILE:
            raise UploadError(DAMAGED)
        return answer[1:]

    def start(self) -> None:
        """Have a process ready before the first picture comes."""
        if os.name == "posix" and self._ready is None:
            self._ready = _Process()

    def close(self) -> None:
        """End the process that is ready; the next picture starts another."""
        if self._ready is not None:
            self._ready.end()
            self._ready = None

    def _work(self, work: Callable[..., bytes], *values: Any) -> bytes:
        """What ``work`` answers, apart. Raises ``UploadError`` with its sentence."""
        if not self._lock.acquire(timeout=PATIENCE):  # one at a time bounds the memory
            raise UploadError(BUSY)
        try:
            if os.name != "posix":
                return work(*values)
            if self._ready is not None and self._ready.process.poll() is not None:
                self.close()
            self.start()
            assert self._ready is not None
            answer = self._ready.ask(pickle.dumps((work, values)))
            self.close()
            self.start()
        finally:
            self._lock.release()
        if answer[:1] == _SENTENCE:
            raise UploadError(answer[1:].decode(errors="replace"))
        if not answer:
            _log.warning("A picture's decoder ended without an answer")
        return answer


_decoder = Decoder()
read_photograph, write_photograph = _decoder.read_photograph, _decoder.write_photograph
start = _decoder.start
atexit.register(_decoder.close)


def read(data: bytes) -> bytes:
    """The answer with a photograph's pixels."""
    pixels, full_size = uploads.read_photograph(data, PHOTO_PIXELS)
    return _PIXELS + _HEAD.pack(*pixels.shape[:2], *full_size) + pixels.tobytes()


def write(data: bytes, pixels: Pixels, suffix: str) -> bytes:
    """The answer with a file that was made of a photograph."""
    return _FILE + results.encode_result(data, pixels, suffix)


def limit() -> None:
    """No more memory and time for this process than a picture needs, no file and no core."""
    import resource  # not on Windows

    limits = {resource.RLIMIT_DATA: MEMORY, resource.RLIMIT_CPU: SECONDS}
    limits |= dict.fromkeys((resource.RLIMIT_FSIZE, resource.RLIMIT_CORE), 0)
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
    signal.alarm(SECONDS)  # the wall's clock: it may wait for what never comes


def main() -> None:
    """Entry of the process; the page is at its standard input."""
    Image.init()
    if importlib.util.find_spec("pillow_heif"):
        importlib.import_module("pillow_heif")
    with socket.socket(fileno=0) as line, contextlib.suppress(EOFError, KeyboardInterrupt):
        work, values = pickle.load(line.makefile("rb"))
        limit()
        try:
            answer = work(*values)
        except UploadError as error:
            answer = _SENTENCE + str(error).encode()
        line.sendall(answer)
        os._exit(0)
